import pytest

from policy_engine.policy import instance_types, unit_problem
from tests.policy_engine.policy.instance_types import FILE, text


def test_list_is_that_of_the_installed_botocore() -> None:
    pytest.importorskip("botocore", reason="the SageMaker model comes with botocore")
    assert FILE.read_text(encoding="utf-8") == text(), "run: python -m tests.policy_engine.policy.instance_types"


def test_every_known_type_is_well_formed() -> None:
    known = instance_types.known()
    assert len(known) > 200
    assert [unit for unit in known if unit_problem(unit)] == []


def test_sizes_of_a_family_small_ones_first() -> None:
    assert instance_types.sizes("g5") == [
        "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge", "24xlarge", "48xlarge"
    ]  # fmt: skip
    assert instance_types.sizes("m5") == ["large", "xlarge", "2xlarge", "4xlarge", "12xlarge", "24xlarge"]
    assert instance_types.sizes("g") == []
