"""A pytest plugin: every ``*.scenario.yaml`` is a test file, and ``quota_batch`` is an AWS Batch for other tests.

pytest loads this module in every project that has the engine installed, so nothing of the engine is imported before a
scenario is collected or the fixture is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from policy_engine.expectations import Verdict
    from policy_engine.local_batch import LocalBatch
    from policy_engine.report.verification import Judged
    from policy_engine.sources import Source
    from policy_engine.workload.scenario import Scenario

SUFFIXES: Final = (".scenario.yaml", ".scenario.yml", ".scenario.json")
"""Endings of the files that are collected."""
_POLICY: Final = "policy_engine_policy"
_PARAMETERS: Final = "policy_engine_parameters"
_LIVE: Final = "queue:"
_SOURCES: Final = pytest.StashKey[dict[str, "Source"]]()
"""What was read from each POLICY: many scenarios share one, and a cloud assembly takes time to read."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--policy`` and ``--policy-parameter``, and what stands for them in a configuration file."""
    group = parser.getgroup("policy-engine", "AWS Batch quota shares")
    group.addoption(
        "--policy",
        metavar="POLICY",
        help="Cloud assembly, template or policy document for all scenarios, whatever they name themselves.",
    )
    group.addoption(
        "--policy-parameter",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="Value of a parameter of the template; may be repeated.",
    )
    parser.addini(_POLICY, "POLICY for scenarios that name none, relative to the configuration file.", default="")
    parser.addini(_PARAMETERS, "KEY=VALUE lines: parameters of the template.", type="linelist")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A scenario is a test file."""
    if file_path.name.endswith(SUFFIXES):
        return ScenarioFile.from_parent(parent, path=file_path)
    return None


# --- AWS Batch for tests -------------------------------------------------------------------------


@pytest.fixture
def quota_batch_policy(pytestconfig: pytest.Config) -> object:
    """Whose queues ``quota_batch`` begins with: ``--policy``, else the configuration file's, else none.

    Define a fixture of this name to say it in code: a path, or a ``policy_engine.Policy``.
    """
    given = pytestconfig.getoption("--policy") or _configured(pytestconfig)
    if not given:
        return None
    from policy_engine.sources import load

    return load(given, parameters=_parameters(pytestconfig))


@pytest.fixture
def quota_batch(quota_batch_policy: Any) -> Iterator[LocalBatch]:
    """AWS Batch in process and in virtual time: every client for it that the test makes is answered here."""
    from policy_engine.local_batch import LocalBatch

    with LocalBatch(quota_batch_policy) as batch:
        yield batch


# --- scenarios -----------------------------------------------------------------------------------


class ScenarioFile(pytest.File):
    """One scenario under its policy. It is run when the first of its tests is."""

    scenario: Scenario
    source: Source
    _judged: Sequence[Judged] | Exception | None = None

    def collect(self) -> Iterable[pytest.Item]:
        """A test for each expectation. What is wrong with the files is an error of one line."""
        from policy_engine.errors import InputError

        try:
            names = self._read()
        except InputError as error:
            raise self.CollectError(str(error)) from None
        for number, name in enumerate(names):
            yield ExpectationItem.from_parent(self, name=name, number=number)

    def _read(self) -> Sequence[str]:
        """Read the scenario and its policy, see that they fit, and give the tests their names."""
        from policy_engine.expectations import describe, require_some
        from policy_engine.scheduler.jobs import Workload
        from policy_engine.simulation import simulate
        from policy_engine.workload.scenario import load_scenario

        self.scenario = load_scenario(_shown(self.path, self.config))
        require_some(self.scenario)
        self.source = _source(self.config, self.scenario)
        policy = self.source.queue(self.scenario.queue).policy()
        timing, choices = self.scenario.workload(policy).timing, self.scenario.choices()
        unrun = simulate(policy, Workload((), timing=timing), choices)
        return _unique(wanted.name or describe(wanted, unrun) for wanted in self.scenario.expect)

    def judged(self) -> Sequence[Judged]:
        """Every verdict. Raises InputError where the run has no end."""
        from policy_engine import verify
        from policy_engine.errors import InputError
        from policy_engine.report.verification import Verified

        if self._judged is None:
            try:
                result = verify(self.source, self.scenario)
                self._judged = tuple(Verified(result.source, result.verification).judged())
            except InputError as error:
                self._judged = error
        if isinstance(self._judged, Exception):
            raise self._judged
        return self._judged


class ExpectationItem(pytest.Item):
    """One expectation."""

    parent: ScenarioFile

    def __init__(self, *, number: int, **settings: Any) -> None:
        super().__init__(**settings)
        self.number = number

    def runtest(self) -> None:
        """Fail where the expectation does not hold, with all that a reader wants to know."""
        from policy_engine._version import __version__
        from policy_engine.errors import InputError
        from policy_engine.expectations import Answer

        try:
            verdict, instant = self.parent.judged()[self.number]
        except InputError as error:
            pytest.fail(str(error), pytrace=False)
        self.user_properties += [
            ("policy", self.parent.source.description),
            ("rests_on", _rests_on(verdict)),
            ("engine", f"policy-engine {__version__}"),
        ]
        if verdict.verdict is not Answer.HOLDS:
            pytest.fail(_failure(verdict, instant=instant), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it stands in the file."""
        return self.path, self.parent.scenario.line(self.number) - 1, self.name


def _failure(verdict: Verdict, *, instant: bool) -> str:
    """The message, why it matters, the place, and what the verdict rests on."""
    from policy_engine.report.escaping import xml
    from policy_engine.report.verification import case

    return xml(f"{case(verdict, instant).text}\nrests on: {_rests_on(verdict)}")


def _rests_on(verdict: Verdict) -> str:
    if verdict.rests_on is None:
        return "not looked into: the run is too long to try every other answer to what AWS leaves open"
    if not verdict.rests_on:
        return "no open choice: no other answer to one alone changes it"
    return f"{', '.join(verdict.rests_on)}: another answer changes it"


def _unique(names: Iterable[str]) -> list[str]:
    """The names as pytest and JUnit take them apart by ``::``; a second of the same name is told apart."""
    from policy_engine.errors import visible

    found: list[str] = []
    for name in names:
        base = unique = visible(name).replace("::", ": :")
        number = 1
        while unique in found:
            number += 1
            unique = f"{base} ({number})"
        found.append(unique)
    return found


# --- the policy ----------------------------------------------------------------------------------


def _source(config: pytest.Config, scenario: Scenario) -> Source:
    """What was read from the POLICY: the command line's, the scenario's own, or the configuration file's."""
    from policy_engine.errors import InputError
    from policy_engine.sources import load

    given = config.getoption("--policy") or scenario.policy_path or _configured(config)
    if not given:
        where = f"name it under 'policy', in the option {_POLICY!r} of pytest, or with --policy"
        raise InputError(f"no policy: {where}", file=scenario.source)
    sources = config.stash.setdefault(_SOURCES, {})
    if given not in sources:
        sources[given] = load(given, parameters=_parameters(config))
    return sources[given]


def _configured(config: pytest.Config) -> str:
    policy = str(config.getini(_POLICY))
    if not policy or policy.startswith(_LIVE):
        return policy
    beside = config.rootpath if config.inipath is None else config.inipath.parent
    return _shown(beside / policy, config)


def _parameters(config: pytest.Config) -> Mapping[str, str]:
    """The configuration file's, and the command line's, which win."""
    from policy_engine.errors import InputError

    found: dict[str, str] = {}
    for pair in [*config.getini(_PARAMETERS), *config.getoption("--policy-parameter")]:
        key, equals, value = str(pair).partition("=")
        if not (key.strip() and equals):
            raise InputError(f"{pair!r} is not KEY=VALUE", key="policy parameter")
        found[key.strip()] = value.strip()
    return found


def _shown(path: Path, config: pytest.Config) -> str:
    """The path as messages have it: from where pytest was started, if it is below that."""
    start = config.invocation_params.dir
    return str(path.relative_to(start) if path.is_relative_to(start) else path)
