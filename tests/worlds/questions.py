"""Requests made of the registry and the routes: whatever is registered is asked, with values of hidden documents and of others.

Every list is the same for the same registry, routes and values, so that two servers can be asked in step.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from cmsmcp.api import routes
from cmsmcp.api.fields import Fields
from cmsmcp.core.capability import Capability
from cmsmcp.core.registry import Registry
from cmsmcp.core.schemas import input_schema

Values = Mapping[str, Sequence[str]]
Message = tuple[str, dict[str, Any]]
_ALIASES = {
    "page": ("slug", "id", "url"), "tag": ("term",), "fallback": ("lang",), "path": ("path",), "entry": ("slug", "id"), "q": ("query",),
    "updated_after": ("since",), "updated_before": ("since",), "source": ("lang",), "target": ("lang",),
}  # fmt: skip
_MIXED = 12
"""Values of each kind for an argument whose name says nothing."""


def pool(name: str, values: Values, schema: Mapping[str, Any] | None = None) -> list[Any]:
    """What an argument may be tried with."""
    schema = schema or {"type": "string"}
    if "enum" in schema:
        return list(schema["enum"])
    kind = schema.get("type")
    if kind == "integer":
        return [schema.get("minimum", 1), min(3, schema.get("maximum", 3)), schema.get("maximum", 100)]
    if kind == "boolean":
        return [True, False]
    if kind == "array":
        inner = pool(name, values, schema.get("items", {}))
        return [inner[:1], inner[:3], inner]
    for known in _ALIASES.get(name, (name,) if name in values else ()):
        if known in values:
            return [value for one in _ALIASES.get(name, (name,)) for value in values[one]]
    return [value for kind in values for value in values[kind][:_MIXED]]


def arguments(capability: Capability, values: Values, dice: random.Random) -> Iterator[dict[str, Any]]:
    """Each argument with each value, and some of them together."""
    schema = input_schema(capability)
    properties: Mapping[str, Any] = schema.get("properties", {})
    base = dict(capability.example)
    for name in schema.get("required", ()):
        base.setdefault(name, pool(name, values, properties[name])[0])
    needed = {name: base[name] for name in schema.get("required", ())}
    yield base
    for name, one in properties.items():
        yield from ({**needed, name: value} for value in pool(name, values, one))
    for _ in range(20 if properties else 0):
        chosen = dice.sample(sorted(properties), min(len(properties), dice.randint(2, 4)))
        yield needed | {name: dice.choice(pool(name, values, properties[name])) for name in chosen}


def messages(registry: Registry, values: Values) -> Iterator[Message]:
    """JSON-RPC methods and their parameters."""
    dice = random.Random(20)
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover", "ping"):
        yield method, {}
    for name, tool in registry.tools.items():
        yield from (("tools/call", {"name": name, "arguments": given}) for given in arguments(tool, values, dice))
    for name, prompt in registry.prompts.items():
        yield from (("prompts/get", {"name": name, "arguments": given}) for given in arguments(prompt, values, dice))
        for argument in input_schema(prompt).get("properties", {}):
            yield from _completions({"type": "ref/prompt", "name": name}, argument, values)
    for template in registry.resources:
        for variables in _variables(template.variables, values):
            yield "resources/read", {"uri": template.expand(variables)}
        for variable in template.variables:
            yield from _completions({"type": "ref/resource", "uri": template.template}, variable, values)


def uris(registry: Registry, values: Values) -> list[str]:
    """Every resource that could be subscribed to."""
    return [template.expand(variables) for template in registry.resources for variables in _variables(template.variables, values)]


def _variables(names: Sequence[str], values: Values) -> Iterator[dict[str, str]]:
    if not names:
        yield {}
    for name in names:
        others = {other: pool(other, values)[0] for other in names if other != name}
        yield from ({**others, name: value} for value in pool(name, values))


def _completions(ref: Mapping[str, str], argument: str, values: Values) -> Iterator[Message]:
    for typed in ("", "g", "ghost", "hush", "twin", "d", "f"):
        yield "completion/complete", {"ref": ref, "argument": {"name": argument, "value": typed}}
    for lang in ("de", "fr"):
        yield "completion/complete", {"ref": ref, "argument": {"name": argument, "value": ""}, "context": {"arguments": {"lang": lang}}}


def paths(kinds: Mapping[str, Fields], values: Values) -> Iterator[str]:
    """Of `/api`: every route, with every parameter that it knows."""
    for route in (*routes.FIXED.values(), *routes.BELOW.values(), routes.ENTRY, routes.ENTRIES):
        for template in _places(route.template, kinds, values):
            yield template
            kind = kinds.get(template.split("/")[2]) if route in (routes.ENTRY, routes.ENTRIES) else None
            whole = route is not routes.ENTRY or template.endswith(("/ghost", "/seen", "/links", "/twin"))
            yield from (f"{template}?{urlencode(given)}" for given in _parameters(route.parameters if whole else (), kind, values))


def _places(template: str, kinds: Mapping[str, Fields], values: Values) -> Iterator[str]:
    if "{slug}" in template:
        found = values["type"] if "content-types" in template else ["phantom-writer", "shared-name", "jonas-hofer", "nobody"]
        yield from (template.replace("{slug}", quote(one)) for one in found)
    elif "{entry}" in template:
        for kind in kinds:
            named = [one for one in values["id"] if f":{kind}:" in one]
            refs = [*named[:8], *(one.rpartition(":")[2].rpartition("/")[2] for one in named[:8])]
            yield from (f"/api/{kind}/{quote(ref)}" for ref in dict.fromkeys(refs))
    elif "{type}" in template:
        yield from (f"/api/{kind}" for kind in (*kinds, "nothing"))
    else:
        yield template


def _parameters(names: Sequence[str], kind: Fields | None, values: Values) -> Iterator[dict[str, str]]:
    for name in names:
        if name == "filters":
            yield from _filters(kind, values)
        elif name in ("fields", "select", "exclude"):
            yield from ({name: one} for one in (kind.names[:4] if kind else ()))
        elif name == "sort":
            yield from ({name: f"-{one}", "limit": "3"} for one in (kind.sorted[-4:] if kind else ()))
        elif name == "populate":
            yield from ({name: one, "limit": "100"} if "limit" in names else {name: one} for one in (kind.relations if kind else ()))
        else:
            tried = {
                "page": ["1", "2"], "limit": ["1", "2", "100"], "cursor": ["x"], "order": ["desc"], "format": ["html"],
                "author": values["author"][:6], "status": ["draft", "all", "scheduled", "published"],
            }.get(name, pool(name, values)[:8])  # fmt: skip
            more = {"q": "evening"} if "q" in names and name != "q" else {"locale": "de"} if name == "fallback" else {}
            yield from ({**more, name: one} for one in tried)


def _filters(kind: Fields | None, values: Values) -> Iterator[dict[str, str]]:
    for name in kind.filtered if kind else ():
        field = kind.by_name[name] if kind else None
        for operator in field.operators if field else ():
            value = "true" if operator == "null" else {"number": "42", "boolean": "true", "datetime": "2026-12-01"}.get(field.type, "ghost")
            yield {f"filters[{name}][{operator}]": value, "fields": "id"}
