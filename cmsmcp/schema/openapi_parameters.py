"""The parameters of `/api` as OpenAPI has them: those that every type has, and for each type its fields with their operators.

A filter is one parameter by field, in the style deepObject: `filters[title][eq]=…`. Each has an example that the door takes, but for
`cursor`, which only the door can make up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from cmsmcp.api.fields import Field, Fields
from cmsmcp.api.parameters import DEFAULT_LIMIT, FORMATS, MAX_DEPTH, MAX_FALLBACKS, MAX_LIMIT, MAX_POPULATED
from cmsmcp.core.entries import MAX_ORDERS, MAX_PAGES
from cmsmcp.core.ports import STATUSES

_TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$"}
_MOST = 2**63 - 1
_VALUES: Mapping[str, Mapping[str, Any]] = {
    "number": {"type": "number"}, "integer": {"type": "integer", "minimum": -_MOST, "maximum": _MOST}, "boolean": {"type": "boolean"},
    "datetime": {"anyOf": [{"type": "string", "format": one} for one in ("date", "date-time")], "examples": ["2026-03-06"]},
}  # fmt: skip
_LISTED: Mapping[str, str] = {
    "number": r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", "integer": "-?[0-9]+",
    "datetime": r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9:]{5})?)?",
}  # fmt: skip
_LISTED_TEXT = r"([^\\,\u0000]|\\[\\,])+"
_SAMPLES: Mapping[str, Any] = {"number": 1.5, "integer": 1, "boolean": True, "datetime": "2026-03-06", "relation": "an-example"}
_TOLD = {
    "eq": "equal", "ne": "not equal, or without a value", "in": r"one of these, commas between (`\,` for a comma in a value)",
    "nin": "none of these, commas between", "lt": "less", "lte": "less or equal", "gt": "greater", "gte": "greater or equal",
    "contains": "holds this text", "null": "true: without a value; false: with one",
}  # fmt: skip


def shared_parameters(locales: Sequence[str], default: str) -> dict[str, Any]:
    """Those that are alike for all types, by the name they are referred to."""
    code = _enum(locales)
    found = {
        "page": _query("page", {"type": "integer", "minimum": 1, "maximum": MAX_PAGES, "default": 1}, "Not together with cursor."),
        "limit": _query("limit", {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT}, "Entries on a page."),
        "cursor": _query("cursor", {"type": "string", "minLength": 1}, "`next_cursor` of the page before, everything else being the same."),
        "order": _query("order", {"type": "string", "enum": ["asc", "desc"]}, "Direction of a sort by one field without a sign."),
        "author": _query("author", _TEXT, "Entries of this author."),
        "locale": _query("locale", code, "The default one unless given."),
        "fallback": _listed("fallback", code, MAX_FALLBACKS, "What to serve where the locale asked for is missing. Needs locale."),
        "format": _query("format", {"type": "string", "enum": list(FORMATS), "default": FORMATS[0]}, "How richtext is sent."),
        "status": _query(
            "status", {"type": "string", "enum": [*STATUSES, "all"], "default": "published"},
            "Another than published needs the scope read:unpublished and the right to read documents.",
        ),
        "q": _query("q", {"type": "string", "minLength": 1, "maxLength": 1000, "pattern": r"\S"}, "Words to look for.", required=True),
    }  # fmt: skip
    examples = {
        "page": 1, "limit": 5, "order": "desc", "author": "Ada Lovelace", "locale": default, "fallback": [default], "format": "html",
        "status": "published", "q": "telescope",
    }  # fmt: skip
    return {name: {**declared, "example": examples[name]} if name in examples else declared for name, declared in found.items()}


def own_parameters(name: str, fields: Fields, relations: Sequence[str]) -> dict[str, Any]:
    """Those that name fields of one type, which is `name`, by the name they are referred to. `relations` are the paths of populate."""
    names = list(fields.names)
    signed = [sign + field for field in fields.sorted for sign in ("", "-")]
    rest = [field for field in names if field != "id"]
    found = {
        "fields": _listed("fields", _enum(names), None, "Send these alone, and id. One of fields, select and exclude.", names[:2]),
        "select": _listed("select", _enum(names), None, "The same as fields.", names[:2]),
        "exclude": _listed("exclude", _enum(rest), None, "Send all but these.", rest[:1]),
    }
    if signed:
        found["sort"] = _listed("sort", _enum(signed), MAX_ORDERS, "`-` for descending.", signed[1:2])
    if relations:
        told = f"Relations to give whole, at most {MAX_DEPTH} deep; among the fields asked for."
        found["populate"] = _listed("populate", _enum(relations), MAX_POPULATED, told, relations[:1])
    return {f"{name}.{parameter}": declared for parameter, declared in found.items()}


def entry_parameters(name: str, own: Collection[str]) -> list[str]:
    """Of one entry of the type, by the names they are referred to; `own` are those in `own_parameters`."""
    named = [f"{name}.{parameter}" for parameter in ("fields", "select", "exclude", "populate")]
    return ["locale", "fallback", "format", "status", *(one for one in named if one in own)]


def list_parameters(name: str, own: Collection[str], fields: Fields) -> list[str | dict[str, Any]]:
    """Of a collection; the filters as they are."""
    found: list[str | dict[str, Any]] = ["page", "limit", "cursor"]
    if f"{name}.sort" in own:
        found += [f"{name}.sort", "order"]
    found += [_filter(fields.by_name[field]) for field in fields.filtered]
    if fields.by_name["author"].operators:
        found.append("author")
    return [*found, *entry_parameters(name, own)]


def filter_component(field: Field) -> str:
    """The name of what can be asked of a field like this one."""
    if field.type in ("number", "datetime", "boolean", "richtext"):
        return "api.IntegerFilter" if field.whole else f"api.{field.type.capitalize()}Filter"
    if field.type == "relation":
        return "api.RelationFilter"
    return "api.TextFilter" if "eq" in field.operators else "api.PresenceFilter"


def filter_schemas(every: Sequence[Fields]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The components that `filter_component` names, each once."""
    seen = set()
    for fields in every:
        for name in fields.filtered:
            component = filter_component(fields.by_name[name])
            if component not in seen:
                seen.add(component)
                yield component, _operators(fields.by_name[name])


def _operators(field: Field) -> dict[str, Any]:
    type_ = "integer" if field.whole else field.type
    one = _LISTED.get(type_, _LISTED_TEXT)
    several = {"type": "string", "pattern": f"^{one}(,{one})*$"}
    special: Mapping[str, Mapping[str, Any]] = {"null": {"type": "boolean"}, "in": several, "nin": several, "contains": _TEXT}
    properties = {
        operator: {**special.get(operator, _VALUES.get(type_, _TEXT)), "description": _TOLD[operator]} for operator in field.operators
    }
    return {"type": "object", "properties": properties, "additionalProperties": False, "minProperties": 1}


def _filter(field: Field) -> dict[str, Any]:
    rest = {"schema": {"$ref": f"#/components/schemas/{filter_component(field)}"}, "example": _sample(field)}
    return {"name": f"filters[{field.name}]", "in": "query", "style": "deepObject", "explode": True, **rest}


def _sample(field: Field) -> dict[str, Any]:
    """An operator with a value that the door takes."""
    operator = field.operators[0]
    return {operator: _SAMPLES.get("integer" if field.whole else field.type, "telescope") if operator != "null" else False}


def _enum(values: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _query(name: str, schema: Mapping[str, Any], description: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": dict(schema), **more}


def _listed(name: str, items: Mapping[str, Any], most: int | None, description: str, example: Sequence[str] = ()) -> dict[str, Any]:
    """Values with commas between, none of them twice."""
    schema: dict[str, Any] = {"type": "array", "items": dict(items), "minItems": 1, "uniqueItems": True}
    if most is not None:
        schema["maxItems"] = most
    rest = {"style": "form", "explode": False, "schema": schema, "example": list(example)}
    return {"name": name, "in": "query", "description": description, **rest}
