from pathlib import Path

import pytest

from constructs_quota import handlers

FILES = [path for path in Path(handlers.__file__).parent.glob("*.py") if path.name != "__init__.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_handler_fits_into_a_template(path: Path) -> None:
    """AWS Lambda takes 4096 characters of code from a template (AWS::Lambda::Function Code.ZipFile)."""
    assert len(path.read_text()) <= 4096
