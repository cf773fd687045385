"""What mypyc compiles where it is asked for (``make compiled``), and what the rest may do with it."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WHEEL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"][
    "wheel"
]
COMPILED = [path.removeprefix("/") for path in WHEEL["hooks"]["mypyc"]["include"]]
MODULES = {path.removesuffix(".py").replace("/", ".") for path in COMPILED}
PURE = sorted({str(path.relative_to(ROOT)) for path in (ROOT / "policy_engine").rglob("*.py")} - {*COMPILED})


def heirs(source: str) -> Iterator[str]:
    """Classes that inherit from one of a compiled module; as it is compiled, their definition would be an error."""
    tree = ast.parse(source)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in MODULES
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names = {base.id for base in node.bases if isinstance(base, ast.Name)}
            yield from (f"{node.name} inherits from {name}" for name in sorted(names & imported))


@pytest.mark.parametrize("path", COMPILED)
def test_what_is_to_be_compiled_is_there(path: str) -> None:
    """A path that fits nothing is passed over in silence."""
    assert (ROOT / path).is_file()


def test_nothing_is_compiled_unless_it_is_asked_for() -> None:
    assert WHEEL["hooks"]["mypyc"]["enable-by-default"] is False
    assert [path for path in (ROOT / "policy_engine").rglob("*") if path.suffix in {".so", ".pyd"}] == []


@pytest.mark.parametrize("path", PURE)
def test_nothing_pure_inherits_from_what_is_compiled(path: str) -> None:
    assert list(heirs((ROOT / path).read_text(encoding="utf-8"))) == []


def test_an_heir_is_found() -> None:
    source = "from policy_engine.simulation import Clock as Time, Run\nclass Mine(Time):\n    class Inner(Run): ..."
    assert list(heirs(source)) == ["Mine inherits from Time", "Inner inherits from Run"]
