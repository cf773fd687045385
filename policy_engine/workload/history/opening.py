"""The text of a history's file, unpacked and decoded."""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
import zlib
from pathlib import Path
from typing import Final

from policy_engine.errors import InputError

_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def text_of(path: str | Path) -> str:
    """The file as text; gzip and a zip of one file are unpacked, whatever the file is called.

    UTF-8, or UTF-16 where a byte order mark says so (Excel's "Unicode text"). Raises InputError.
    """
    file = str(path)
    raw = _unpacked(_bytes(Path(path), file), file)
    try:
        text = raw.decode("utf-16" if raw.startswith(_UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"byte 0x{raw[error.start]:02x} is not UTF-8 text", file=file, line=line) from None
    if "\0" in text:
        raise InputError("the file is binary, not a job history", file=file)
    if not text.strip():
        raise InputError("the file is empty", file=file)
    return text


def _bytes(path: Path, file: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", file=file) from None
    except IsADirectoryError:
        raise InputError("is a directory, not a file", file=file) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=file) from None


def _unpacked(raw: bytes, file: str) -> bytes:
    try:
        if raw.startswith(_GZIP):
            return gzip.decompress(raw)
        if raw.startswith(_ZIP):
            return _only_member(raw, file)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise InputError(f"cannot be unpacked: {error}", file=file) from None
    return raw


def _only_member(raw: bytes, file: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) != 1:
            raise InputError(f"a zip of {len(members)} files; one history is expected", file=file)
        return archive.read(members[0])
