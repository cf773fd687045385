"""The models that the exploration shares with Spin: as many states as Spin has, and Promela with all of its parts."""

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from tests.synthesis import ROOT

STATES = {"walkthrough": 2_724, "victims": 4_655}
"""Found by Spin 6.5.2 (`python benchmarks/spin.py`), which is not needed here."""


@pytest.fixture(scope="module")
def spin() -> ModuleType:
    spec = spec_from_file_location("benchmarks_spin", ROOT / "benchmarks" / "spin.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # its data classes look themselves up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", STATES)
def test_without_reductions_there_are_as_many_states_as_in_spin(spin: ModuleType, name: str) -> None:
    states, _ = spin.ours(spin.Model.of(name), reduced=False)
    assert states == STATES[name]


def test_every_table_that_the_scheduler_asks_is_written(spin: ModuleType) -> None:
    for name in spin.MODELS:
        text = spin.promela(spin.Model.of(name))
        written = set(re.findall(r"^#define ([A-Z_]+)", text, re.MULTILINE))
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        code = re.sub(r"^#.*$", "", code, flags=re.MULTILINE)
        assert set(re.findall(r"\b[A-Z][A-Z_]+\b", code)) == written
