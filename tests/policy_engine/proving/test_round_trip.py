"""Every counterexample, written to a file, fails the same expectation in a plain run."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import unescape

import jsonschema
import pytest
import yaml

from policy_engine.errors import InputError
from policy_engine.expectations import Answer
from policy_engine.outcome.drawing import bar
from policy_engine.running import VerificationResult, prove, verify
from policy_engine.schema import SCHEMAS
from policy_engine.sources import load_policy
from policy_engine.workload.scenario import load_scenario
from tests.policy_engine.command import folder, run, write

__all__ = ["folder"]

POLICY = Path(__file__).parents[3] / "examples" / "policy.yaml"
TIED = """
jobs:
  - {name: a, share: QS1, priority: 2, duration: 1h}
  - {name: b, share: QS1, priority: 2, duration: 1h}
  - {name: owner, share: QS2, submit: 1m, duration: 1h}
"""
OPEN = TIED.replace(", duration: 1h", "")
RANGES = TIED.replace("duration: 1h", "duration: [1h, 3h]") + "timing: {stop_seconds: [0, 120]}\n"
STARTING = OPEN + "timing: {start_seconds: 90, restart_seconds: 30, stop_seconds: 20}\n"


@dataclass(frozen=True)
class Broken:
    scenario: str
    expectation: str
    verdict: Answer
    depends_on: tuple[str, ...] = ()
    open: tuple[str, ...] = ("victims",)


BROKEN = {
    "one is stopped, whichever": Broken(TIED, "{job: b, preempted: 1, by: owner}", Answer.DEPENDS, ("victims",)),
    "open durations": Broken(OPEN, "{job: a, preempted: 1}", Answer.FAILS),
    "open durations, slow starts": Broken(STARTING, "{job: a, finishes_within: 2h}", Answer.FAILS),
    "a state at an instant": Broken(TIED, "{at: 2m, runnable: [b]}", Answer.DEPENDS, ("victims",)),
    "never preempted": Broken(OPEN, "{never: {share: QS1, preempted: any}}", Answer.FAILS),
    "an owner waits": Broken(RANGES, "{always: {owner_reclaims: {within: 1m}}}", Answer.FAILS),
    "an owner waits without end": Broken(
        "jobs: [{name: x, share: QS2}, {name: y, share: QS2, submit: 1m}]", "{job: y, starts_within: 1h}", Answer.FAILS
    ),
    "ranges": Broken(RANGES, "{job: owner, finishes_within: 1h}", Answer.FAILS),
    "a ratio": Broken(TIED, "{always: {disruption_ratio: {at_most: 0.5}}}", Answer.FAILS),
    "a share": Broken(TIED, "{share: QS1, preemptions_suffered: 0}", Answer.FAILS),
}


def explored(path: Path, text: str, **bounds: Any) -> VerificationResult:
    path.write_text(text, encoding="utf-8")
    return verify(POLICY, path, all_choices=True, **bounds)


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN)
def test_a_counterexample_breaks_the_same_expectation_in_a_plain_run(case: Broken, tmp_path: Path) -> None:
    text = f"{case.scenario}\nexpect:\n  - {case.expectation}\n"
    [verdict] = explored(tmp_path / "s.yaml", text, open=case.open, max_states=2_000).expectations
    assert (verdict.verdict, verdict.depends_on) == (case.verdict, case.depends_on), verdict
    found = verdict.counterexample
    assert found is not None
    path = tmp_path / "counterexample.yaml"
    path.write_text(found.text, encoding="utf-8")
    [again] = verify(POLICY, path).expectations
    assert (again.verdict, again.name, again.message) == (Answer.FAILS, verdict.name, verdict.message)
    written = load_scenario(path)
    assert [wanted.form for wanted in written.expect] == [load_scenario(tmp_path / "s.yaml").expect[0].form]
    # and so does its data, as the JSON has it
    jsonschema.Draft202012Validator(SCHEMAS["scenario"]()).validate(json.loads(json.dumps(found.scenario)))
    path.write_text(json.dumps(found.scenario), encoding="utf-8")
    assert verify(POLICY, path).verdict is Answer.FAILS


def test_it_is_small(tmp_path: Path) -> None:
    text = TIED + "  - {name: idle, share: QS3, submit: 1h, duration: 1h}\nexpect: [{job: b, preempted: 1}]\n"
    [verdict] = explored(tmp_path / "s.yaml", text).expectations
    assert verdict.counterexample is not None
    assert [job["name"] for job in verdict.counterexample.scenario["jobs"]] == ["a", "b", "owner"]
    assert verdict.counterexample.departures == ("at 1m owner is next, and a stopped for it",)
    second = verdict.counterexample.drawing[1]
    assert second.told == (
        "owner submitted", "a preempted for owner", "a stopped", "a requeued", "owner started"
    )  # fmt: skip
    assert [(drawn.share, bar(drawn.before), bar(drawn.after)) for drawn in second.shares] == [
        ("QS1", "#+", "#"),
        ("QS2", "~", "#"),
        ("QS3", "r", "r"),
    ]


@pytest.mark.parametrize(
    ("expectation", "verdict"),
    [
        ("{always: within_bounds}", Answer.HOLDS),
        ("{always: reserve_never_lent}", Answer.HOLDS),
        ("{job: owner, starts_within: 0s}", Answer.HOLDS),
        ("{never: {share: QS2, preempted: any}}", Answer.HOLDS),
    ],
)
def test_what_the_documentation_promises_holds_over_every_schedule(
    expectation: str, verdict: Answer, tmp_path: Path
) -> None:
    [found] = explored(tmp_path / "s.yaml", f"{OPEN}expect: [{expectation}]\n").expectations
    assert (found.verdict, found.message) == (verdict, "holds over every schedule that the documentation allows")
    assert found.counterexample is None
    assert found.looked_at is not None
    assert "states, up to" in found.looked_at


def test_what_the_scenario_answers_is_not_open(tmp_path: Path) -> None:
    text = TIED + "choices: {victims: newest}\nexpect: [{job: b, preempted: 1}]\n"
    result = explored(tmp_path / "s.yaml", text)
    assert result.verdict is Answer.HOLDS
    assert result.open_choices is not None
    assert "victims" not in result.open_choices


def test_choices_are_opened_by_name(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(TIED + "expect: [{job: b, preempted: 1}]\n", encoding="utf-8")
    assert verify(POLICY, path, open=["share_order"]).verdict is Answer.HOLDS
    assert verify(POLICY, path, open=["share_order", "victims"]).expectations[0].depends_on == ("victims",)
    with pytest.raises(InputError, match="no choice 'victim'; did you mean 'victims'"):
        verify(POLICY, path, open=["victim"])


def test_a_scenario_that_fixes_moves_has_one_schedule(tmp_path: Path) -> None:
    text = TIED + "decisions: [{at: 1m, job: owner, victims: [a]}]\nexpect: [{job: b, preempted: 1}]\n"
    with pytest.raises(InputError, match="decisions: fixes moves, so there is one schedule"):
        explored(tmp_path / "s.yaml", text)


# --- a property over every workload ----------------------------------------------------------------


def test_a_property_is_proved_over_every_workload() -> None:
    result = prove(POLICY, "reserve_never_lent", jobs=2)
    assert (result.verdict, result.property.name) == (Answer.HOLDS, "idle capacity of a RESERVE share is never lent")
    jsonschema.Draft202012Validator(SCHEMAS["result"]()).validate(json.loads(result.to_json()))


def test_a_property_is_broken_by_the_fewest_jobs(tmp_path: Path) -> None:
    result = prove(POLICY, "disruption_ratio=0.5", jobs=3, open=["victims"])
    found = result.property.counterexample
    assert found is not None
    assert len(found.scenario["jobs"]) == 3
    path = tmp_path / "s.yaml"
    path.write_text(found.text, encoding="utf-8")
    assert verify(load_policy(POLICY), path).verdict is Answer.FAILS


@pytest.mark.parametrize(
    ("wanted", "numbers", "message"),
    [
        ("bounds", {}, "property: no property 'bounds'; did you mean 'within_bounds'?"),
        ("within_bounds=3", {}, "property: 'within_bounds' takes no value; write within_bounds"),
        ("disruption_ratio", {}, "property: 'disruption_ratio' needs a value: disruption_ratio=VALUE"),
        ("owner_reclaims=soon", {}, "property: 'owner_reclaims': 'soon' is not a duration"),
        ("within_bounds", {"jobs": 0}, "jobs: 0 is out of range: 1 or more"),
        ("within_bounds", {"priorities": [10_000]}, "priorities: 10000 is out of range: 0 to 9999"),
    ],
)
def test_a_wrong_property_is_one_line(wanted: str, numbers: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        prove(POLICY, wanted, **{"jobs": 1, **numbers})
    assert str(caught.value).startswith(message)


# --- the command line ------------------------------------------------------------------------------

OF_FOLDER = """
    jobs:
      - {name: a, share: QS1}
      - {name: b, share: QS1}
      - {name: owner, share: QS2, submit: 1m}
    expect:
      - {name: "the <b> is stopped", never: {share: QS1, preempted: any}}
      - {always: within_bounds}
"""


def test_counterexamples_are_shown_and_written(folder: Path) -> None:
    write(folder, "s.yaml", OF_FOLDER)
    files = {kind: f"out.{kind}" for kind in ("json", "markdown", "junit", "html")}
    options = [part for kind, file in files.items() for part in (f"--{kind}", file)]
    result = run("verify", "policy.yaml", "s.yaml", "--open", "victims", "--counterexamples", "broken", *options)
    assert result.exit_code == 1
    assert result.stderr == "counterexample: broken/the-b-is-stopped.yaml\n"
    assert run("verify", "policy.yaml", "broken/the-b-is-stopped.yaml").exit_code == 1
    drawn = "    QS1  . > #+\n    QS2  . > ~\n    QS3  r > r\n"
    shown = {kind: Path(file).read_text(encoding="utf-8") for kind, file in files.items()}
    replaying = "\njobs:\n- name: a\n  share: QS1\n"
    for text in (result.stdout, shown["markdown"]):
        assert drawn in text
        assert replaying in text
    assert drawn in unescape(shown["junit"])
    assert "".join(f"<span>{line}</span>" for line in replaying.strip("\n").split("\n")) in shown["html"]
    assert 'aria-label="1 own, 1 borrowed"><i class="own"></i><i class="borrowed"></i></span>' in shown["html"]
    assert "<summary>the &lt;b&gt; is stopped</summary>" in shown["markdown"]
    assert "<h3>the &lt;b&gt; is stopped</h3>" in shown["html"]
    data = json.loads(shown["json"])
    jsonschema.Draft202012Validator(SCHEMAS["result"]()).validate(data)
    assert data["open_choices"] == ["victims"]
    [broken, holding] = data["expectations"]
    assert (broken["depends_on"], holding["counterexample"]) == ([], None)
    assert broken["counterexample"]["expect"][0]["name"] == "the <b> is stopped"
    written = yaml.safe_load(Path("broken/the-b-is-stopped.yaml").read_text(encoding="utf-8"))
    assert [job["name"] for job in broken["counterexample"]["jobs"]] == [job["name"] for job in written["jobs"]]


@pytest.mark.parametrize(
    ("options", "code", "end"),
    [
        (["--max-states", "3"], 3, "undecided: 0 of 1 expectation holds\n"),
        (["--max-states", "1000"], 0, "holds: 1 of 1 expectation holds\n"),
    ],
)
def test_a_bound_leaves_it_undecided(options: list[str], code: int, end: str, folder: Path) -> None:
    text = "jobs: [{name: a, share: QS1}, {name: b, share: QS2}]\nexpect: [{always: within_bounds}]\n"
    write(folder, "s.yaml", text)
    result = run("verify", "policy.yaml", "s.yaml", "--all-choices", *options)
    assert (result.exit_code, result.stderr) == (code, "")
    assert result.stdout.endswith(end)
    assert ("--max-states 3 was reached" in " ".join(result.stdout.split())) == (code == 3)


def test_a_failure_beats_undecided(folder: Path) -> None:
    write(folder, "s.yaml", OF_FOLDER)
    result = run("verify", "policy.yaml", "s.yaml", "--open", "victims", "--max-states", "3", "--format", "json")
    assert result.exit_code == 1
    assert [one["verdict"] for one in json.loads(result.stdout)["expectations"]] == ["fails", "undecided"]


def test_a_property_from_the_command_line(folder: Path) -> None:
    holds = run("verify", "policy.yaml", "--all-choices", "--property", "within_bounds", "--jobs", "1")
    assert (holds.exit_code, holds.stderr) == (0, "")
    assert "every workload of up to 1 job" in holds.stdout
    options = ["--property", "disruption_ratio=0", "--jobs", "3", "--open", "victims", "--counterexamples", str(folder)]
    fails = run("verify", "policy.yaml", *options, "--html", "proof.html", "--junit", "junit.xml")
    assert fails.exit_code == 1
    path = fails.stderr.removeprefix("counterexample: ").rstrip("\n")
    assert run("verify", "policy.yaml", path).exit_code == 1
    assert "What happens in the counterexample" in Path("proof.html").read_text(encoding="utf-8")
