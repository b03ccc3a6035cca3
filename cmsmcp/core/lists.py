"""The protocol's own lists: tools, resources, templates. Cut to what the caller may use, in a stable order, 100 to a page.

A listing varies by credential alone, never by connection or earlier calls (T-02, AU-10).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cmsmcp.core.capability import Call, Capability
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.entry import Toll, enter
from cmsmcp.core.exchange import Exchange
from cmsmcp.core.governed import new_call
from cmsmcp.core.invoke import is_usable
from cmsmcp.core.schemas import input_schema, output_schema
from cmsmcp.core.work import Work
from cmsmcp.governance.redaction import redact
from cmsmcp.protocol import errors, messages
from cmsmcp.protocol.cursor import decode_cursor, encode_cursor

PAGE_SIZE = 100
LIST_SECONDS = 10.0
DECLARED_TTL_MS = 300_000
LISTED_TTL_MS = 1_000

Entry = Mapping[str, Any]


def list_tools(exchange: Exchange) -> messages.Result:
    def build(_deadline: Deadline) -> list[Entry]:
        return [
            messages.tool(
                exchange.era,
                name=name,
                title=tool.title,
                description=tool.description,
                version=tool.version,
                input_schema=input_schema(tool),
                output_schema=output_schema(tool),
            )
            for name, tool in exchange.ports.registry().tools.items()
            if is_usable(exchange, name, tool)
        ]

    return listed(exchange, "tools", build, key="name", ttl_ms=DECLARED_TTL_MS)


def list_templates(exchange: Exchange) -> messages.Result:
    """Every registered template; one without variables names a concrete resource and is in resources/list too (F29)."""

    def build(_deadline: Deadline) -> list[Entry]:
        return [
            messages.template(
                uri_template=template.template,
                name=resource.name,
                title=resource.title,
                description=resource.description,
                mime_type=resource.mime_type,
                version=resource.version,
            )
            for template, resource in exchange.ports.registry().resources.items()
            if is_usable(exchange, resource.name, resource)
        ]

    return listed(exchange, "resourceTemplates", build, key="uriTemplate", ttl_ms=DECLARED_TTL_MS)


def list_resources(exchange: Exchange) -> messages.Result:
    """Concrete resources: those without variables, then what each template's `listing` yields."""

    def build(deadline: Deadline) -> list[Entry]:
        entries: list[Entry] = []
        for template, resource in exchange.ports.registry().resources.items():
            if not is_usable(exchange, resource.name, resource):
                continue
            if resource.listing is not None:
                entries += _yielded(resource, new_call(exchange, deadline, resource.scope))
            elif not template.variables:
                own = {"uri": template.template, "name": resource.name, "title": resource.title, "description": resource.description}
                entries.append(messages.resource(own, resource.mime_type))
        return entries

    return listed(exchange, "resources", build, key="uri", ttl_ms=LISTED_TTL_MS)


def listed(exchange: Exchange, name: str, build: Callable[[Deadline], list[Entry]], *, key: str, ttl_ms: int) -> messages.Result:
    """One page of what `build` gives, under `name`; `key` is what tells its entries apart."""
    permit = enter(exchange, Toll(seconds=LIST_SECONDS))
    deadline = Deadline(LIST_SECONDS, left=exchange.flight.has_left)
    work = Work(lambda: build(deadline), permit.release, permit.keep)
    try:
        entries = work.run(deadline, exchange.flight)
    finally:
        work.leave()
    page, next_cursor = cut(entries, exchange.request.params.get("cursor"), key)
    return messages.complete(exchange.era, exchange.ports.version, messages.page(name, page, next_cursor), ttl_ms=ttl_ms)


def _yielded(resource: Capability, call: Call) -> list[Entry]:
    entries: list[Entry] = []
    for entry in resource.listing(call) if resource.listing is not None else ():
        call.deadline.check()
        entries.append(messages.resource(redact(entry), resource.mime_type))
    return entries


def cut(entries: Sequence[Entry], cursor: Any, key: str) -> tuple[Sequence[Entry], str | None]:
    """One page, and the cursor of the next or None. A cursor keeps its place when entries before it come or go (G-01)."""
    start = 0 if cursor is None else _start(entries, cursor, key)
    page = entries[start : start + PAGE_SIZE]
    more = start + PAGE_SIZE < len(entries)
    return page, encode_cursor(key, [start + PAGE_SIZE, page[-1][key]]) if more else None


def _start(entries: Sequence[Entry], cursor: Any, key: str) -> int:
    try:
        offset, last = decode_cursor(key, cursor, (int, str))
    except errors.InvalidArguments:
        message = "cursor is not one this list returned; start again without it."
        raise errors.ProtocolError(message, code=errors.INVALID_PARAMS) from None
    if 0 < offset <= len(entries) and entries[offset - 1][key] == last:
        return offset
    moved = next((index for index, entry in enumerate(entries) if entry[key] == last), None)
    return min(offset, len(entries)) if moved is None else moved + 1
