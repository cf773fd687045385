"""Reads a CDK cloud assembly: the folder that ``cdk synth`` writes, with its stages and nested stacks.

Source: AWS CDK, cloud-assembly-schema (``manifest.json``): the artifact types ``aws:cloudformation:stack``,
``cdk:cloud-assembly`` and ``cdk:asset-manifest``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from policy_engine.errors import InputError
from policy_engine.sources.acknowledged import Acknowledgements
from policy_engine.sources.declaration import Place, Raw, Unknown
from policy_engine.sources.parameters import PSEUDO, check_names
from policy_engine.sources.reading import Document, KeyPath, read
from policy_engine.sources.template import Template
from policy_engine.sources.validation import MISSING, shown

MANIFEST: Final = "manifest.json"

_ASSET: Final = re.compile(r"\b[0-9a-f]{64}\b")
_ENVIRONMENT: Final = re.compile(r"aws://([0-9]{12})/([a-z0-9-]+)")


@dataclass(frozen=True)
class Stack:
    """One stack, or one nested in it."""

    id: str
    """Its path in the construct tree, as the manifest displays it."""
    name: str | None
    """Its name in CloudFormation; None for a nested one."""
    environment: str
    """``aws://ACCOUNT/REGION``."""
    folder: Path
    """Where the templates of its nested stacks are."""
    document: Document
    acknowledged: Acknowledgements
    """Also of what is nested in it."""
    within: tuple[str, ...] = ()
    """The files of the stacks that it is nested in."""


class Assembly:
    """All stacks of a cloud assembly."""

    def __init__(self, folder: Path, given: Mapping[str, str]) -> None:
        self.pseudo = {name: value for name, value in given.items() if name in PSEUDO}
        self._roots = [StackTemplate(self, stack, given) for stack in _stacks(folder, set())]
        if not self._roots:
            raise InputError("a cloud assembly without stacks", file=str(folder / MANIFEST))
        self._asset_files: dict[Path, dict[str, str]] = {}
        declared = [name for root in self._roots for name in root.template.parameters.names]
        check_names(given, declared, str(folder / MANIFEST))

    @property
    def stacks(self) -> tuple[str, ...]:
        """The ids of the stacks, without nested ones."""
        return tuple(root.stack.id for root in self._roots)

    @cached_property
    def templates(self) -> list[Template]:
        """The template of every stack, each followed by those of its nested stacks."""
        return [template for root in self._roots for template in root.templates()]

    def stack_output(self, asking: Stack, stack: Raw, output: Raw) -> Raw:
        """The output of a stack of the assembly; None where there is none, or more than one."""
        root = _nearest([root for root in self._roots if root.stack.name == stack], asking)
        return root.template.output(output) if root is not None and isinstance(output, str) else None

    def exported(self, asking: Stack, name: Raw) -> Raw:
        """What a stack of the assembly exports under the name; None where there is none, or more than one."""
        if not isinstance(name, str):
            return None
        root = _nearest([root for root in self._roots if name in root.template.exports], asking)
        return root.template.output(root.template.exports[name]) if root is not None else None

    def asset_file(self, folder: Path, raw: Mapping[str, Any]) -> Path | None:
        """The template of a nested stack: the asset whose hash its ``TemplateURL`` holds."""
        if folder not in self._asset_files:
            self._asset_files[folder] = dict(_asset_files(folder))
        known = self._asset_files[folder]
        hashes = _ASSET.findall(json.dumps(raw.get("Properties", {})))
        return next((folder / known[name] for name in hashes if name in known), None)


def _nearest(roots: list[StackTemplate], asking: Stack) -> StackTemplate | None:
    """The only one in the asking stack's account and Region, else the only one."""
    near = [root for root in roots if root.stack.environment == asking.environment]
    matches = near or roots
    return matches[0] if len(matches) == 1 else None


class StackTemplate:
    """A stack's template, which finds in the assembly what it takes from other stacks."""

    def __init__(
        self, assembly: Assembly, stack: Stack, given: Mapping[str, Raw], existence: Unknown | None = None
    ) -> None:
        self.stack = stack
        self._assembly = assembly
        self._nested: dict[str, StackTemplate | None] = {}
        known = _ENVIRONMENT.fullmatch(stack.environment)
        pseudo: dict[str, Raw] = {"AWS::StackName": stack.name} if stack.name is not None else {}
        if known is not None:
            pseudo |= {"AWS::AccountId": known[1], "AWS::Region": known[2]}
        self.template = Template(
            stack.document,
            {**pseudo, **given},
            template_id=stack.id,
            surroundings=self,
            existence=existence,
            acknowledged=stack.acknowledged,
        )

    def templates(self) -> Iterator[Template]:
        """The template, followed by those of the nested stacks."""
        yield self.template
        for logical_id in self.template.nested_stacks:
            nested = self._nested_stack(logical_id)
            if nested is not None:
                yield from nested.templates()

    def stack_output(self, stack: Raw, output: Raw) -> Raw:
        """``Fn::GetStackOutput``."""
        return self._assembly.stack_output(self.stack, stack, output)

    def exported(self, name: Raw) -> Raw:
        """``Fn::ImportValue``."""
        return self._assembly.exported(self.stack, name)

    def nested_output(self, logical_id: str, output: str) -> Raw:
        """``Fn::GetAtt`` of an output of a nested stack."""
        nested = self._nested_stack(logical_id)
        return None if nested is None else nested.template.output(output)

    def _nested_stack(self, logical_id: str) -> StackTemplate | None:
        """The nested stack; None where its template is not at hand, or while its parameters are worked out."""
        if logical_id not in self._nested:
            self._nested[logical_id] = None
            self._nested[logical_id] = self._read_nested(logical_id)
        return self._nested[logical_id]

    def _read_nested(self, logical_id: str) -> StackTemplate | None:
        raw = self.template.nested_stacks.get(logical_id)
        if raw is None:
            return None
        file = self._assembly.asset_file(self.stack.folder, raw)
        within = (*self.stack.within, self.stack.document.file)
        if file is None or str(file) in within:
            return None
        parameters = self.template.properties(logical_id, Place(logical_id)).get("Parameters")
        stack = replace(
            self.stack,
            id=f"{self.stack.id}/{logical_id}",
            name=None,
            document=_read_mapping(file, short_forms=True),
            within=within,
        )
        given = {**self._assembly.pseudo, **(parameters if isinstance(parameters, dict) else {})}
        return StackTemplate(self._assembly, stack, given, self.template.existence(logical_id, raw))


# --- the manifest --------------------------------------------------------------------------------


def _read_mapping(file: Path, *, short_forms: bool = False) -> Document:
    document = read(file, short_forms=short_forms)
    if not isinstance(document.data, dict):
        raise document.error((), f"{shown(document.data)} is not a mapping")
    return document


def _artifacts(document: Document, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every artifact of the kind, by id."""
    artifacts = document.data.get("artifacts")
    if not isinstance(artifacts, dict):
        raise document.error(("artifacts",), f"{MISSING}: this is no manifest of a CDK cloud assembly")
    for artifact_id, artifact in artifacts.items():
        if isinstance(artifact, dict) and artifact.get("type") == kind:
            yield artifact_id, artifact


def _text(document: Document, path: KeyPath) -> str:
    """The text at the path of the manifest, where it must be."""
    data = document.data
    for part in path:
        data = data.get(part) if isinstance(data, dict) else None
    if isinstance(data, str):
        return data
    raise document.error(path, MISSING if data is None else f"{shown(data)} is not text")


def _stacks(folder: Path, seen: set[Path]) -> Iterator[Stack]:
    """Every stack of the assembly in the folder and of the assemblies nested in it."""
    if folder.resolve() in seen:
        return
    seen.add(folder.resolve())
    manifest = _read_mapping(folder / MANIFEST)
    for artifact_id, artifact in _artifacts(manifest, "aws:cloudformation:stack"):
        properties = ("artifacts", artifact_id, "properties")
        file = folder / _text(manifest, (*properties, "templateFile"))
        display, name = artifact.get("displayName"), artifact["properties"].get("stackName")
        yield Stack(
            id=display if isinstance(display, str) else artifact_id,
            name=name if isinstance(name, str) else artifact_id,
            environment=str(artifact.get("environment")),
            folder=folder,
            document=_read_mapping(file, short_forms=True),
            acknowledged=Acknowledgements.of(_metadata(folder, artifact)),
        )
    for artifact_id, _ in _artifacts(manifest, "cdk:cloud-assembly"):
        directory = _text(manifest, ("artifacts", artifact_id, "properties", "directoryName"))
        yield from _stacks(folder / directory, seen)


def _metadata(folder: Path, artifact: Mapping[str, Any]) -> Any:
    """The metadata of a stack's constructs, which newer versions of CDK write to a file of its own."""
    beside = artifact.get("additionalMetadataFile")
    if isinstance(beside, str) and (folder / beside).is_file():
        return read(folder / beside).data
    return artifact.get("metadata")


def _asset_files(folder: Path) -> Iterator[tuple[str, str]]:
    """The hash and the file of every asset of the assembly in the folder."""
    manifest = _read_mapping(folder / MANIFEST)
    for artifact_id, _ in _artifacts(manifest, "cdk:asset-manifest"):
        assets = _read_mapping(folder / _text(manifest, ("artifacts", artifact_id, "properties", "file")))
        files = assets.data.get("files")
        for name, asset in files.items() if isinstance(files, dict) else ():
            source = asset.get("source") if isinstance(asset, dict) else None
            path = source.get("path") if isinstance(source, dict) else None
            if isinstance(path, str):
                yield name, path
