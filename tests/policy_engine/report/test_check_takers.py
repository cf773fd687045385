"""Who can stop whose jobs, on a queue of many shares: one row for all that can do the same."""

from policy_engine.policy import Policy
from policy_engine.report.blocks import Table
from policy_engine.report.check import promises
from policy_engine.scheduler.choices import Choices


def takers(shares: int) -> Table:
    share = {"capacity_limits": {"ml.g5.xlarge": 2}, "strategy": "LEND_AND_BORROW", "in_share_preemption": True}
    policy = Policy.of(
        {
            "service_environment": {"capacity_limits": {"ml.g5.xlarge": 2 * shares}},
            "shares": {f"team-{number}": share for number in range(shares)},
        }
    )
    blocks = promises(policy, Choices())
    return next(block for block in blocks if isinstance(block, Table) and block.caption.startswith("Who can stop"))


def test_few_shares_have_a_row_for_each_pair() -> None:
    assert len(takers(3).rows) == 3 * 3


def test_many_shares_have_a_row_for_each_victim_and_lose_no_taker() -> None:
    rows = takers(20).rows
    assert len(rows) == 20 + 1  # each share's borrowers' owners, and all that stop their own
    named = {(taker, getattr(row[1], "text", row[1])) for row in rows for taker in row[0].text.split(", ")}  # type: ignore[union-attr]
    names = [f"team-{number}" for number in range(20)]
    across = {(owner, borrower) for owner in names for borrower in names if owner != borrower}
    assert named == across | {(name, "itself") for name in names}


def test_what_an_arrival_takes_back_and_how_soon() -> None:
    """After a stop, or at once where nobody else can hold it; nothing where the other limits leave none of it."""
    lent, kept, short = limits = {"ml.g5.xlarge": 2, "ml.g5.2xlarge": 2, "ml.g5.4xlarge": 2}
    of = {"in_share_preemption": False}
    policy = Policy.of(
        {
            "service_environment": {"capacity_limits": {lent: 4, kept: 4, short: 2}},
            "shares": {
                "owner": of | {"capacity_limits": limits, "strategy": "LEND"},
                "greedy": of | {"capacity_limits": {lent: 2}, "strategy": "LEND_AND_BORROW"},
                "other": of | {"capacity_limits": {kept: 2, short: 2}, "strategy": "LEND"},
            },
        }
    )
    table = next(b for b in promises(policy, Choices()) if isinstance(b, Table) and "takes back" in b.caption)
    assert [tuple(row[1:]) for row in table.rows if getattr(row[0], "text", "") == "owner"] == [
        (lent, "stop_seconds", "4", "0"),
        (kept, "at once", "0", "0"),
        (short, "nothing guaranteed", "0", "0"),
    ]
