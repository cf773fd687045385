"""Finds out what a history is, and reads it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from policy_engine.collector import paused
from policy_engine.errors import InputError
from policy_engine.workload.history.assembling import Assembly
from policy_engine.workload.history.csv_layout import is_csv
from policy_engine.workload.history.csv_reader import read_csv
from policy_engine.workload.history.history import Format, History
from policy_engine.workload.history.mapping import NO_MAP, HistoryMap, TimeUnit
from policy_engine.workload.history.opening import text_of

_SWF: Final = re.compile(r";|\s*-?\d+(?:\s+-?[\d.]+){17}")
_EXPECTED: Final = (
    "expected CSV with a header (submit_time_s, team, instance_type, instance_count, duration_s), JSON of AWS Batch's"
    " ListServiceJobs and DescribeServiceJob, or the output of sacct --parsable2 with its header"
)


def read_history(path: str | Path, given: HistoryMap | None = None, *, strict: bool = False) -> History:
    """The history of a file; what it is, is told by its content.

    Args:
        path: a CSV, AWS Batch JSON or sacct file; gzip and a zip of one file are unpacked.
        given: how its words become those of a policy; None leaves them as they are.
        strict: is it an error that a job is left out?

    Raises:
        InputError: the file cannot be read, none of its jobs can be used, or ``strict`` forbids what is left out.
    """
    with paused():
        return _read(str(path), text_of(path), NO_MAP if given is None else given, strict=strict)


def _read(file: str, text: str, given: HistoryMap, *, strict: bool) -> History:
    form = _format(text, file)
    unit = TimeUnit.MILLISECONDS if form is Format.BATCH else TimeUnit.SECONDS
    assembly = Assembly(file, form, given, unit)
    if form is Format.CSV:
        read_csv(assembly, text)
    elif form is Format.BATCH:
        from policy_engine.workload.history.batch import read_batch

        read_batch(assembly, text)
    else:
        from policy_engine.workload.history.sacct import read_sacct

        read_sacct(assembly, text)
    return assembly.history(strict=strict)


def _format(text: str, file: str) -> Format:
    if text.lstrip()[:1] in ("{", "["):
        return Format.BATCH
    first = text.partition("\n")[0].strip()
    if "|" in first:
        if "JobID" in first.split("|"):
            return Format.SACCT
        raise InputError("no header that names JobID; run sacct without --noheader", file=file, line=1)
    if is_csv(first):
        return Format.CSV
    if _SWF.match(text):
        raise InputError(f"the Standard Workload Format is not read; {_EXPECTED}", file=file, line=1)
    raise InputError(f"not a job history; {_EXPECTED}", file=file, line=1)
