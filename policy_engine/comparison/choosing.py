"""Which queue of the two sources is compared: the one that is named, or the one that both have."""

from __future__ import annotations

from policy_engine.errors import InputError
from policy_engine.sources import Source
from policy_engine.sources.declaration import QueueDeclaration


def views(
    old: Source, new: Source, queue: str | None = None, new_queue: str | None = None
) -> tuple[QueueDeclaration, QueueDeclaration]:
    """The queue as it was and as it is to be.

    ``queue`` names it in both; where one of them has no queue of that name and only one at all, that one is taken for
    it: a renamed queue. Without a name it is the only one, or the one that the other side's only one is. A queue that
    is not quota-managed any more counts.

    Raises InputError where there is none, or more than one to choose from.
    """
    if queue is not None and new_queue is None and not any(_named(source, queue) for source in (old, new)):
        return old.queue(queue), new.queue(queue)
    if queue is None and new_queue is None and len(old.queues) > 1 and len(new.queues) == 1:
        return _like(old, new.queues[0]), new.queues[0]
    before = _one(old, queue)
    after = _one(new, new_queue) if new_queue is not None else _of_new(new, queue, before)
    return before, after


def _named(source: Source, wanted: str) -> bool:
    try:
        source.queue(wanted)
    except InputError:
        return False
    return True


def _one(source: Source, wanted: str | None) -> QueueDeclaration:
    if wanted is not None and len(source.queues) == 1 and not _named(source, wanted):
        return source.queues[0]
    return source.queue(wanted)


def _of_new(new: Source, queue: str | None, before: QueueDeclaration) -> QueueDeclaration:
    if queue is not None and _named(new, queue):
        return new.queue(queue)
    return _like(new, before)


def _like(source: Source, other: QueueDeclaration) -> QueueDeclaration:
    """The source's queue of the same name, or else of the same logical id, or else its only one."""
    queues, name = source.declaration.job_queues, other.queue.name
    named = [queue for queue in queues if isinstance(name, str) and queue.name == name]
    same = named or [queue for queue in queues if queue.logical_id == other.queue.logical_id]
    return source.declaration.view(same[0]) if len(same) == 1 else source.queue(None)
