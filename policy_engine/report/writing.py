"""Writes a report to a file, whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from policy_engine.errors import InputError


def write_report(path: Path, text: str) -> None:
    """Write the text to the path in UTF-8; missing folders above it are made.

    It is written beside the path first and then moved there, so that a full disk or an interrupt
    leaves what was there before.

    Raises:
        InputError: the file or a folder above it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            # /dev/stdout or a named pipe: nothing that a file could take the place of
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path.resolve(), text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"the report cannot be written: {reason}", file=str(path)) from error


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
