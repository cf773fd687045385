"""Properties as the command line names them."""

import pytest

from policy_engine.proving.properties import property_of


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("starts_within=1m", "'starts_within' is not provable over every workload; give a scenario"),
        ("within_bound", "no property 'within_bound'; did you mean 'within_bounds'?"),
        ("within_bounds=1", "'within_bounds' takes no value; write within_bounds"),
        ("disruption_ratio", "'disruption_ratio' needs a value: disruption_ratio=VALUE"),
        (
            "{preempted: all}",
            "'{preempted: all}': preempted: input should be 'cross_share', 'in_share', 'limit_lowered'",
        ),
        ("{preempted", "'{preempted' is no mapping: write {share: NAME, preempted: cross_share}"),
    ],
)
def test_what_is_no_provable_property_is_one_line(text: str, told: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the text is compared
        property_of(text)
    assert str(raised.value).startswith(told)
