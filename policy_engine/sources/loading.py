"""Finds out what a policy source is, and reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from policy_engine.errors import InputError
from policy_engine.sources.declaration import Declaration, QueueDeclaration
from policy_engine.sources.reading import Document, read
from policy_engine.sources.validation import shown

if TYPE_CHECKING:
    from policy_engine.policy import Policy
    from policy_engine.sources.live import LiveQueue

LIVE: Final = "queue:"
"""What a live queue is named with where a POLICY is taken."""


class Kind(StrEnum):
    """The kinds of source."""

    ASSEMBLY = "cloud assembly"
    TEMPLATE = "CloudFormation template"
    DOCUMENT = "policy document"
    QUEUE = "live queue"


@dataclass(frozen=True)
class Source:
    """What was read from one source."""

    kind: Kind
    name: str
    """The source as the user named it."""
    description: str
    """What was read, for reports: ``cloud assembly cdk.out (stacks A, B)``."""
    declaration: Declaration

    @property
    def is_live(self) -> bool:
        """Was AWS asked for it?"""
        return self.kind is Kind.QUEUE

    @property
    def queues(self) -> tuple[QueueDeclaration, ...]:
        """The quota-managed queues."""
        return self.declaration.queues

    def queue(self, wanted: str | None = None) -> QueueDeclaration:
        """The queue of that name, logical id or construct path; the only one where None is wanted.

        Raises InputError that lists the queues where there is none, or more than one.
        """
        queues = self.queues
        if not queues:
            raise InputError(f"no quota-managed job queue in this {self.kind}{self._strays()}", file=self.name)
        matches = [queue for queue in queues if wanted is None or _is_called(queue, wanted)]
        if len(matches) == 1:
            return matches[0]
        listed = ", ".join(_called(queue) for queue in matches or queues)
        if matches:
            raise InputError(f"{len(matches)} queues, name one with --queue: {listed}", file=self.name)
        raise InputError(f"no queue {wanted!r}; there is {listed}", file=self.name)

    def policies(self, wanted: str | None = None) -> tuple[Policy, ...]:
        """The policies of all quota-managed queues, or of the one that is wanted.

        Raises InputError where there is none, and for a value that is unknown until deployment.
        """
        queues = self.queues if wanted is None and self.queues else (self.queue(wanted),)
        return tuple(queue.policy() for queue in queues)

    def _strays(self) -> str:
        count = len(self.declaration.stray_shares)
        shares = "1 quota share belongs" if count == 1 else f"{count} quota shares belong"
        return f"; {shares} to a queue that it does not declare" if count else ""


def _is_called(queue: QueueDeclaration, wanted: str) -> bool:
    declared = queue.queue
    names = (declared.name, declared.logical_id, f"{declared.template}/{declared.logical_id}")
    # A document that does not name its queue can be used for any.
    unnamed = queue.ready is not None and queue.ready.queue is None
    return unnamed or wanted in names or wanted == declared.place.construct_path


def _called(queue: QueueDeclaration) -> str:
    """How the queue can be named: by its name, and by its logical id with the stack."""
    declared = queue.queue
    place = f"{declared.template}/{declared.logical_id}" if declared.template else declared.logical_id
    return f"{declared.name} ({place})" if isinstance(declared.name, str) and declared.name != place else place


def load(source: str | Path, *, parameters: Mapping[str, str] | None = None) -> Source:
    """Read a cloud assembly's folder, a CloudFormation template, a policy document or a live queue.

    ``parameters`` are values for the templates' parameters. Raises InputError.
    """
    name = str(source)
    given = parameters or {}
    if name.startswith(LIVE):
        return _load_queue(name, given)
    if not name:
        raise InputError("the policy source is empty")
    try:
        if Path(source).is_dir():
            return _load_assembly(Path(source), name, given)
        document = read(source, short_forms=True)
        if isinstance(document.data, dict) and "Resources" in document.data:
            return _load_template(document, name, given)
        return _load_document(document, name, given)
    except RecursionError:
        raise InputError("values that refer to each other without end", file=name) from None


def load_policy(source: str | Path, *, queue: str | None = None, parameters: Mapping[str, str] | None = None) -> Policy:
    """The policy of one quota-managed queue of the source.

    ``queue`` is its name, logical id or construct path; needed where the source has several. Raises
    InputError, also for a value that is unknown until deployment.
    """
    return load(source, parameters=parameters).queue(queue).policy()


def _load_queue(name: str, given: Mapping[str, str]) -> Source:
    from policy_engine.sources.live import open_queue

    for parameter in given:
        raise InputError("a live queue has no parameters", file=name, key=f"--parameter {parameter}")
    return source_of(open_queue(name))


def source_of(queue: LiveQueue) -> Source:
    """A live queue that was read, as a source."""
    return Source(Kind.QUEUE, queue.access.source, queue.description, queue.declaration)


def _load_assembly(folder: Path, name: str, given: Mapping[str, str]) -> Source:
    from policy_engine.sources.assembly import MANIFEST, Assembly
    from policy_engine.sources.template import declaration_of

    if not (folder / MANIFEST).is_file():
        expected = "a cloud assembly (the folder that cdk synth writes, cdk.out), a template or a policy document"
        raise InputError(f"a folder without {MANIFEST}; expected {expected}", file=name)
    assembly = Assembly(folder, given)
    stacks = f"stack{'s' if len(assembly.stacks) > 1 else ''} {', '.join(assembly.stacks)}"
    declaration = declaration_of(name, assembly.templates)
    return Source(Kind.ASSEMBLY, name, f"{Kind.ASSEMBLY} {name} ({stacks})", declaration)


def _load_template(document: Document, name: str, given: Mapping[str, str]) -> Source:
    from policy_engine.sources.parameters import check_names
    from policy_engine.sources.template import Template, declaration_of

    template = Template(document, given)
    check_names(given, template.parameters.names, name)
    return Source(Kind.TEMPLATE, name, f"{Kind.TEMPLATE} {name}", declaration_of(name, [template]))


def _load_document(document: Document, name: str, given: Mapping[str, str]) -> Source:
    from policy_engine.sources.document import declaration_of, read_policy

    if document.tagged:
        read(document.file)  # a short form in what is no template: says where
    if isinstance(document.data, dict) and "AWSTemplateFormatVersion" in document.data:
        raise document.error((), "a CloudFormation template without Resources")
    if not isinstance(document.data, dict):
        raise document.error((), f"{shown(document.data)} is not a mapping; expected a policy document or a template")
    for parameter in given:
        raise InputError("a policy document has no parameters", file=name, key=f"--parameter {parameter}")
    policy = read_policy(document)
    declaration = declaration_of(policy, source=name, document=document)
    return Source(Kind.DOCUMENT, name, f"{Kind.DOCUMENT} {name}", declaration)
