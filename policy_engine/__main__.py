"""``python -m policy_engine`` is the command ``policy-engine``."""

from policy_engine.cli import main

main()
