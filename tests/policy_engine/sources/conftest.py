"""Files to read, in a folder that is the current one, so that messages name them alone."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str | bytes], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file and gives its name."""
    monkeypatch.chdir(tmp_path)

    def file(name: str, content: str | bytes) -> str:
        raw = content if isinstance(content, bytes) else textwrap.dedent(content).encode()
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
        return name

    return file
