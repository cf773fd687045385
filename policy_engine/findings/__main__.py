"""Writes the documentation of the findings: ``python -m policy_engine.findings > docs/findings.md``."""

import sys

from policy_engine.findings import RULES
from policy_engine.findings.handbook import markdown

sys.stdout.write(markdown(RULES) + "\n")
