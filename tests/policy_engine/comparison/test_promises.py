"""One word for what a share is promised before and after, and what it is made of."""

from typing import Any

import pytest

from policy_engine.comparison import Measure, Word, differences, word_of
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from tests.policy_engine.changes.sides import policy, share

BORROWER = share(strategy="LEND_AND_BORROW", borrow_limit=100)


def lend_and_borrow(limit: int = 2, **more: Any) -> dict[str, Any]:
    return share(limit, strategy="LEND_AND_BORROW", **more)


def words(old: Policy, new: Policy) -> dict[str, str]:
    return {name: word_of(found).value for name, found in differences(old, new, Choices()).items()}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (policy(), policy(), {"a": "same", "b": "same", "c": "same"}),
        # two lenders for the borrowers, and one of them gives less
        (policy(), policy(a=BORROWER, b=share(1), c=BORROWER), {"a": "worse", "b": "worse", "c": "worse"}),
        (policy(), policy(7, a=BORROWER, b=share(3), c=BORROWER), {"a": "better", "b": "better", "c": "better"}),
        (policy(), policy(4), {"a": "worse", "b": "worse", "c": "worse"}),
        (policy(), policy(8), {"a": "same", "b": "same", "c": "same"}),
        # c may take more of what b lends to both, and b has to have more of it given back
        (
            policy(8, a=lend_and_borrow(borrow_limit=50), b=share(4), c=lend_and_borrow(borrow_limit=50)),
            policy(8, a=lend_and_borrow(borrow_limit=50), b=share(4), c=lend_and_borrow(borrow_limit=200)),
            {"a": "worse", "b": "worse", "c": "better"},
        ),
        # what is reserved is there at once, and there is less to borrow
        (policy(a=BORROWER, b=share(4)), policy(a=BORROWER, b=share(4, "RESERVE")), {"a": "worse", "b": "better"}),
        (policy(a=share()), policy(a={**share(), "in_share_preemption": True}), {"a": "mixed"}),
        (policy(a=share()), policy(a={**share(), "state": "DISABLED"}), {"a": "worse"}),
        (policy(a=share(), b=share()), policy(a=share(), d=share()), {"a": "same", "b": "worse", "d": "better"}),
        # more of its own, and less of the others'
        (
            policy(a=lend_and_borrow(2), b=share(4)),
            policy(a=lend_and_borrow(3), b=share(3)),
            {"a": "mixed", "b": "worse"},
        ),
    ],
)  # fmt: skip
def test_words(old: Policy, new: Policy, expected: dict[str, str]) -> None:
    assert words(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            policy(a=share()),
            policy(a=share(1)),
            {Measure.GUARANTEED: (2, 1), Measure.REACHABLE: (2, 1), Measure.AT_ONCE: (2, 1)},
        ),
        (
            policy(a=BORROWER, b=share(4)),
            policy(a=BORROWER, b=share(4, "RESERVE")),
            {Measure.REACHABLE: (4, 2), Measure.LENT_BY_OTHERS: (4, 0), Measure.BORROWS_AT_ONCE: (2, 0)},
        ),
        (
            policy(a=BORROWER, b=share(3), c=share(1)),
            policy(a=BORROWER, b=share(2), c=share(1)),
            {Measure.LENT_BY_OTHERS: (4, 3)},
        ),
        (policy(a=BORROWER), policy(a={**BORROWER, "state": "DISABLED"}), {Measure.TAKES_JOBS: (1, 0)}),
    ],
    ids=["less of its own", "a lender keeps what it has", "a lender has less", "disabled"],
)  # fmt: skip
def test_what_the_word_of_a_is_made_of(old: Policy, new: Policy, expected: dict[Measure, tuple[int, int]]) -> None:
    found = differences(old, new, Choices())["a"]
    assert {difference.measure: (difference.old, difference.new) for difference in found} == expected
    assert all(difference.told for difference in found)


def test_what_other_borrowers_leave() -> None:
    """b lends 4: c takes 1 of them, or all; what c borrows of a itself is another thing."""
    loose = policy(8, a=lend_and_borrow(borrow_limit=50), b=share(4), c=lend_and_borrow(borrow_limit=200))
    strict = policy(8, a=lend_and_borrow(borrow_limit=50), b=share(4), c=lend_and_borrow(borrow_limit=50))
    own, borrowed = differences(loose, strict, Choices())["a"]
    assert (own.measure, own.old, own.new) == (Measure.AT_ONCE, 0, 1)
    assert (borrowed.measure, borrowed.old, borrowed.new, borrowed.word) == (Measure.BORROWS_AT_ONCE, 0, 1, Word.BETTER)


def test_a_new_lender_takes_nothing_from_the_borrowers() -> None:
    """Others may borrow what it lends too; that is no loss."""
    unlimited = lend_and_borrow(borrow_limit=-1)
    found = differences(policy(a=unlimited, c=unlimited), policy(8, a=unlimited, c=unlimited, d=share()), Choices())
    assert word_of(found["a"]) is Word.BETTER


def test_half_of_everything_is_worse_for_everybody() -> None:
    """Others may borrow half as much too; that is no gain."""
    all_of = ["a", "b", "c", "d"]
    whole, half = (
        policy(16, queue=None, **dict.fromkeys(all_of, lend_and_borrow(limit, borrow_limit=100))) for limit in (4, 2)
    )
    assert words(whole, half) == dict.fromkeys(all_of, "worse")


def test_the_rounding_of_borrow_limits_is_the_choice_that_is_given() -> None:
    old, new = policy(a=lend_and_borrow(1, borrow_limit=50), b=share()), policy(a=share(1), b=share())
    up = differences(old, new, Choices(borrow_rounding="up"))
    assert [word_of(differences(old, new, Choices())["a"]), word_of(up["a"])] == [Word.SAME, Word.WORSE]
