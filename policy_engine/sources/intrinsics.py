"""CloudFormation's parameters, conditions and intrinsic functions, as far as they are known before deployment.

What is not known stays ``Unknown`` with the reason; nothing is guessed.

Source: CloudFormation Template Reference, intrinsic functions, condition functions, pseudo parameters;
User Guide, parameters and dynamic references.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from policy_engine.sources.declaration import Raw, Unknown
from policy_engine.sources.parameters import Parameters, text_of

ABSENT: Final = Unknown("AWS::NoValue")
"""What ``AWS::NoValue`` stands for: the property is left out."""

_SUBSTITUTION: Final = re.compile(r"\$\{(!?)([^}]*)\}")
_DYNAMIC: Final = re.compile(r"\{\{resolve:[^}]*\}\}")


class Surroundings(Protocol):
    """What other stacks say; None where they are not at hand."""

    def stack_output(self, stack: Raw, output: Raw) -> Raw:
        """``Fn::GetStackOutput``."""

    def exported(self, name: Raw) -> Raw:
        """``Fn::ImportValue``."""

    def nested_output(self, logical_id: str, output: str) -> Raw:
        """``Fn::GetAtt`` of ``Outputs.X`` of a nested stack."""


class Alone:
    """The surroundings of a template that is read on its own."""

    def stack_output(self, stack: Raw, output: Raw) -> Raw:  # noqa: ARG002
        """Nothing is at hand."""
        return None

    def exported(self, name: Raw) -> Raw:  # noqa: ARG002
        """Nothing is at hand."""
        return None

    def nested_output(self, logical_id: str, output: str) -> Raw:  # noqa: ARG002
        """Nothing is at hand."""
        return None


class Malformed(ValueError):  # noqa: N818
    """An intrinsic function whose arguments have not the documented form."""


class Resolver:
    """Resolves the values of one template."""

    def __init__(
        self, template: Mapping[str, Any], *, template_id: str, parameters: Parameters, surroundings: Surroundings
    ) -> None:
        self._id = template_id
        self._parameters = parameters
        self._surroundings = surroundings
        self._conditions = _section(template, "Conditions")
        self._mappings = _section(template, "Mappings")
        self._resources = _section(template, "Resources")
        self._decided: dict[str, bool | Unknown] = {}
        self._functions: dict[str, Callable[[Any], Raw]] = {
            "Ref": self._ref,
            "Fn::GetAtt": self._get_att,
            "Fn::Sub": self._sub,
            "Fn::Join": self._join,
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::If": self._if,
            "Fn::FindInMap": self._find_in_map,
            "Fn::ImportValue": self._import_value,
            "Fn::GetStackOutput": self._get_stack_output,
        }

    def value(self, node: Any) -> Raw:
        """The node with every function in it resolved; ``ABSENT`` for ``AWS::NoValue``."""
        if isinstance(node, str):
            dynamic = _DYNAMIC.search(node)
            return Unknown(f"the dynamic reference {dynamic.group()}") if dynamic else node
        if isinstance(node, list):
            items = (self.value(item) for item in node)
            return [item for item in items if item is not ABSENT]
        if not isinstance(node, dict):
            return node  # type: ignore[no-any-return]
        name = next(iter(node), "")
        if len(node) == 1 and (name == "Ref" or name.startswith("Fn::")):
            return self._call(name, node[name])
        values = {key: self.value(item) for key, item in node.items()}
        return {key: item for key, item in values.items() if item is not ABSENT}

    def _call(self, name: str, argument: Any) -> Raw:
        function = self._functions.get(name)
        if function is None:
            return Unknown(f"the function {name}")
        try:
            result = function(argument)
        except Malformed as error:
            return Unknown(f"{name} {error}")
        return self.value(result) if isinstance(result, str) else result

    # --- references ---------------------------------------------------------------------------------

    def _ref(self, name: Any) -> Raw:
        if not isinstance(name, str):
            raise Malformed("needs a name")
        if name == "AWS::NoValue":
            return ABSENT
        if name in self._resources:
            return self._of_resource(name)
        return self._parameters.value(name)

    def _get_att(self, argument: Any) -> Raw:
        if isinstance(argument, str):
            argument = argument.split(".", 1)
        if not (isinstance(argument, list) and len(argument) == 2 and isinstance(argument[0], str)):
            raise Malformed("needs a resource and an attribute")
        name, attribute = argument[0], self.value(argument[1])
        if name not in self._resources:
            return Unknown(f"the template has no resource {name!r}")
        if isinstance(attribute, str) and attribute.startswith("Outputs."):
            output = self._surroundings.nested_output(name, attribute.removeprefix("Outputs."))
            if output is not None:
                return output
        return self._of_resource(name)

    def _of_resource(self, name: str) -> Unknown:
        return Unknown(f"it comes from resource {name!r}", refers_to=((self._id, name),))

    def _import_value(self, argument: Any) -> Raw:
        name = self.value(argument)
        found = self._surroundings.exported(name)
        return Unknown(f"the import of {_named(name)}") if found is None else found

    def _get_stack_output(self, argument: Any) -> Raw:
        if not isinstance(argument, dict):
            raise Malformed("needs a StackName and an OutputName")
        stack, output = self.value(argument.get("StackName")), self.value(argument.get("OutputName"))
        found = self._surroundings.stack_output(stack, output)
        return Unknown(f"output {_named(output)} of stack {_named(stack)}") if found is None else found

    # --- text and lists -----------------------------------------------------------------------------

    def _sub(self, argument: Any) -> Raw:
        text, variables = argument, {}
        if isinstance(argument, list) and len(argument) == 2:
            text, variables = argument
        if not isinstance(text, str) or not isinstance(variables, dict):
            raise Malformed("needs a text, or a text and a mapping")
        parts: list[Raw] = []
        end = 0
        for match in _SUBSTITUTION.finditer(text):
            parts += [text[end : match.start()], self._substitute(match[1], match[2], variables)]
            end = match.end()
        return _joined("", [*parts, text[end:]])

    def _substitute(self, literal: str, name: str, variables: Mapping[str, Any]) -> Raw:
        if literal:
            return f"${{{name}}}"
        name = name.strip()
        if name in variables:
            return self.value(variables[name])
        return self._get_att(name) if "." in name else self._ref(name)

    def _join(self, argument: Any) -> Raw:
        delimiter, items = self._pair(argument, "a delimiter and a list")
        items = self.value(items)
        if isinstance(items, Unknown):
            return items
        if not isinstance(delimiter, str) or not isinstance(items, list):
            raise Malformed("needs a delimiter and a list")
        return _joined(delimiter, items)

    def _select(self, argument: Any) -> Raw:
        index, items = self._pair(argument, "an index and a list")
        index, items = self.value(index), self.value(items)
        if isinstance(index, Unknown) or isinstance(items, Unknown):
            return index if isinstance(index, Unknown) else items
        number = text_of(index)
        if number is None or not number.isdecimal() or not isinstance(items, list) or int(number) >= len(items):
            raise Malformed("needs an index within a list")
        return items[int(number)]  # type: ignore[no-any-return]

    def _split(self, argument: Any) -> Raw:
        delimiter, text = self._pair(argument, "a delimiter and a text")
        text = self.value(text)
        if isinstance(text, Unknown):
            return text
        if not isinstance(delimiter, str) or not delimiter or not isinstance(text, str):
            raise Malformed("needs a delimiter and a text")
        return list(text.split(delimiter))

    @staticmethod
    def _pair(argument: Any, what: str) -> tuple[Any, Any]:
        if not (isinstance(argument, list) and len(argument) == 2):
            raise Malformed(f"needs {what}")
        return argument[0], argument[1]

    def _find_in_map(self, argument: Any) -> Raw:
        if not (isinstance(argument, list) and len(argument) in (3, 4)):
            raise Malformed("needs a mapping and two keys")
        keys = [self.value(key) for key in argument[:3]]
        unknown = next((key for key in keys if isinstance(key, Unknown)), None)
        if unknown is not None:
            return unknown
        found: Any = self._mappings
        for key in keys:
            found = found.get(text_of(key)) if isinstance(found, dict) else None
        if found is None and len(argument) == 4 and isinstance(argument[3], dict) and "DefaultValue" in argument[3]:
            return self.value(argument[3]["DefaultValue"])
        if found is None:
            raise Malformed(f"finds nothing for {', '.join(map(_named, keys))}")
        return self.value(found)

    # --- conditions ---------------------------------------------------------------------------------

    def _if(self, argument: Any) -> Raw:
        if not (isinstance(argument, list) and len(argument) == 3):
            raise Malformed("needs a condition and two values")
        decided = self.condition(argument[0])
        if isinstance(decided, bool):
            return self.value(argument[1] if decided else argument[2])
        return decided

    def condition(self, name: Any) -> bool | Unknown:
        """Is the named condition true?"""
        if not isinstance(name, str) or name not in self._conditions:
            return Unknown(f"the template has no condition {_named(name)}")
        if name not in self._decided:
            self._decided[name] = Unknown(f"condition {name!r} depends on itself")
            decided = self._decide(self._conditions[name])
            if isinstance(decided, Unknown):
                decided = Unknown(f"condition {name!r}: {decided.reason}", refers_to=decided.refers_to)
            self._decided[name] = decided
        return self._decided[name]

    def _decide(self, node: Any) -> bool | Unknown:
        if not isinstance(node, dict) or len(node) != 1:
            return Unknown("a condition is one function")
        name, argument = next(iter(node.items()))
        if name == "Condition":
            return self.condition(argument)
        if name == "Fn::Equals" and isinstance(argument, list) and len(argument) == 2:
            return self._equal(*map(self.value, argument))
        if name == "Fn::Not" and isinstance(argument, list) and len(argument) == 1:
            decided = self._decide(argument[0])
            return decided if isinstance(decided, Unknown) else not decided
        if name in ("Fn::And", "Fn::Or") and isinstance(argument, list) and argument:
            return self._of_several(argument, settling=name == "Fn::Or")
        return Unknown(f"the condition function {name}")

    def _of_several(self, nodes: list[Any], *, settling: bool) -> bool | Unknown:
        """One condition with the settling value is enough, whatever is unknown about the others."""
        decided = [self._decide(node) for node in nodes]
        if settling in decided:
            return settling
        unknown = [item for item in decided if isinstance(item, Unknown)]
        return unknown[0] if unknown else not settling

    @staticmethod
    def _equal(left: Raw, right: Raw) -> bool | Unknown:
        for side in (left, right):
            if isinstance(side, Unknown):
                return side
        texts = text_of(left), text_of(right)
        return bool(left == right) if None in texts else texts[0] == texts[1]


def _section(template: Mapping[str, Any], name: str) -> dict[str, Any]:
    section = template.get(name)
    return section if isinstance(section, dict) else {}


def _named(value: Raw) -> str:
    return repr(text_of(value)) if text_of(value) is not None else "an unknown name"


def _joined(delimiter: str, items: list[Raw]) -> Raw:
    """The texts joined; unknown if one of them is, and made of all the resources that they are made of."""
    unknown = [item for item in items if isinstance(item, Unknown) and item is not ABSENT]
    if unknown:
        references = dict.fromkeys(key for item in unknown for key in item.refers_to)
        return Unknown(unknown[0].reason, refers_to=tuple(references))
    texts = [text_of(item) for item in items if item is not ABSENT]
    if None in texts:
        raise Malformed("needs texts to join")
    return delimiter.join(text for text in texts if text is not None)
