from pathlib import Path

import pytest

from policy_engine.errors import InputError
from policy_engine.workload.history import load_map

NO_ZONE = "is not a time zone that this machine knows, such as UTC or America/Los_Angeles"
MAP = """
teams: {6214e9: QS1, 103959: QS2, gone: null, "*": rest}
priorities: {urgent: 100, "*": 1}
instances: {8: ml.g5.48xlarge, 1: ml.g5.xlarge, 4: ml.g5.12xlarge}
time_unit: ms
time_zone: America/Los_Angeles
"""


def test_a_map_as_it_is_documented(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(MAP, encoding="utf-8")
    found = load_map(path)
    assert [found.share(team) for team in ("6214e9", "103959", "gone", "x")] == ["QS1", "QS2", None, "rest"]
    assert [found.priority(word) for word in ("urgent", "x")] == [100, 1]
    assert [found.demand(gpus) for gpus in (0.5, 4, 4.5, 17)] == [
        {"ml.g5.xlarge": 1},
        {"ml.g5.12xlarge": 1},
        {"ml.g5.48xlarge": 1},
        {"ml.g5.48xlarge": 3},
    ]
    assert (found.time_unit, found.time_zone) == ("ms", "America/Los_Angeles")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("teams: {a: [b]}", "1:9: teams.a: a list is not text; quote it"),
        ("team: {a: b}", "1:1: team: unknown key 'team'; did you mean 'teams'?"),
        ("priorities: {urgent: 10000}", "1:14: priorities.urgent: 10000 is out of range: 0 to 9999 is allowed"),
        ("instances: {eight: ml.g5.48xlarge}", "1:13: instances.eight: 'eight' is not a number of GPUs above 0"),
        ("instances: {0: ml.g5.48xlarge}", "1:13: instances.0: '0' is not a number of GPUs above 0"),
        ("instances: {8: p4}", "1:13: instances.8: 'p4' is not a SageMaker instance type such as 'ml.g5.xlarge'"),
        ("time_unit: days", "1:1: time_unit: 'days' is not one of ms, s, m, h"),
        ("time_zone: Mars/Base", f"1:1: time_zone: 'Mars/Base' {NO_ZONE}"),
        ("time_zone: ../../etc/passwd", f"1:1: time_zone: '../../etc/passwd' {NO_ZONE}"),
    ],
)
def test_what_is_wrong_with_a_map_is_told_with_its_place(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_map(path)
    assert str(caught.value).startswith(f"{path}:{message}")
