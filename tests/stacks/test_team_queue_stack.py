"""The teams' queue: one declaration, and what each stage changes in it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from syrupy.assertion import SnapshotAssertion

from constructs_quota import QuotaShareOptions, ResourceSharing
from policy_engine import check, verify
from stacks.stages import STAGES, TEAMS, Stage, development, stage_named
from stacks.team_queue_stack import TeamQueueStack
from tests.synthesis import ROOT, new_app, of_type, only

SCENARIO = ROOT / "pipeline" / "teams.scenario.yaml"


@pytest.fixture(scope="module", params=STAGES)
def assembly(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    app = new_app(tmp_path_factory.mktemp(request.param) / "cdk.out")
    TeamQueueStack(app, request.param, stage=STAGES[request.param], synthesizer=cdk.BootstraplessSynthesizer())
    return Path(app.synth().directory)


@pytest.fixture
def stage(assembly: Path) -> str:
    return template_file(assembly).name.split(".")[0]


@pytest.fixture
def template(assembly: Path) -> dict[str, Any]:
    return dict(json.loads(template_file(assembly).read_text()))


def template_file(assembly: Path) -> Path:
    (path,) = assembly.glob("*.template.json")
    return path


def limits(template: Mapping[str, Any]) -> dict[str, int]:
    return {
        share["QuotaShareName"]: limit["MaxCapacity"]
        for share in of_type(template, "QuotaShare").values()
        for limit in share["CapacityLimits"]
    }


def strategies(template: Mapping[str, Any]) -> dict[str, str]:
    return {
        share["QuotaShareName"]: share["ResourceSharingConfiguration"]["Strategy"]
        for share in of_type(template, "QuotaShare").values()
    }


def test_template(template: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    assert template == snapshot


def test_differs_between_stages_where_the_stage_says_so(template: dict[str, Any], stage: str) -> None:
    assert (limits(template), strategies(template)) == {
        "dev": (
            {"research": 1, "evaluation": 1, "production": 1},
            {"research": "LEND_AND_BORROW", "evaluation": "LEND_AND_BORROW", "production": "LEND"},
        ),
        "prod": (
            {"research": 4, "evaluation": 1, "production": 3},
            {"research": "LEND_AND_BORROW", "evaluation": "LEND_AND_BORROW", "production": "RESERVE"},
        ),
    }[stage]
    (environment_limit,) = only(template, "ServiceEnvironment")["CapacityLimits"]
    assert environment_limit["MaxCapacity"] == {"dev": 3, "prod": 8}[stage]


def test_keeps_what_the_teams_were_promised(assembly: Path) -> None:
    assert check(assembly).findings == ()
    result = verify(assembly, SCENARIO)
    assert [verdict.message for verdict in result.failed] == []
    assert result.verdict == "holds"


def test_a_team_declared_once_is_in_every_stage() -> None:
    added = QuotaShareOptions(
        capacity_limits={"ml.p5.48xlarge": 2, "ml.g5.12xlarge": 5},
        resource_sharing=ResourceSharing.reserve(),
        in_share_preemption=True,
    )
    shares = development({**TEAMS, "robotics": added})
    stage = Stage(quota_shares=shares, termination_protection=False)

    assert shares["robotics"].in_share_preemption
    assert stage.capacity_limits == {"ml.g5.12xlarge": 4, "ml.p5.48xlarge": 1}


def test_only_production_is_protected_from_deletion() -> None:
    assert {name: stage.termination_protection for name, stage in STAGES.items()} == {"dev": False, "prod": True}


@pytest.mark.parametrize("name", ["test", "", "Prod", 1])
def test_an_unknown_stage_is_told_the_known_ones(name: object) -> None:
    with pytest.raises(ValueError, match=r"^stage: .* is not one of dev, prod; give one of them: -c stage=dev$"):
        stage_named(name)
