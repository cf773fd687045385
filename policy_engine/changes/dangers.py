"""Which changes end jobs or cannot be done, and the steps that can be taken instead.

Sources: CloudFormation's reference of ``AWS::Batch::QuotaShare`` (``QuotaShareName`` and ``JobQueue`` are replaced),
``JobQueue`` (name and type), ``ServiceEnvironment`` (name and type) and ``SchedulingPolicy`` (name); API Reference
pages ``DeleteQuotaShare`` and ``DeleteJobQueue`` (their jobs are terminated), ``UpdateSchedulingPolicy`` (the kind
stays) and ``CreateJobQueue`` (a policy can be replaced and not removed); UG ``service_limits`` (a service environment
belongs to one quota-managed queue).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from policy_engine.changes.declared import kind_of
from policy_engine.changes.pairing import Pair, Pairs
from policy_engine.policy import MAX_QUOTA_SHARES
from policy_engine.sources.declaration import (
    JobQueue,
    Link,
    Place,
    QueueDeclaration,
    QuotaShare,
    Raw,
    Resource,
    Unknown,
)


class Hazard(StrEnum):
    """The ways in which a change can hurt."""

    SHARE_REMOVED = "share removed"
    SHARE_RENAMED = "share renamed"
    SHARE_RECREATED = "share under another logical id"
    SHARE_MOVED = "share of another queue"
    QUEUE_REPLACED = "queue replaced"
    ENVIRONMENT_REPLACED = "service environment replaced"
    POLICY_REPLACED = "scheduling policy replaced"
    KIND_SWITCHED = "policy kind switched"
    TAGS_EDITED = "tags edited"


REFUSED: Final = frozenset({Hazard.KIND_SWITCHED})
"""What AWS Batch does not do at all."""
UNCERTAIN: Final = frozenset({Hazard.ENVIRONMENT_REPLACED, Hazard.POLICY_REPLACED, Hazard.TAGS_EDITED})
"""Where AWS does not say what becomes of the queue and its jobs."""


@dataclass(frozen=True, slots=True)
class Danger:
    """One change that ends jobs, may end them, or cannot be done."""

    hazard: Hazard
    message: str
    """What changes and what that does; lower case, no full stop."""
    resource: Resource
    """As it was."""
    place: Place
    """Where it is declared now, or was."""
    ends_jobs_of: tuple[str, ...]
    """Shares whose jobs end; none where that is not known."""
    steps: tuple[str, ...]
    """What to do instead, one after the other."""

    @property
    def finding(self) -> str:
        """The id of the finding that it is."""
        if self.hazard in REFUSED:
            return "QM302"
        return "QM303" if self.hazard is Hazard.TAGS_EDITED else "QM301"

    @property
    def is_destructive(self) -> bool:
        """Does it end jobs, or is it refused, by what AWS documents?"""
        return self.hazard not in UNCERTAIN


def dangers(pairs: Pairs) -> tuple[Danger, ...]:
    """What ends jobs or cannot be done, the queue first.

    Where the queue is replaced all its shares are, and nothing else is said of them.
    """
    queue = [*_queue(pairs)]
    found = [*queue, *_kind(pairs), *_policy(pairs), *_environments(pairs)]
    if not queue:
        for pair in pairs.shares:
            found += _share(pair, pairs)
    return (*found, *_tags(pairs))


# --- the queue ------------------------------------------------------------------------------------


def _queue(pairs: Pairs) -> Iterator[Danger]:
    old, new = pairs.old.queue, pairs.new.queue
    why = _replaced(old, new, "job queue", by_id=pairs.by_logical_id)
    if why is None:
        return
    what, place = why
    shares = tuple(share.label for share in pairs.old.shares)
    yield Danger(
        Hazard.QUEUE_REPLACED,
        f"{what}: a new queue is made, and the old one is deleted with its quota shares and all their jobs",
        old,
        place,
        shares,
        _instead_of_queue(old, f"keep {_kept(old, new)}" if pairs.by_logical_id else f"keep the name {old.label}"),
    )


def _kept(old: Resource, new: Resource) -> str:
    """What of it to leave as it was."""
    if old.logical_id != new.logical_id:
        return f"the logical id {old.logical_id} (in a CDK app: override_logical_id)"
    return f"the name {old.name}" if isinstance(old.name, str) else "the name that CloudFormation made, and give none"


def _instead_of_queue(old: JobQueue, keep: str) -> tuple[str, ...]:
    """``Replace a queue without ending jobs`` of the page on operations, in short."""
    name = old.label
    return (
        f"{keep}, if another queue is not what you want",
        "declare the new queue beside the old one, with shares, a scheduling policy and a service environment of its"
        " own (an environment belongs to one queue); give it little at first, as both draw on the same SageMaker quota",
        "let everybody submit to the new queue, and repeat the grants",
        f"disable {name} (state DISABLED): it takes no new jobs, and those it has may finish",
        f"as {name} empties, lower its environment (that stops nothing), then raise the new one and its shares;"
        " do not lower the old shares",
        f"when {name} has no job RUNNABLE, SCHEDULED, STARTING or RUNNING, remove it in a deployment of its own",
    )


def _replaced(old: Resource, new: Resource, kind: str, *, by_id: bool) -> tuple[str, Place] | None:
    """Why the resource becomes another one, and where that is written; None where it stays."""
    if by_id and old.logical_id != new.logical_id:
        return f"the {kind} {old.logical_id} is now {new.logical_id}", new.place
    if not by_id and (old.name is None or new.name is None):
        return None
    if _differ(old.name, new.name):
        return f"the name of the {kind} changes from {_name(old)} to {_name(new)}", new.where("name")
    before, after = getattr(old, "type", None), getattr(new, "type", None)
    if by_id and _differ(before, after):
        return f"the type of the {kind} changes from {before} to {after}", new.where("type")
    return None


def _differ(old: Raw, new: Raw) -> bool:
    """Do they differ? A reference that reads as before does not."""
    if isinstance(old, Unknown) and isinstance(new, Unknown):
        return (old.reason, old.refers_to) != (new.reason, new.refers_to)
    return old != new


def _name(resource: Resource) -> str:
    if resource.name is None:
        return "one that CloudFormation makes"
    return resource.name if isinstance(resource.name, str) else f"one that is {resource.name}"


# --- its scheduling policy and its environment ----------------------------------------------------


def _kind(pairs: Pairs) -> Iterator[Danger]:
    """A policy of another kind, or none any more, or one where there was none."""
    queue, policy = pairs.new.queue, pairs.new.scheduling_policy
    before, after = _kind_of(pairs.old), _kind_of(pairs.new)
    if before is None or after is None or before == after:
        return
    yield Danger(
        Hazard.KIND_SWITCHED,
        f"the scheduling policy of {queue.label} changes from {before} to {after}: AWS Batch neither switches nor"
        " removes the kind of a policy, and a queue that is made without one never gets one",
        pairs.old.queue,
        queue.where("policy") if policy is None else policy.place,
        (),
        _instead_of_queue(pairs.old.queue, f"keep the kind of the scheduling policy: {before}"),
    )


def _kind_of(view: QueueDeclaration) -> str | None:
    """The kind of the queue's scheduling policy; None where it is not declared here."""
    if view.queue.policy is None:
        return "none at all"
    return None if view.scheduling_policy is None else kind_of(view.scheduling_policy)


def _policy(pairs: Pairs) -> Iterator[Danger]:
    old, new = pairs.policy.old, pairs.policy.new
    why = None if old is None or new is None else _replaced(old, new, "scheduling policy", by_id=pairs.by_logical_id)
    if old is None or why is None:
        return
    what, place = why
    yield Danger(
        Hazard.POLICY_REPLACED,
        f"{what}: the queue is given a new one, and AWS does not say whether a queue with quota shares takes it",
        old,
        place,
        (),
        (
            f"keep the scheduling policy {old.label} as it is: there is nothing in it to change",
            "if it has to go, try the update in a test account first",
        ),
    )


def _environments(pairs: Pairs) -> Iterator[Danger]:
    for pair in pairs.environments:
        old, new = pair.old, pair.new
        if old is None:
            continue
        gone = (f"the service environment {old.label} is gone", pairs.new.queue.where("environments"))
        why = gone if new is None else _replaced(old, new, "service environment", by_id=pairs.by_logical_id)
        if why is None:
            continue
        what, place = why
        yield Danger(
            Hazard.ENVIRONMENT_REPLACED,
            f"{what}: the old one has to be taken from the queue before it can be deleted, and AWS does not say what"
            " that does to the queue's jobs",
            old,
            place,
            (),
            _instead_of_queue(pairs.old.queue, f"keep the service environment {old.label}; its limits can be changed"),
        )


# --- quota shares ---------------------------------------------------------------------------------


def _share(pair: Pair[QuotaShare], pairs: Pairs) -> Iterator[Danger]:
    old, new = pair.old, pair.new
    if old is None:
        return
    found = _what_happens(old, new, pairs)
    if found is None:
        return
    hazard, message, place, steps = found
    yield Danger(hazard, message, old, place, (old.label,), steps)


_Found = tuple[Hazard, str, Place, tuple[str, ...]]


def _what_happens(old: QuotaShare, new: QuotaShare | None, pairs: Pairs) -> _Found | None:
    name, known = old.label, pairs.old.queue.name
    queue = known if isinstance(known, str) else "QUEUE"
    if new is None:
        message = f"quota share {name} is removed: its deletion terminates all its jobs"
        return Hazard.SHARE_REMOVED, message, old.place, _drained(name, queue)
    if _differ(old.name, new.name):
        message = (
            f"quota share {name} becomes {new.label}: a name cannot be changed, so {new.label} is made and {name} is"
            " deleted, which terminates all its jobs"
        )
        return Hazard.SHARE_RENAMED, message, new.where("name"), _renamed(name, new.label, queue, pairs)
    if pairs.by_logical_id and old.logical_id != new.logical_id:
        message = (
            f"quota share {name} has the logical id {new.logical_id} in place of {old.logical_id}: CloudFormation makes"
            " a second one before it deletes the first, which fails while the name is taken, and were it deleted first"
            " all its jobs would be terminated"
        )
        keep = f"keep the logical id {old.logical_id} (in a CDK app: override_logical_id)"
        return Hazard.SHARE_RECREATED, message, new.place, (keep,)
    if pairs.by_logical_id and _is_moved(old.queue, new.queue):
        message = (
            f"quota share {name} names its queue in another way, which replaces it: the old one is deleted, which"
            " terminates all its jobs"
        )
        keep = f"name the queue of {name} as before"
        return Hazard.SHARE_MOVED, message, new.where("queue"), (keep,)
    return None


def _is_moved(old: Link | None, new: Link | None) -> bool:
    """Does CloudFormation see another value of ``JobQueue``? A name is another than the ARN of the same queue."""
    if old is None or new is None or (old.is_reference and new.is_reference):
        return False
    if old.is_reference or new.is_reference:
        written = new.value if old.is_reference else old.value
        # what a reference gives is an ARN, and whether it is this one is not known
        return isinstance(written, str) and not written.startswith("arn:")
    return _differ(old.value, new.value)


def _drained(name: str, queue: str) -> tuple[str, ...]:
    """``Drain a share, and delete it`` of the page on operations, in short."""
    return (
        f"disable {name} (state DISABLED), and deploy: it takes no new jobs, and those it has may finish",
        f"wait until it has none: aws batch list-service-jobs --job-queue {queue} --filters"
        f" name=QUOTA_SHARE_NAME,values={name} --job-status RUNNABLE, then SCHEDULED, STARTING and RUNNING",
        f"remove {name} in a deployment of its own",
    )


def _renamed(name: str, new: str, queue: str, pairs: Pairs) -> tuple[str, ...]:
    disabled, wait, remove = _drained(name, queue)
    full = len(pairs.old.shares) >= MAX_QUOTA_SHARES
    room = f"; a queue has at most {MAX_QUOTA_SHARES} shares, so another has to go first" if full else ""
    return (
        f"keep the name {name}, if its jobs need no other",
        f"declare {new} beside {name}, under an id of its own, with limits taken out of those of {name} (its jobs"
        f" above what is left can be preempted){room}",
        f"let everybody submit to {new}",
        disabled,
        wait,
        f"{remove}, and give its limits to {new}",
    )


# --- tags -----------------------------------------------------------------------------------------


def _tags(pairs: Pairs) -> Iterator[Danger]:
    """Of a queue or scheduling policy: what CloudFormation's schema and CDK say differs."""
    if not pairs.by_logical_id:
        return
    for old, new in ((pairs.old.queue, pairs.new.queue), (pairs.policy.old, pairs.policy.new)):
        if old is not None and new is not None and old.key[1] == new.key[1] and old.tags != new.tags:
            yield Danger(
                Hazard.TAGS_EDITED,
                f"the tags of {old.label} change: by the resource type's schema that is an update, by CloudFormation's"
                " pages a replacement",
                old,
                new.where("tags"),
                (),
                ("look at the change set before it is executed: it must not say Replacement",),
            )
