"""Runs a client of the endpoint in a process of its own, which reaches this host alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
LOOPBACK = HERE / "loopback"


def environment(url: str, log: Path) -> dict[str, str]:
    """Of a client with dummy credentials, all of whose services are at ``url``; what it connects to is in ``log``."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {
        **inherited,
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-west-2",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
        "LOOPBACK_LOG": str(log),
        "NODE_OPTIONS": f'--require="{LOOPBACK / "loopback.cjs"}"',
        "PYTHONPATH": str(LOOPBACK),
    }


def run(command: Sequence[str | Path], variables: dict[str, str], folder: Path) -> str:
    """What the command prints. Fails where it does."""
    done = subprocess.run(
        command, env=variables, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_flow(
    script: str, variables: dict[str, str], folder: Path, python: str | Path = sys.executable, *arguments: str
) -> str:
    """What the script beside this one prints, run by that Python."""
    return run([python, HERE / script, *arguments], variables, folder)


def hosts(log: Path) -> set[str]:
    """What was connected to or looked up."""
    return set(log.read_text().splitlines())
