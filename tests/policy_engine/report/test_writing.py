"""A report file is whole or not there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from policy_engine.errors import InputError
from policy_engine.report.writing import write_report


def test_a_report_is_written_in_utf8_with_the_folders_above_it(tmp_path: Path) -> None:
    target = tmp_path / "build" / "report" / "report.md"
    write_report(target, "größer\n")
    assert target.read_bytes() == b"gr\xc3\xb6\xc3\x9fer\n"
    assert list(target.parent.iterdir()) == [target]


def test_a_report_takes_the_place_of_an_older_one_and_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    target.chmod(0o600)
    write_report(target, "new")
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.md", tmp_path / "latest.md"
    real.write_text("old")
    link.symlink_to(real)
    write_report(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_report_goes_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_report(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_report_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r": the report cannot be written: is a directory$"):
        write_report(tmp_path, "text")
    assert list(tmp_path.iterdir()) == []


def test_a_report_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(
        InputError, match=r"file/report\.md: the report cannot be written: (not a directory|file exists)$"
    ):
        write_report(tmp_path / "file" / "report.md", "text")


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_half_way_leaves_what_was_there(tmp_path: Path, failure: BaseException) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")

    def parts() -> Iterator[str]:
        yield "new"
        raise failure

    with pytest.raises(InputError if isinstance(failure, OSError) else KeyboardInterrupt):
        write_report(target, parts())
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_report_in_parts_is_written_like_a_whole_one(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_report(target, iter(["[1,\n", "2]\n"]))
    assert target.read_bytes() == b"[1,\n2]\n"
