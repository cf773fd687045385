"""Writes a report to a file, whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from policy_engine.errors import InputError

Text = str | Iterable[str]
"""A text, or its parts, of which a long one is not held at once."""


def write_report(path: Path, text: Text) -> None:
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
            _write(path, text)
        else:
            _replace(path.resolve(), text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"the report cannot be written: {reason}", file=str(path)) from error


def _replace(path: Path, text: Text) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        _write(beside, text)
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _write(path: Path, text: Text) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines((text,) if isinstance(text, str) else text)
