"""Forms of elicitation/create: flat objects of primitive properties (E-09), and what a user may have typed into one.

Knows the restricted JSON Schema of forms. Must not know how a form reaches the client, nor who asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cmsmcp.governance.redaction.names import is_secret

MAX_PROPERTIES = 32
MAX_TEXT = 20_000
"""Characters of one field whose schema names no `maxLength`, and of a key."""


def check_form(schema: Mapping[str, Any]) -> None:
    """ValueError for a form that may not be sent: not flat, too large, or one that asks for a secret (E-09, E-10)."""
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, Mapping) or len(properties) > MAX_PROPERTIES:
        raise ValueError(f"a form is an object of at most {MAX_PROPERTIES} properties")
    if not set(schema.get("required", ())) <= set(properties):
        raise ValueError("a form requires only what it has")
    for name, field in properties.items():
        if is_secret(name):
            raise ValueError(f"a form must not ask for a secret: {name}")
        if field.get("type") not in _KINDS:
            raise ValueError(f"a form is flat: {name}")


def fault(schema: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    """What is wrong with an answer, as a sentence; blank when nothing is. Absent fields are no fault here (`missing`)."""
    for name, field in schema["properties"].items():
        if name in content:
            reason = _KINDS[field["type"]](field, content[name])
            if reason:
                return f"{name} must be {reason}."
    return ""


def missing(schema: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    return any(content.get(name) is None for name in schema.get("required", ()))


def cleaned(schema: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """The declared fields alone, whole numbers of `integer` fields as integers: what a tool may rely on."""
    return {name: _whole(field, content[name]) for name, field in schema["properties"].items() if name in content}


def _whole(field: Mapping[str, Any], value: Any) -> Any:
    return int(value) if field["type"] == "integer" and isinstance(value, float) else value


def _string(field: Mapping[str, Any], value: Any) -> str:
    if not isinstance(value, str):
        return "a string"
    allowed = choices(field)
    if allowed is not None:
        return "" if value in allowed else f"one of {_listed(allowed)}"
    least, most = field.get("minLength", 0), min(field.get("maxLength", MAX_TEXT), MAX_TEXT)
    return "" if least <= len(value) <= most else f"a string of {least} to {most} characters"


def _number(field: Mapping[str, Any], value: Any) -> str:
    """A float counts where the published schema lists integers only (E-09)."""
    wants_whole = field["type"] == "integer"
    kind = "an integer" if wants_whole else "a number"
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (wants_whole and isinstance(value, float) and not value.is_integer())
    ):
        return kind
    least, most = field.get("minimum"), field.get("maximum")
    if least is not None and value < least:
        return f"{kind} of at least {least}"
    return f"{kind} of at most {most}" if most is not None and value > most else ""


def _boolean(field: Mapping[str, Any], value: Any) -> str:
    return "" if isinstance(value, bool) else "true or false"


def _selection(field: Mapping[str, Any], value: Any) -> str:
    allowed = choices(field.get("items", {})) or ()
    if not isinstance(value, list) or not all(isinstance(one, str) and one in allowed for one in value):
        return f"a list of these: {_listed(allowed)}"
    least, most = field.get("minItems", 0), min(field.get("maxItems", len(allowed)), len(allowed))
    if len(set(value)) != len(value):
        return "a list without repetitions"
    return "" if least <= len(value) <= most else f"a list of {least} to {most} items"


def choices(field: Mapping[str, Any]) -> Sequence[str] | None:
    """The values an enum of any spelling allows: `enum`, or `const` under `oneOf` or `anyOf`. None when the field is no enum."""
    if "enum" in field:
        return list(field["enum"])
    titled = field.get("oneOf", field.get("anyOf"))
    return None if titled is None else [one["const"] for one in titled]


def _listed(allowed: Sequence[str]) -> str:
    shown = ", ".join(str(one) for one in allowed[:20])
    return shown if len(allowed) <= 20 else f"{shown}, …"


_KINDS: Mapping[str, Callable[[Mapping[str, Any], Any], str]] = {
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
    "array": _selection,
}
