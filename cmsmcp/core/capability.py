"""What a tool, resource or prompt declares about itself. A declaration is all it takes: nothing else lists capabilities.

marshmallow schemas are the source of input and output; JSON Schema is derived from them (`core.schemas`). A registration may
carry a literal JSON Schema instead (`input_schema`, `output_schema`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.dialogue import SILENCE, Dialogue, Question
from cmsmcp.core.ports import Caller, Site, Visibility

if TYPE_CHECKING:
    from marshmallow import Schema

DEFAULT_TIMEOUT = 10.0
DEFAULT_MAX_RESULT = 262_144


@dataclass(frozen=True, slots=True)
class Call:
    """What a capability gets beside its arguments. `visibility(status)` applies the rule for unpublished documents.

    `visibility(None)` is published only; naming a status the caller may not see raises ScopeRefused. `dialogue` is the way to the
    client while the work runs: only for capabilities that declare `talks`. `services` are those that serving needs beside the site: each
    name with what is wrong with it, blank when nothing is.
    """

    site: Site
    caller: Caller
    deadline: Deadline
    visibility: Callable[[str | None], Visibility]
    dialogue: Dialogue = SILENCE
    services: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Text:
    """What a resource returns when its media type differs from file to file."""

    text: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class Blocks:
    """What a tool declared with `blocks` returns: content blocks as MCP has them; `is_error` for a failure the model should see."""

    content: Sequence[Mapping[str, Any]]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Blob:
    """What a resource returns that is not text."""

    data: bytes
    mime_type: str


Completer = Callable[[str, Mapping[str, str], Call], Iterable[str]]
"""Candidates for an argument, in a stable order: what was typed so far, the other arguments given, the call. It may narrow them by what
was typed or leave that to `core.completion`, which ranks them and sends the first 100 (C-01)."""


@dataclass(frozen=True, slots=True)
class Capability:
    """One registered capability (F31). `timeout` in seconds, `max_result` in bytes of one copy of the result.

    `uri` is None for a tool, an RFC 6570 template for a resource. `listing` yields the concrete resources of a template:
    dicts with `uri`, `name`, `title`, `description`, optional `annotations`. A resource's function returns `Text`, or a
    mapping that is dumped through `output` and written as JSON (`indent`: by two spaces).

    `isolated`: its work runs in a child that is killed at the deadline (`core.placing`), because it computes without looking up, for
    longer than others may wait. Such a one neither talks nor returns Blocks.

    `blocks`: a tool that has no output schema, because it returns Blocks.

    A prompt's `input` has string fields alone, each described; its function returns a text, or messages as MCP has them.

    `talks`: it may use `Call.dialogue`. `requires`: client capabilities it cannot do without (E-03). `task`: whether it can run as
    a task where the client allows that (`optional`), only so (`required`), or not; `asks_first` are questions that it will `ask` and
    that are put before there is a task. `complete` has a Completer by argument or variable. `topics` gives what of the site a
    resource depends on (`sharing.Change`), from its variables.
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
    is_prompt: bool = False
    blocks: bool = False
    isolated: bool = False
    talks: bool = False
    requires: Mapping[str, Any] = field(default_factory=dict)
    task: str | None = None
    asks_first: Mapping[str, Question] = field(default_factory=dict)
    complete: Mapping[str, Completer] = field(default_factory=dict)
    topics: Callable[[Mapping[str, str]], Iterable[str]] | None = None

    @property
    def is_tool(self) -> bool:
        return self.uri is None and not self.is_prompt

    @property
    def is_resource(self) -> bool:
        return self.uri is not None


def tool(**declaration: Any) -> Callable[[Callable[..., Any]], Capability]:
    """Declare a tool. The function's name is the wire name, its docstring the description."""
    return _declare(declaration)


def resource(uri: str, **declaration: Any) -> Callable[[Callable[..., Any]], Capability]:
    """Declare a resource or resource template at `uri`; the function gets the template's variables as its arguments."""
    return _declare({"uri": uri, **declaration})


def prompt(**declaration: Any) -> Callable[[Callable[..., Any]], Capability]:
    """Declare a prompt. The function's name is the wire name, its docstring the description."""
    return _declare({"is_prompt": True, **declaration})


def _declare(declaration: dict[str, Any]) -> Callable[[Callable[..., Any]], Capability]:
    def build(run: Callable[..., Any]) -> Capability:
        description = " ".join((run.__doc__ or "").split())
        return Capability(**{"name": run.__name__, "run": run, "description": description, **declaration})

    return build
