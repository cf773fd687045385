"""What holds in every run whatever AWS leaves open, written from the specification on plain numbers.

Every run that a test simulates is watched (``tests/conftest.py``). Nothing here asks the engine's own judgement:
who holds what is reckoned from the log, and what a share may have from the declaration.
"""
