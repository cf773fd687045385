"""Writes the documentation of the open choices: ``python -m policy_engine.scheduler > docs/choices.md``."""

import sys

from policy_engine.scheduler.choices import CHOICES
from policy_engine.scheduler.handbook import markdown

sys.stdout.write(markdown(CHOICES) + "\n")
