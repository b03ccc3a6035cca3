"""What a tool or resource declares about itself. A declaration is all it takes: nothing else lists capabilities.

marshmallow schemas are the source of input and output; JSON Schema is derived from them (`core.schemas`). A registration may
carry a literal JSON Schema instead (`input_schema`, `output_schema`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import Caller, Site, Visibility

if TYPE_CHECKING:
    from marshmallow import Schema

DEFAULT_TIMEOUT = 10.0
DEFAULT_MAX_RESULT = 262_144


@dataclass(frozen=True, slots=True)
class Call:
    """What a capability gets beside its arguments. `visibility(status)` applies the rule for unpublished documents.

    `visibility(None)` is published only; naming a status the caller may not see raises ScopeRefused.
    """

    site: Site
    caller: Caller
    deadline: Deadline
    visibility: Callable[[str | None], Visibility]


@dataclass(frozen=True, slots=True)
class Text:
    """What a resource returns when its media type differs from file to file."""

    text: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class Capability:
    """One registered capability (F31). `timeout` in seconds, `max_result` in bytes of the encoded result.

    `uri` is None for a tool, an RFC 6570 template for a resource. `listing` yields the concrete resources of a template:
    dicts with `uri`, `name`, `title`, `description`, optional `annotations`. A resource's function returns `Text`, or a
    mapping that is dumped through `output` and written as JSON (`indent`: by two spaces).
    """

    name: str
    run: Callable[[Mapping[str, Any], Call], Any]
    scope: str
    audit: str
    version: str = "1.0"
    title: str = ""
    description: str = ""
    input: type[Schema] | None = None
    output: type[Schema] | None = None
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    example: Mapping[str, Any] = field(default_factory=dict)
    read_only: bool = True
    owner: str | None = None
    timeout: float = DEFAULT_TIMEOUT
    max_result: int = DEFAULT_MAX_RESULT
    enabled: bool = True
    uri: str | None = None
    mime_type: str = "application/json"
    indent: bool = False
    listing: Callable[[Call], Iterable[Mapping[str, Any]]] | None = None
    hint: str = "Ask for less."

    @property
    def is_tool(self) -> bool:
        return self.uri is None


def tool(**declaration: Any) -> Callable[[Callable[..., Any]], Capability]:
    """Declare a tool. The function's name is the wire name, its docstring the description."""
    return _declare(declaration)


def resource(uri: str, **declaration: Any) -> Callable[[Callable[..., Any]], Capability]:
    """Declare a resource or resource template at `uri`; the function gets the template's variables as its arguments."""
    return _declare({"uri": uri, **declaration})


def _declare(declaration: dict[str, Any]) -> Callable[[Callable[..., Any]], Capability]:
    def build(run: Callable[..., Any]) -> Capability:
        description = " ".join((run.__doc__ or "").split())
        return Capability(**{"name": run.__name__, "run": run, "description": description, **declaration})

    return build
