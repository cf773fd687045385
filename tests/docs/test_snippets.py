"""Every snippet of docs/constructs.md and docs/operations.md does what the page says."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import aws_cdk as cdk
import pytest

import policy_engine
from policy_engine.cli import main
from tests.synthesis import ROOT, new_app, new_stack, template_of

CONSTRUCTS = (ROOT / "docs" / "constructs.md").read_text(encoding="utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def snippets(page: str, language: str) -> list[str]:
    """The fenced blocks of a language, also those within a list."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```$", page, re.MULTILINE | re.DOTALL)
    return [dedent(text) for _, text in found]


def file_name(snippet: str) -> str:
    """The file that a YAML snippet is: its first line is a comment that says so."""
    return snippet.splitlines()[0].removeprefix("# ")


FILES = {file_name(text): text for page in (CONSTRUCTS, OPERATIONS) for text in snippets(page, "yaml")}
SCENARIOS = [file_name(text) for text in snippets(OPERATIONS, "yaml") if "expect:" in text]
"""Those of the other page are run by the plugin, as it says."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a reader who copied every file of the pages."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- Python ---------------------------------------------------------------------------------------


def in_order(page: str) -> list[str]:
    """The page's Python from top to bottom, after the declaration of the pages' queue."""
    first = snippets(CONSTRUCTS, "python")[0]
    return [first, *snippets(page, "python")[page == CONSTRUCTS :]]


@pytest.mark.nightly  # mypy reads all of the CDK
@pytest.mark.parametrize("page", [CONSTRUCTS, OPERATIONS], ids=["constructs", "operations"])
def test_the_snippets_are_typed(page: str, tmp_path: Path) -> None:
    """mypy takes our classes where the CDK's interfaces are wanted (aws-cdk issues 13474 and 15651)."""
    program = tmp_path / "snippets.py"
    start = 'import aws_cdk as cdk\n\napp = cdk.App()\nstack = cdk.Stack(app, "Stack")\n'
    program.write_text(start + "\n".join(in_order(page)), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(program)], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout


def declared(stack: cdk.Stack, page: str) -> dict[str, Any]:
    """What the page's Python defines, run from top to bottom in a stack that has the pages' queue."""
    names: dict[str, Any] = {"app": cdk.App.of(stack), "stack": stack}
    for number, snippet in enumerate(in_order(page)):
        exec(compile(snippet, f"snippet {number}", "exec"), names)  # noqa: S102
    return names


def test_the_constructs_page_synthesises(folder: Path) -> None:
    stack = new_stack(new_app(folder / "cdk.out"))
    names = declared(stack, CONSTRUCTS)

    template = template_of(stack)

    shares = [r["Properties"] for r in template["Resources"].values() if r["Type"] == "AWS::Batch::QuotaShare"]
    assert [share["QuotaShareName"] for share in shares] == [
        "research", "product", "production", "nightly", "all", "interns",
    ]  # fmt: skip
    report = json.loads((folder / "cdk.out" / "validation-report.json").read_text())
    assert "one share for everybody" in json.dumps(report["pluginReports"])
    assert names["per_share"].metric_count == 12
    assert len(names["monitoring"].alarms) == 3
    limits = template["Resources"][stack.get_logical_id(names["patient"].job_queue)]["Properties"]
    assert [limit["MaxTimeSeconds"] for limit in limits["JobStateTimeLimitActions"]] == [86400, 86400, 14400]
    assert {"JobQueueName", "QuotaShareNames", "JobTags", "ExecutionRoleArn", "CheckpointUri"} <= {
        re.sub(r"^Nightly|[0-9A-F]{8}$", "", output) for output in template["Outputs"]
    }


def test_its_plugin_runs_its_scenario(folder: Path) -> None:
    path = folder / "scenarios" / "production.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("starts_within: 0s", "never_starts: true"))
    stack = new_stack(new_app(folder / "cdk.out"))
    declared(stack, CONSTRUCTS)

    with pytest.raises(RuntimeError, match="release never starts: release started at 10m"):
        template_of(stack)


def test_the_operations_page_synthesises(folder: Path) -> None:
    stack = new_stack(new_app(folder / "cdk.out"))
    names = declared(stack, OPERATIONS)

    template = template_of(stack)

    taker, giver = (stack.get_logical_id(names["queue"].quota_shares[name]) for name in ("product", "research"))
    assert giver in template["Resources"][taker]["DependsOn"]
    assert names["successor"].job_queue.node.path != names["queue"].job_queue.node.path


def test_both_pages_are_about_the_same_shares(folder: Path) -> None:
    in_code = declared(new_stack(new_app(folder / "cdk.out")), OPERATIONS)["queue"].policy
    in_file = policy_engine.load_policy("policy.yaml")
    assert in_code.service_environment.capacity_limits == in_file.service_environment.capacity_limits
    assert in_code.shares == in_file.shares


# --- scenarios ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.usefixtures("folder")
def test_every_scenario_holds_and_rests_on_what_it_says(name: str) -> None:
    text = FILES[name]
    result = policy_engine.verify(None, name)

    assert [verdict.message for verdict in result.failed] == []
    found = {choice for verdict in result.expectations for choice in verdict.rests_on or ()}
    assert text.splitlines()[1] == f"# rests on: {', '.join(sorted(found)) or 'nothing'}"


# --- commands -------------------------------------------------------------------------------------


def commands() -> Iterator[list[str]]:
    for page in (CONSTRUCTS, OPERATIONS):
        for block in snippets(page, "sh"):
            yield from map(shlex.split, block.replace("\\\n", " ").splitlines())


COMMANDS = [*commands()]


def of_program(*names: str) -> list[Any]:
    return [pytest.param(words, id=shlex.join(words)[:60]) for words in COMMANDS if words[0] in names]


def options_of(words: list[str]) -> dict[str, list[str]]:
    """``--option`` to the words after it."""
    options: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("-"):
            last = options.setdefault(word, [])
        elif options:
            last.append(word)
    return options


def test_every_command_is_of_a_program_that_is_checked() -> None:
    assert {words[0] for words in COMMANDS} == {"aws", "npx", "policy-engine"}


@pytest.mark.parametrize("words", of_program("aws"))
def test_the_aws_commands_are_in_the_service_model(words: list[str]) -> None:
    botocore_session = pytest.importorskip(
        "botocore.session", reason="botocore is not installed: no model to check with"
    )
    from botocore import xform_name

    service = botocore_session.get_session().get_service_model(words[1])
    operation = {xform_name(name, "-"): name for name in service.operation_names}[words[2]]
    shape = service.operation_model(operation).input_shape
    members = {f"--{xform_name(name, '-')}": name for name in shape.members}
    options = options_of(words[3:])

    assert options.keys() <= members.keys()
    assert set(shape.required_members) <= {members[option] for option in options}
    for option, values in options.items():
        check_value(shape.members[members[option]], values)


def check_value(shape: Any, values: list[str]) -> None:
    """Holds a value of the command line to its shape: the keys of its shorthand, and the words of enumerations."""
    inner = shape.member if shape.type_name == "list" else shape
    for value in values:
        if inner.type_name == "structure":
            given = dict(pair.split("=") for pair in value.split(","))
            assert given.keys() <= inner.members.keys()
            for key, text in given.items():
                check_value(inner.members[key], [text])
        elif inner.type_name == "integer":
            int(value)
        elif getattr(inner, "enum", None):
            assert value in inner.enum


@pytest.mark.parametrize("words", of_program("policy-engine"))
def test_the_commands_of_the_engine_exist(words: list[str]) -> None:
    command = main.commands[words[1]]
    known = {name for parameter in command.params for name in parameter.opts}
    assert options_of(words[2:]).keys() <= known


@pytest.fixture(scope="module")
def cdk_help() -> dict[str, str]:
    """Verb to its help; an unknown verb gets the help of all of them."""
    program = ROOT / "node_modules" / ".bin" / "cdk"
    if not program.exists():
        pytest.skip("the CDK command is not installed: make setup")
    verbs = {words[2] for words in COMMANDS if words[0] == "npx"}
    started = {verb: subprocess.Popen([program, verb, "--help"], stdout=subprocess.PIPE, text=True) for verb in verbs}
    return {verb: process.communicate()[0] for verb, process in started.items()}


@pytest.mark.parametrize("words", of_program("npx"))
def test_the_cdk_commands_exist(words: list[str], cdk_help: dict[str, str]) -> None:
    assert words[1] == "cdk"
    said = cdk_help[words[2]]
    assert said.startswith(f"cdk {words[2]}")
    assert [option for option in options_of(words[3:]) if not re.search(rf"(?<![\w-]){option}\b", said)] == []
