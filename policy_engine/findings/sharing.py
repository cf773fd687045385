"""QM101 to QM107 and QM112: what the limits and the borrow limits come to together.

Sums and bounds are those of R4 and R5 (``scheduling.md``), on each instance type.
"""

from __future__ import annotations

from collections.abc import Iterator

from policy_engine.findings import pages
from policy_engine.findings.rule import Found, Severity, rule
from policy_engine.findings.subject import Subject
from policy_engine.policy import UNLIMITED
from policy_engine.sources.declaration import Place, QuotaShare


@rule(
    "QM101",
    Severity.WARNING,
    "limits sum to more than the environment holds on an instance type: no guarantee is whole",
    why="When every share uses its own limit there is not enough for all, and what is missing cannot be taken back from"
    " shares that are within their limits.",
    remedy="raise the service environment's capacity or lower limits until they sum to it",
    source=pages.QUOTA_SHARES,
)
def overcommitted(subject: Subject) -> Iterator[Found]:
    """Sums the limits that are known: those that are not could only add to them."""
    for environment, unit, capacity, place in subject.capacities():
        limits = subject.known_limits(unit)
        total = sum(limit for _, limit in limits)
        if total > capacity:
            listed = ", ".join(f"{share.label} {limit}" for share, limit in limits)
            more = f"{total - capacity} more than the environment's {capacity}"
            yield Found(f"limits for {unit} sum to {total} ({listed}), {more}", environment, place, unit)


@rule(
    "QM102",
    Severity.WARNING,
    "limits sum to less than the environment holds: capacity that nobody owns",
    why="AWS says that shares borrow from other shares, not that they may use capacity that no share declares, so it"
    " may stay idle for ever.",
    remedy="raise limits until they sum to the environment's capacity (a LEND share can own the rest), or lower it",
    source=pages.QUOTA_SHARES,
)
def unallocated(subject: Subject) -> Iterator[Found]:
    """Sums the limits, where all of them are known."""
    for environment, unit, capacity, place in subject.capacities():
        total = sum(limit for _, limit in subject.known_limits(unit))
        if subject.is_fully_known(unit) and total < capacity:
            less = f"{capacity - total} less than the environment's {capacity}"
            yield Found(f"limits for {unit} sum to {total}, {less}", environment, place, unit)


@rule(
    "QM103",
    Severity.WARNING,
    "LEND_AND_BORROW on an instance type that no other share lends",
    why="There is nobody to borrow from: the share gets its own limit and no more, whatever its borrow limit says.",
    remedy="let another share lend the instance type (LEND or LEND_AND_BORROW), or set this one to LEND",
    source=pages.NEVER_FITS,
)
def nothing_to_borrow(subject: Subject) -> Iterator[Found]:
    """Sums what the other lenders have configured."""
    for share, unit, place in _borrowers(subject):
        if subject.lent_by_others(share, unit) == 0 and subject.borrow_limit(share) != 0:
            yield Found(f"{share.label} may borrow {unit}, and no other share lends it", share, place, unit)


@rule(
    "QM104",
    Severity.INFO,
    "a lender that no other share can borrow from",
    why="What it lends stays idle all the same; RESERVE would say so, or somebody was meant to borrow.",
    remedy="let another share with the instance type borrow (LEND_AND_BORROW), or set one that only lends to RESERVE",
    source=pages.QUOTA_SHARES,
)
def nobody_borrows(subject: Subject) -> Iterator[Found]:
    """Looks for a share that could borrow what this one lends."""
    for share, unit, place in _limits(subject):
        strategy = subject.strategy(share)
        is_lender = strategy is not None and strategy.lends and subject.limit(share, unit)
        if is_lender and not subject.may_be_borrowed(share, unit):
            yield Found(f"{share.label} lends {unit}, and no other share can borrow it", share, place, unit)


@rule(
    "QM105",
    Severity.WARNING,
    "a borrow limit that comes to no whole instance on an instance type",
    why="A borrow limit is a percentage of the share's own limit on each instance type; AWS does not say how it is"
    " rounded, and below one instance the share may never borrow.",
    remedy="raise the borrow limit to at least 100 percent divided by the own limit, or set the strategy to LEND",
    source=pages.SHARING,
)
def less_than_one_instance(subject: Subject) -> Iterator[Found]:
    """Turns the percentage into instances, rounded as C7 says."""
    for share, unit, place in _borrowers(subject):
        percent = subject.borrow_limit(share)
        if percent is not None and percent > 0 and subject.allowance(share, unit) == 0:
            limit = subject.limit(share, unit)
            what = f"{percent} % of {share.label}'s limit of {limit} {unit} is less than one instance"
            yield Found(what, share, place, unit)


@rule(
    "QM106",
    Severity.INFO,
    "a borrow limit beyond all that the others can lend",
    why="A share never borrows more than the other lenders have configured; the rest of its borrow limit never counts.",
    remedy="lower the borrow limit to what the others lend, or set it to -1 to say that it does not limit",
    source=pages.NEVER_FITS,
)
def more_than_is_lent(subject: Subject) -> Iterator[Found]:
    """Compares the borrow limit in instances with what the other lenders have configured."""
    for share, unit, place in _borrowers(subject):
        allowance, lent = subject.allowance(share, unit), subject.lent_by_others(share, unit)
        if allowance is not None and lent and allowance > lent:
            may = f"{share.label} may borrow {allowance} {unit} ({subject.borrow_limit(share)} % of its limit)"
            yield Found(f"{may}, and the others lend {lent}", share, place, unit)


@rule(
    "QM107",
    Severity.WARNING,
    "unlimited borrowing by omission",
    why="Without a borrow limit the service takes -1, unlimited: the share may use all that the others lend, which is"
    " seldom meant where nobody says it.",
    remedy="state the borrow limit: a percentage of the own limit, or -1 for unlimited",
    source=pages.SHARING,
)
def unlimited_by_omission(subject: Subject) -> Iterator[Found]:
    """Looks for LEND_AND_BORROW without a borrow limit."""
    for share in subject.shares:
        if share.borrow_limit is None and subject.borrow_limit(share) == UNLIMITED:
            what = f"{share.label} borrows without limit, as it states no borrow limit"
            yield Found(what, share, share.where("strategy"))


@rule(
    "QM112",
    Severity.INFO,
    "a borrow limit of 0: the share lends and never borrows, which is LEND",
    why="LEND says the same in one word, and cannot be mistaken for the default, which is unlimited.",
    remedy="set the strategy to LEND and remove the borrow limit",
    source=pages.SHARING,
)
def borrows_nothing(subject: Subject) -> Iterator[Found]:
    """Looks for a stated borrow limit of 0."""
    for share in subject.shares:
        strategy = subject.strategy(share)
        if strategy is not None and strategy.borrows and subject.borrow_limit(share) == 0:
            what = f"{share.label} lends, and may borrow 0 % of its limit"
            yield Found(what, share, share.where("borrow_limit"))


Row = tuple[QuotaShare, str, Place]
"""A share, an instance type that it declares, and where."""


def _limits(subject: Subject) -> Iterator[Row]:
    """Every instance type of every share."""
    for share in subject.shares:
        for unit, entry in subject.entries(share):
            yield share, unit, entry.place


def _borrowers(subject: Subject) -> Iterator[Row]:
    """The same of the shares with LEND_AND_BORROW; the place is that of the borrow limit, where there is one."""
    for share, unit, place in _limits(subject):
        strategy = subject.strategy(share)
        if strategy is not None and strategy.borrows:
            yield share, unit, place if share.borrow_limit is None else share.where("borrow_limit")
