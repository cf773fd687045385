"""Whatever a file holds, it is read or refused in one line: there is no traceback."""

import contextlib
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import InputError
from policy_engine.sources import load
from tests.policy_engine.sources.templates import few, policies, template_of, write_assembly

Draw = Callable[[st.SearchStrategy[Any]], Any]

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
FUNCTIONS = ("Ref", "Fn::GetAtt", "Fn::Sub", "Fn::Join", "Fn::Select", "Fn::Split", "Fn::If", "Fn::FindInMap")
WORDS = ("TrainingQueue0C", "TrainingPolicy0A.Arn", "P", "C", "M", "AWS::NoValue", "AWS::Region", "${P}", "", ",")
NODES = st.recursive(
    SCALARS | st.sampled_from(WORDS),
    lambda node: (
        st.lists(node, max_size=3)
        | st.dictionaries(st.text(max_size=4), node, max_size=2)
        | st.builds(lambda name, argument: {name: argument}, st.sampled_from(FUNCTIONS), node)
        | st.builds(
            lambda name, arguments: {name: arguments},
            st.sampled_from((*FUNCTIONS, "Fn::Equals", "Fn::And", "Fn::Not", "Fn::ImportValue", "Fn::GetStackOutput")),
            st.lists(node, min_size=1, max_size=3),
        )
    ),
    max_leaves=6,
)
SECTIONS = {
    "Parameters": {"P": {"Type": "String", "Default": "x"}, "N": {"Type": "Number"}},
    "Conditions": {"C": {"Fn::Equals": [{"Ref": "P"}, "x"]}, "D": {"Fn::Not": [{"Condition": "C"}]}},
    "Mappings": {"M": {"a": {"b": 1}}},
    "Outputs": {"O": {"Value": {"Ref": "TrainingQueue0C"}, "Export": {"Name": "E"}}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("anything")


def read_all(source: Path, **parameters: str) -> None:
    """Read everything that a source has; only InputError may come of it, in one line."""
    error = refusal(source, parameters)
    if error is not None:
        assert str(error).isprintable()
        assert error.file is not None


def refusal(source: Path, parameters: dict[str, str]) -> InputError | None:
    try:
        read = load(source, parameters=parameters)
        for queue in read.queues:
            assert isinstance(queue.unknowns, tuple)
            for resource in queue.resources:
                assert resource.where("name").position is not None
            with contextlib.suppress(InputError):
                queue.policy()
        read.queue().policy()
    except InputError as error:
        return error
    return None


def changed(draw: Draw, node: Any, new: st.SearchStrategy[Any]) -> Any:
    """The data with something in it replaced."""
    made = copy.deepcopy(node)
    at, path = made, []
    while isinstance(at, dict | list) and at:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        path.append((at, draw(st.sampled_from(keys))))
        at = at[path[-1][1]]
    holder, key = draw(st.sampled_from(path))
    holder[key] = draw(new)
    return made


@st.composite
def odd_templates(draw: st.DrawFn) -> Any:
    template = template_of(draw(policies())) | copy.deepcopy(SECTIONS)
    for _ in range(draw(st.integers(1, 3))):
        template = changed(draw, template, NODES)
    return template


@few
@given(template=odd_templates())
def test_any_template(folder: Path, template: Any) -> None:
    path = folder / "t.json"
    path.write_text(json.dumps(template), encoding="utf-8")
    read_all(path, N="3")


@few
@given(template=odd_templates(), manifest=st.data())
def test_any_assembly(folder: Path, template: Any, manifest: st.DataObject) -> None:
    assembly = folder / "cdk.out"
    write_assembly(assembly, {"A": template, "B": template | {"Outputs": {}}})
    path = assembly / "manifest.json"
    written = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(changed(manifest.draw, written, NODES)), encoding="utf-8")
    read_all(assembly)


@few
@given(policy=policies(), data=st.data())
def test_any_document(folder: Path, policy: Any, data: st.DataObject) -> None:
    path = folder / "p.yaml"
    document = changed(data.draw, policy.document(), NODES)
    path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8", errors="backslashreplace")
    read_all(path)


@few
@given(
    content=st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")), start=st.integers(0, 400)
)
@pytest.mark.parametrize("name", ["x.yaml", "x.json"])
def test_any_bytes(folder: Path, content: bytes, start: int, name: str) -> None:
    good = json.dumps({"queue": "q", "service_environment": {"capacity_limits": {"ml.g5.xlarge": 3}}, "shares": {}})
    raw = good.encode()
    path = folder / name
    path.write_bytes(raw[:start] + content + raw[start:])
    read_all(path)
