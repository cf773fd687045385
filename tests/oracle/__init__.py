"""A second scheduler, written from the specification alone: slow and obvious.

It shares no code with the first but ``policy.py`` and the plain inputs (jobs, updates, choices). It
reckons everything anew at each step and looks for the moves in the words of the specification.
"""
