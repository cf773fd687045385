"""What a quota share does with idle capacity."""

from dataclasses import dataclass
from typing import ClassVar

from policy_engine.policy import UNLIMITED, SharingStrategy


@dataclass(frozen=True)
class ResourceSharing:
    """What a quota share does with idle capacity: keeps, lends, or lends and borrows it (UG quota-shares).

    Plain data: the construct that takes it refuses what is wrong with it.

    Attributes:
        strategy: RESERVE, LEND or LEND_AND_BORROW.
        borrow_limit: Percent of the share's own limit that it may borrow on top of it, per instance type;
            ``UNLIMITED`` (-1) for no limit, 0 for nothing. Given with LEND_AND_BORROW, and only there.
    """

    UNLIMITED: ClassVar[int] = UNLIMITED

    strategy: SharingStrategy
    borrow_limit: int | None = None

    @classmethod
    def reserve(cls) -> "ResourceSharing":
        """Idle capacity is for the share's own jobs alone; it borrows nothing."""
        return cls(SharingStrategy.RESERVE)

    @classmethod
    def lend(cls) -> "ResourceSharing":
        """Idle capacity is lent, and taken back when the share's own jobs arrive; it borrows nothing."""
        return cls(SharingStrategy.LEND)

    @classmethod
    def lend_and_borrow(cls, *, borrow_limit: int) -> "ResourceSharing":
        """Idle capacity is lent, and the share borrows from the other lenders of its queue.

        Args:
            borrow_limit: Percent of the share's own limit, on top of it: 200 of a limit of 1 is 2 borrowed instances,
                3 in all. ``ResourceSharing.UNLIMITED`` for no limit. There is no default, since AWS's is unlimited.
        """
        return cls(SharingStrategy.LEND_AND_BORROW, borrow_limit)
