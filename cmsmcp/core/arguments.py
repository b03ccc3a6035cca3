"""A tool's arguments, loaded through its schema; what is wrong with them, in words of the contract.

The expected value is described from the published JSON Schema, so no text of a validation library reaches a caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from marshmallow import ValidationError

from cmsmcp.core.capability import Capability
from cmsmcp.core.schemas import input_schema, schema_instance
from cmsmcp.protocol.errors import InvalidArguments

MAX_FAULTS = 5
_SHOWN_NAME = 60
_UNKNOWN = "Unknown field."
_MISSING = "Missing data for required field."


def load(capability: Capability, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments with defaults filled in. InvalidArguments names each faulty one and what it must be.

    An optional argument that is null was not given: models in strict mode cannot leave one out. Nor was one that is an empty text, where
    its schema wants a text and does not speak of its length; under a literal JSON Schema an empty text is the capability's own.
    """
    schema = input_schema(capability)
    if capability.input is None:
        if capability.input_schema is None and given:
            raise InvalidArguments(_unknown(next(iter(given)), ()), argument=next(iter(given)))
        return {name: value for name, value in given.items() if value is not None or not _is_absent(name, None, schema)}
    try:
        return schema_instance(capability.input).load(_given(given, schema))
    except ValidationError as error:
        raise _refusal(error, schema) from None


def _given(value: Any, schema: Mapping[str, Any]) -> Any:
    """`value` without what was not given, at any depth, and with integers for numbers without a fraction where the schema wants integers:
    in JSON Schema `1.0` is one."""
    if isinstance(value, float):
        return int(value) if schema.get("type") == "integer" and value.is_integer() else value
    if not schema:
        return value
    if isinstance(value, Mapping):
        return {key: _given(child, _at(schema, (str(key),))) for key, child in value.items() if not _is_absent(key, child, schema)}
    if isinstance(value, list):
        return [_given(child, _at(schema, ("0",))) for child in value]
    return value


def _is_absent(name: Any, value: Any, parent: Mapping[str, Any]) -> bool:
    """Whether a value stands for an optional argument that was left out. An unknown one never does: it is refused by its name."""
    if value not in (None, "") or name in parent.get("required", ()):
        return False
    schema = _at(parent, (str(name),))
    if value is None:
        return bool(schema) and not _admits_null(schema)
    return schema.get("type") == "string" and "minLength" not in schema and "" not in schema.get("enum", ())


def _admits_null(schema: Mapping[str, Any]) -> bool:
    """Whether null is a value of its own to this schema."""
    choices = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
    return (
        "null" in (kind if isinstance(kind := schema.get("type"), list) else (kind,))
        or None in schema.get("enum", ())
        or any(isinstance(choice, Mapping) and _admits_null(choice) for choice in choices)
    )


def _refusal(error: ValidationError, schema: Mapping[str, Any]) -> InvalidArguments:
    faults = list(_faults(error.messages if isinstance(error.messages, dict) else {"_schema": error.messages}))
    lines = [_sentence(path, text, schema) for path, text in faults[:MAX_FAULTS]]
    if len(faults) > MAX_FAULTS:
        lines.append(f"And {len(faults) - MAX_FAULTS} more.")
    first = faults[0][0]
    return InvalidArguments(" ".join(dict.fromkeys(lines)), argument="/".join(first)[:_SHOWN_NAME] or None)


def _faults(messages: Mapping[Any, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, value in messages.items():
        where = path if key == "_schema" else (*path, str(key))
        if isinstance(value, Mapping):
            yield from _faults(value, where)
        else:
            yield where, " ".join(str(value[0] if isinstance(value, list) and value else value).split())


def _sentence(path: tuple[str, ...], text: str, schema: Mapping[str, Any]) -> str:
    if not path:
        return text
    parent = _at(schema, path[:-1])
    if text == _UNKNOWN:
        return _unknown(path[-1], tuple(parent.get("properties", ())))
    name = _spelled(path)
    if text == _MISSING:
        return f"{name} is required: {_expected(_at(schema, path))}."
    return f"{name} must be {_expected(_at(schema, path))}."


def _unknown(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name[:_SHOWN_NAME], known, n=1, cutoff=0.6)
    if near:
        return f"Unknown argument {name[:_SHOWN_NAME]!r}; did you mean {near[0]!r}?"
    if known:
        return f"Unknown argument {name[:_SHOWN_NAME]!r}; known are {', '.join(known)}."
    return f"Unknown argument {name[:_SHOWN_NAME]!r}; there are none."


def _at(schema: Mapping[str, Any], path: tuple[str, ...]) -> Mapping[str, Any]:
    for step in path:
        properties = schema.get("properties", {})
        found = properties.get(step, schema.get("items", schema.get("additionalProperties", {})))
        schema = found if isinstance(found, Mapping) else {}
    return schema


def _spelled(path: tuple[str, ...]) -> str:
    spelled = path[0]
    for step in path[1:]:
        spelled += f".{step}" if step.isidentifier() else f"[{step if step.isdigit() else repr(step)}]"
    return spelled[:_SHOWN_NAME]


def _expected(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if "enum" in schema:
        return "one of " + ", ".join(str(choice) for choice in schema["enum"])
    if kind == "string":
        return "a string" + _bounds(schema, "minLength", "maxLength", " characters")
    if kind in ("integer", "number"):
        return ("an integer" if kind == "integer" else "a number") + _bounds(schema, "minimum", "maximum", "")
    if kind == "array":
        return f"a list{_bounds(schema, 'minItems', 'maxItems', ' items')}, each {_expected(schema.get('items', {}))}"
    return {"boolean": "true or false", "object": "an object"}.get(str(kind), "a value of the kind the schema names")


def _bounds(schema: Mapping[str, Any], least: str, most: str, unit: str) -> str:
    low, high = schema.get(least), schema.get(most)
    if low is not None and high is not None:
        return f" from {low} to {high}{unit}"
    if high is not None:
        return f" of at most {high}{unit}"
    return f" of at least {low}{unit}" if low is not None else ""
