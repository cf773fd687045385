"""The commands, as a shell sees them: exit codes, what goes to which stream, and one line for every error."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from policy_engine._version import __version__
from policy_engine.policy import Policy
from policy_engine.schema import SCHEMAS
from tests.policy_engine.command import POLICY, folder, run, write
from tests.policy_engine.sources.templates import template_of, write_assembly

__all__ = ["folder"]


# --- exit codes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "last"),
    [
        (["check", "policy.yaml"], 0, "holds: 0 errors, 1 warning, 2 for information"),
        (["check", "policy.yaml", "--fail-on", "warning"], 1, "fails: 0 errors, 1 warning, 2 for information"),
        (["simulate", "policy.yaml", "scenario.yaml"], 0, "ran: 2 jobs, "),
        (["simulate", "policy.yaml", "failing.yaml"], 0, "ran: 2 jobs, "),
        (["verify", "policy.yaml", "scenario.yaml"], 0, "holds: 2 of 2 expectations hold"),
        (["verify", "policy.yaml", "failing.yaml"], 1, "fails: 0 of 1 expectation holds"),
        (["verify", "policy.yaml", "scenario.yaml", "failing.yaml"], 1, "fails: 2 of 3 expectations hold"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_the_exit_code_says_the_verdict(arguments: list[str], code: int, last: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (code, "")
    assert result.stdout.splitlines()[-1].startswith(last)


@pytest.mark.usefixtures("folder")
def test_a_scenario_may_name_its_policy(folder: Path) -> None:
    write(
        folder, "named.yaml", "policy: policy.yaml\njobs: [{name: a, share: QS1}]\nexpect: [{job: a, preempted: 0}]\n"
    )
    assert run("verify", "named.yaml").exit_code == 0
    result = run("verify", "named.yaml", "scenario.yaml")
    assert result.exit_code == 2
    assert result.stderr == "scenario.yaml: no policy: give one, or name it under 'policy'\n"


# --- bad input -------------------------------------------------------------------------------------

SHARE = "{capacity_limits: {ml.g5.xlarge: 1}, strategy: LEND, in_share_preemption: false}"


def document(shares: str, more: str = "") -> str:
    return f"service_environment:\n  capacity_limits: {{ml.g5.xlarge: 3}}\nshares:\n  {shares}\n{more}"


BAD_POLICIES = {
    "a missing file": ("gone.yaml", None, "gone.yaml: no such file"),
    "an empty file": ("p.yaml", "", "p.yaml: the file is empty"),
    "no YAML": ("p.yaml", "shares: [\n  - }\n", "p.yaml:2:3: not valid YAML: "),
    "no JSON": ("p.json", '{"shares": }', "p.json:1:12: not valid JSON: expecting value"),
    "a duplicate key": (
        "p.yaml",
        document(f"QS1: {SHARE}\n  QS1: {SHARE}"),
        "p.yaml:5:3: shares.QS1: duplicate key 'QS1', first on line 4",
    ),
    "an unknown key": (
        "p.yaml",
        document("QS1: {capacity_limit: {ml.g5.xlarge: 1}, strategy: LEND, in_share_preemption: false}"),
        "p.yaml:4:9: shares.QS1.capacity_limit: unknown key 'capacity_limit'; did you mean 'capacity_limits'?",
    ),
    "a count of 0": (
        "p.yaml",
        document(f"QS1: {SHARE.replace(': 1}', ': 0}')}"),
        "p.yaml:4:27: shares.QS1.capacity_limits.ml.g5.xlarge: 0 is out of range: 1 or more is allowed",
    ),
    "21 shares": (
        "p.yaml",
        document("\n  ".join(f"S{number}: {SHARE}" for number in range(21))),
        "p.yaml:3:1: shares: 21 quota shares; at most 20 are allowed on a queue",
    ),
    "a template without a quota queue": (
        "t.json",
        '{"Resources": {"B": {"Type": "AWS::S3::Bucket"}}}',
        "t.json: no quota-managed job queue in this CloudFormation template",
    ),
    "a live queue that nothing says how to reach": (
        "queue:training",
        None,
        "queue:training: no region: give --region, set AWS_REGION, or name the queue by its ARN",
    ),
}


@pytest.mark.parametrize(("name", "content", "line"), BAD_POLICIES.values(), ids=BAD_POLICIES)
@pytest.mark.parametrize("command", ["check", "verify", "simulate"])
def test_a_bad_policy_is_one_line(folder: Path, command: str, name: str, content: str | None, line: str) -> None:
    if content is not None:
        write(folder, name, content)
    result = run(command, name, *([] if command == "check" else ["scenario.yaml"]))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


BAD_SCENARIOS = {
    "no YAML": (
        "jobs: [\n  - }\n",
        "s.yaml:2:3: not valid YAML: did not find expected node content while parsing a flow node",
    ),
    "a duplicate key": ("jobs: []\njobs: []\n", "s.yaml:2:1: jobs: duplicate key 'jobs', first on line 1"),
    "an unknown key": (
        "jobs: [{name: a, share: QS1, durration: 5}]",
        "s.yaml:1:30: jobs[0].durration: unknown key 'durration'; did you mean 'duration'?",
    ),
    "an unknown share": (
        "jobs: [{name: a, share: QS9}]",
        "s.yaml:1:18: jobs[0].share: no share 'QS9'; did you mean 'QS3'?",
    ),
    "an unknown job": (
        "jobs: [{name: a, share: QS1}]\nexpect: [{job: b, preempted: 0}]",
        "s.yaml:2:11: expect[0].job: no job 'b'; there is a",
    ),
    "an unknown share of an expectation": (
        "jobs: [{name: a, share: QS1}]\nexpect: [{share: QS4, borrowed: 0}]",
        "s.yaml:2:11: expect[0].share: no share 'QS4'; did you mean 'QS3'?",
    ),
    "a negative duration": (
        "jobs: [{name: a, share: QS1, duration: -5s}]",
        "s.yaml:1:30: jobs[0].duration: '-5s' is below zero; a duration of 0 or more is allowed",
    ),
    "a count of 0": (
        "jobs: [{name: a, share: QS1, instance_count: 0}]",
        "s.yaml:1:30: jobs[0].instance_count: 0 is out of range: 1 or more is allowed",
    ),
    "an unknown instance type": (
        "jobs: [{name: a, share: QS1, instance_type: ml.p5.48xlarge}]",
        "s.yaml:1:30: jobs[0].instance_type: no instance type 'ml.p5.48xlarge' in the service environment;"
        " did you mean 'ml.g5.xlarge'?",
    ),
}


@pytest.mark.parametrize(("content", "line"), BAD_SCENARIOS.values(), ids=BAD_SCENARIOS)
@pytest.mark.parametrize("command", ["verify", "simulate"])
def test_a_bad_scenario_is_one_line(folder: Path, command: str, content: str, line: str) -> None:
    write(folder, "s.yaml", content)
    result = run(command, "policy.yaml", "s.yaml")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"{line}\n")


def test_a_scenario_that_expects_nothing_is_no_pass(folder: Path) -> None:
    write(folder, "s.yaml", "jobs: [{name: a, share: QS1}]")
    result = run("verify", "policy.yaml", "s.yaml")
    assert result.stderr == "s.yaml: expects nothing; say what should hold under 'expect'\n"
    assert (result.exit_code, result.stdout) == (2, "")
    assert run("simulate", "policy.yaml", "s.yaml").exit_code == 0


def test_a_folder_that_is_no_assembly_is_refused(folder: Path) -> None:
    (folder / "out").mkdir()
    result = run("check", "out")
    assert result.exit_code == 2
    assert result.stderr.startswith("out: a folder without manifest.json; expected a cloud assembly")
    assert result.stderr.count("\n") == 1


def template() -> Any:
    return template_of(Policy.of(yaml.safe_load(POLICY)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ([], "TrainingEnvironment0B.CapacityLimits[0].MaxCapacity: unknown until deployment: Size has no default"),
        (["--parameter", "Size=many"], "t.json: --parameter Size: 'many' is not a number"),
        (["--parameter", "Sice=2"], "t.json: --parameter Sice: there is no such parameter; did you mean 'Size'?"),
    ],
)
def test_an_unresolved_reference_is_refused_where_a_number_is_needed(
    folder: Path, parameters: list[str], message: str
) -> None:
    parametrised = template()
    parametrised["Parameters"] = {"Size": {"Type": "Number"}}
    environment = parametrised["Resources"]["TrainingEnvironment0B"]["Properties"]
    environment["CapacityLimits"][0]["MaxCapacity"] = {"Ref": "Size"}
    (folder / "t.json").write_text(json.dumps(parametrised), encoding="utf-8")
    result = run("verify", "t.json", "scenario.yaml", *parameters)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert run("verify", "t.json", "scenario.yaml", "--parameter", "Size=3").exit_code == 0


def test_check_warns_of_what_it_cannot_know_and_goes_on(folder: Path) -> None:
    unknown = template()
    unknown["Resources"]["TrainingEnvironment0B"]["Properties"]["CapacityLimits"] = {"Fn::ImportValue": "limits"}
    (folder / "t.json").write_text(json.dumps(unknown), encoding="utf-8")
    result = run("check", "t.json")
    assert result.exit_code == 0
    assert "Not reckoned: t.json:1:" in result.stdout
    assert "TrainingEnvironment0B.CapacityLimits" in result.stdout


def test_of_two_queues_one_has_to_be_named(folder: Path) -> None:
    other = template()
    other["Resources"]["TrainingQueue0C"]["Properties"]["JobQueueName"] = "research"
    write_assembly(folder / "cdk.out", {"One": template(), "Two": other})
    result = run("verify", "cdk.out", "scenario.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    listed = "training (One/TrainingQueue0C), research (Two/TrainingQueue0C)"
    assert result.stderr == f"cdk.out: 2 queues, name one with --queue: {listed}\n"
    wrong = run("verify", "cdk.out", "scenario.yaml", "--queue", "reserch")
    assert wrong.stderr == f"cdk.out: no queue 'reserch'; there is {listed}\n"
    assert run("verify", "cdk.out", "scenario.yaml", "--queue", "research").exit_code == 0
    # check does them all
    both = run("check", "cdk.out").stdout
    assert "What the shares of training can count on" in both
    assert "What the shares of research can count on" in both


# --- the command line ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["chekc"], "no such command 'chekc'. Did you mean 'check'?"),
        (["check"], "missing argument 'POLICY'"),
        (["check", "a", "b"], "got unexpected extra argument (b)"),
        (["check", "p", "--fali-on", "error"], "no such option '--fali-on'. Did you mean '--fail-on'?"),
        (["check", "p", "--fail-on", "info"], "invalid value for '--fail-on': 'info' is not one of 'error', 'warning'"),
        (
            ["check", "p", "--format", "xml"],
            "invalid value for '--format': 'xml' is not one of 'text', 'json', 'markdown'",
        ),
        (["check", "p", "--queue"], "option '--queue' requires an argument"),
        (["check", "p", "--parameter", "x"], "invalid value for '--parameter': 'x' is not KEY=VALUE"),
        (
            ["check", "p", "--parameter", "x=1", "--parameter", "x=2"],
            "invalid value for '--parameter': 'x' is given twice",
        ),
        (["schema"], "missing argument '{policy|scenario|result}'. Choose from: policy, scenario, result"),
        (["simulate", "policy.yaml", "scenario.yaml", "failing.yaml"], "2 scenarios; simulate takes one"),
        (["verify", "p", "--property", "within_bounds"], "--property needs --jobs: the most jobs of a workload"),
        (["verify", "p", "--jobs", "2"], "--jobs needs --property"),
        (
            ["verify", "p", "s", "--property", "within_bounds", "--jobs", "2"],
            "--property takes a policy and no scenario: it is about every workload",
        ),
        (
            ["verify", "p", "s", "--counterexamples", "d"],
            "--counterexamples needs --all-choices, --open or --property",
        ),
        (
            ["verify", "p", "--property", "within_bounds", "--jobs", "1", "--sizes", "1,x"],
            "invalid value for '--sizes': 'x' is not a whole number; write 1 or 1,2",
        ),
        (["verify", "s", "--max-states", "0"], "invalid value for '--max-states': 0 is not in the range x>=1"),
        (["check", "p", "--0", "x"], "no such option '--0'"),
        (["check", "\x1b[31mp", "\u202eb"], "got unexpected extra argument (\\u202eb)"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_wrong_command_line_is_one_line(arguments: list[str], line: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"policy-engine: {line}\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["policy.yaml"], "policy.yaml: is a policy; give a scenario after it"),
        (
            ["scenario.yaml", "policy.yaml"],
            "policy.yaml: is a policy, not a scenario; one policy is given, before the scenarios",
        ),
        (
            ["queue:training", "scenario.yaml"],
            "queue:training: no region: give --region, set AWS_REGION, or name the queue by its ARN",
        ),
        (["policy.yaml", "gone.yaml"], "gone.yaml: no such file"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_policy_and_a_scenario_are_told_apart(arguments: list[str], line: str) -> None:
    result = run("verify", *arguments)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"{line}\n")


def test_help_teaches_each_command_with_an_example() -> None:
    for arguments in ([], ["check"], ["simulate"], ["verify"], ["schema"]):
        result = run(*arguments, "--help")
        assert (result.exit_code, result.stderr) == (0, "")
        example = result.stdout.partition("Example:\n")[2].splitlines()[0]
        assert example.strip().startswith(f"policy-engine {' '.join(arguments)}".strip())
    # A pipeline whose command came out empty has not passed.
    assert (run().exit_code, run().stdout) == (2, "")
    assert run().stderr.startswith("Usage: policy-engine ")


def test_the_version() -> None:
    assert run("--version").stdout == f"policy-engine {__version__}\n"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_a_schema(name: str) -> None:
    schema = json.loads(run("schema", name).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_module_is_the_same_program(folder: Path) -> None:
    command = [sys.executable, "-m", "policy_engine"]
    ran = subprocess.run([*command, "check", "gone.yaml"], cwd=folder, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", "gone.yaml: no such file\n")
    ran = subprocess.run([*command, "chekc"], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.stderr == "policy-engine: no such command 'chekc'. Did you mean 'check'?\n"


# --- files beside standard output ------------------------------------------------------------------


def test_every_file_is_written_beside_the_result(folder: Path) -> None:
    names = {"json": "r.json", "markdown": "r.md", "html": "r.html", "junit": "j.xml", "sarif": "s.sarif"}
    options = [part for kind, name in names.items() for part in (f"--{kind}", f"build/report/{name}")]
    result = run("verify", "policy.yaml", "failing.yaml", "--format", "json", *options)
    assert (result.exit_code, result.stderr) == (1, "")
    written = {path.name: path.read_text(encoding="utf-8") for path in (folder / "build/report").iterdir()}
    assert written.keys() == set(names.values())
    assert written["r.json"] == result.stdout
    assert written["r.md"].startswith("## ❌ **fails**")
    assert written["r.html"].startswith("<!doctype html>")
    assert written["j.xml"].startswith("<?xml")
    assert json.loads(written["s.sarif"])["version"] == "2.1.0"


def test_the_same_result_gives_the_same_files(folder: Path) -> None:
    def files(name: str) -> list[bytes]:
        options = [part for kind in ("json", "markdown", "junit", "sarif") for part in (f"--{kind}", f"{name}/{kind}")]
        run("verify", "policy.yaml", "scenario.yaml", *options)
        return [path.read_bytes() for path in sorted((folder / name).iterdir())]

    assert files("one") == files("two")
    assert len(files("one")) == 4


def test_a_file_that_cannot_be_written_is_one_line_and_leaves_nothing(folder: Path) -> None:
    before = sorted(folder.iterdir())
    result = run("verify", "policy.yaml", "scenario.yaml", "--json", "policy.yaml/r.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("policy.yaml/r.json: the report cannot be written: ")
    assert result.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_without_the_extra_html_is_refused_before_anything_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy_engine.report.html.EXTRA", ("no_such_module",))
    result = run("verify", "policy.yaml", "gone.yaml", "--html", "r.html", "--json", "r.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "--html needs the extra: pip install 'constructs-quota[html]'\n"
    assert not (folder / "r.json").exists()


# --- the terminal ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_colour_is_for_terminals_and_for_those_who_ask() -> None:
    arguments = ("verify", "policy.yaml", "failing.yaml")
    assert "\x1b" not in run(*arguments).stdout
    coloured = run(*arguments, FORCE_COLOR="1", TERM="xterm-256color").stdout
    assert "\x1b[1;31mfails\x1b[0m" in coloured
    assert "31m" not in run(*arguments, FORCE_COLOR="1", TERM="xterm-256color", NO_COLOR="1").stdout


@pytest.mark.usefixtures("folder")
def test_a_report_fits_into_80_columns_and_uses_more() -> None:
    for arguments in (["check"], ["simulate", "scenario.yaml"], ["verify", "failing.yaml"]):
        command = [arguments[0], "policy.yaml", *arguments[1:]]
        assert max(map(len, run(*command).stdout.splitlines())) <= 80
        assert max(map(len, run(*command, COLUMNS="140").stdout.splitlines())) > 100


def test_a_terminal_without_unicode_gets_what_it_can_show(folder: Path) -> None:
    write(folder, "s.yaml", "jobs: [{name: größe, share: QS1}]\nexpect: [{job: größe, preempted: 0}]\n")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    command = [sys.executable, "-m", "policy_engine", "verify", "policy.yaml", "s.yaml"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, env=environment, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"gr\\xf6\\xdfe" in ran.stdout


def test_a_reader_who_stops_reading_changes_no_verdict(folder: Path) -> None:
    command = [sys.executable, "-m", "policy_engine", "verify", "policy.yaml", "failing.yaml"]
    read, write_end = os.pipe()
    os.close(read)
    ran = subprocess.run(command, cwd=folder, stdout=write_end, stderr=subprocess.PIPE, check=False)
    os.close(write_end)
    assert (ran.returncode, ran.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_a_full_disk_under_standard_output_is_one_line(folder: Path) -> None:
    command = [sys.executable, "-m", "policy_engine", "check", "policy.yaml"]
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (ran.returncode, ran.stderr) == (2, b"standard output: no space left on device\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_are_closed_change_no_verdict(folder: Path, closed: str) -> None:
    command = f'exec "{sys.executable}" -m policy_engine verify policy.yaml failing.yaml {closed}'
    ran = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, b"")
    assert (b"nobody is stopped" in ran.stdout) is not closed.startswith(">")


TIDYING = """
import atexit, sys
from policy_engine.cli import main
from policy_engine.program import Program

answer = Program._exit_code
Program._exit_code = lambda *given: atexit.register(print, "tidied up", file=sys.stderr) and answer(*given)
main()
"""


def test_what_a_command_registers_to_tidy_up_is_called_before_the_process_ends(folder: Path) -> None:
    command = [sys.executable, "-c", TIDYING, "verify", "policy.yaml", "failing.yaml", "--format", "json"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, b"tidied up\n")
    assert json.loads(ran.stdout)["verdict"] == "fails"


def raising(error: BaseException) -> Callable[..., Any]:
    def raise_it(*_: object, **__: object) -> None:
        raise error

    return raise_it


@pytest.mark.usefixtures("folder")
def test_control_c_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy_engine.checking.check", raising(KeyboardInterrupt()))
    result = run("check", "policy.yaml")
    assert (result.exit_code, result.stdout, result.stderr.strip()) == (130, "", "")


@pytest.mark.usefixtures("folder")
def test_a_defect_is_one_line_that_says_how_to_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy_engine.checking.check", raising(KeyError("two\nlines")))
    result = run("check", "policy.yaml")
    # not 1: that would say that the policy fails
    assert (result.exit_code, result.stdout) == (70, "")
    what = "KeyError: 'two\\nlines': a defect of policy-engine"
    assert result.stderr == f"policy-engine: {what} {__version__}; please report it with what --debug shows\n"
    for shown in (run("check", "policy.yaml", "--debug"), run("check", "policy.yaml", POLICY_ENGINE_DEBUG="1")):
        assert isinstance(shown.exception, KeyError)
