"""The audit record: one flat mapping of strings for each intent, outcome and refusal.

Knows the fields (`FIELDS` is the public contract) and what may stand in them. Must not know where records go: the store adds
the time, and reason and code of a refusal that it decides itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cmsmcp.core.ports import Caller

MAX_VALUE_BYTES = 1024
MAX_KEPT = 256
MAX_SHAPE_ENTRIES = 32
MAX_SHAPE_NAME = 64

FIELDS = (
    ("event", "id of the call; its intent and its outcome share it"),
    ("phase", "intent (admitted, about to run), outcome (how it ended) or refusal (never ran)"),
    ("site", "name of the site"),
    ("client", "key of the rate limit: a token or an address"),
    ("subject", "person or system the token names, if any"),
    ("token", "id (jti) of the token, if any; never the token"),
    ("method", "JSON-RPC method or HTTP route"),
    ("capability", "tool, resource or route asked for"),
    ("scope", "scope it needs"),
    ("category", "audit category the capability declares"),
    ("decision", "allowed or refused"),
    (
        "reason",
        "why it was refused or failed: rate, concurrency, streams, revoked, scope, arguments, timeout, size, input, cancelled, error …",
    ),
    ("code", "error code the caller got (docs/errors.md)"),
    ("duration_ms", "milliseconds the work took, with three decimals"),
    ("result_bytes", "size of the encoded result"),
    ("arguments", "names and types of the arguments; their redacted values with governance.audit_arguments"),
)
OURS = frozenset({"event", "phase", "decision", "code", "duration_ms", "result_bytes"})
"""Made here, of digits and plain words: nothing to clean."""
NAMED = frozenset({"client", "token"})
"""Who asked, by the id of a token or an address. An id opens nothing, and a record without it would accuse nobody; so it stays."""

# Whatever could end a line or steer a terminal in some reader: C0, DEL, C1 (with U+0085), line and paragraph separators,
# bidirectional controls, lone surrogates (C057).
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

# Words such as `tools/call` hold no secret. Redaction costs a tenth of a start to load, and the first reply needs none of it.
_PLAIN = re.compile(r"[a-z_/:.-]{1,40}")


@dataclass(frozen=True, slots=True)
class Event:
    """What was asked for. `arguments` are as the client sent them."""

    event_id: str
    method: str
    capability: str = ""
    scope: str = ""
    category: str = ""
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """How an admitted call ended: `reason` and `code` stay empty when it went well."""

    reason: str = ""
    code: int | None = None
    duration_ms: float = 0.0
    result_bytes: int | None = None


class AuditRecords:
    """Builds the records of one site. With `arguments`, redacted argument values are kept too, cut to 1 KiB."""

    def __init__(self, site: str, *, arguments: bool = False) -> None:
        self._site = site
        self._arguments = arguments

    def intent(self, caller: Caller, event: Event) -> dict[str, str]:
        return self._record("intent", caller, event, decision="allowed")

    def refused(self, intent: Mapping[str, str]) -> dict[str, str]:
        """The refusal of what `intent` describes, for a store that decides between the two; it adds reason and code."""
        return {**intent, "phase": "refusal", "decision": "refused"}

    def refusal(self, caller: Caller, event: Event, *, reason: str, code: int) -> dict[str, str]:
        return self._record("refusal", caller, event, decision="refused", reason=reason, code=str(code))

    def outcome(self, caller: Caller, event: Event, result: Result) -> dict[str, str]:
        """The end of a call; arguments stand in its intent and are not repeated."""
        bare = Event(event.event_id, event.method, event.capability, event.scope, event.category)
        return self._record(
            "outcome", caller, bare,
            decision="allowed",
            reason=result.reason,
            code="" if result.code is None else str(result.code),
            duration_ms=f"{result.duration_ms:.3f}",
            result_bytes="" if result.result_bytes is None else str(result.result_bytes),
        )

    def _record(self, phase: str, caller: Caller, event: Event, **more: str) -> dict[str, str]:
        record = {
            "event": event.event_id,
            "phase": phase,
            "site": self._site,
            "client": caller.client,
            "subject": caller.subject or "",
            "token": caller.token_id or "",
            "method": event.method,
            "capability": event.capability,
            "scope": event.scope,
            "category": event.category,
            "arguments": "" if event.arguments is None else self._describe(event.arguments),
            **more,
        }
        return {name: value if name in OURS else _kept(value, hide=name not in NAMED) for name, value in record.items() if value}

    def _describe(self, arguments: Mapping[str, Any]) -> str:
        if self._arguments:
            from cmsmcp.governance.redaction import redact

            return json.dumps(redact(_shortened(arguments)), default=str)
        return json.dumps(shape(arguments))


def _kept(text: str, *, hide: bool) -> str:
    """The same few names and ids come with every call; what was cleaned once is not cleaned again."""
    return _cleaned(text, hide) if len(text) <= MAX_KEPT else printable(text, hide=hide)


@lru_cache(maxsize=1024)
def _cleaned(text: str, hide: bool) -> str:
    return printable(text, hide=hide)


def printable(text: str, *, hide: bool = True) -> str:
    """At most 1 KiB of UTF-8 on one line: redacted if `hide`, control characters escaped as `\\u000a`, and marked if cut."""
    if _PLAIN.fullmatch(text):
        return text
    kept = text[: 4 * MAX_VALUE_BYTES]
    if hide:
        from cmsmcp.governance.redaction import redact

        kept = redact(kept)
    clean = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", kept)
    encoded = clean.encode()
    if len(encoded) <= MAX_VALUE_BYTES and len(text) <= 4 * MAX_VALUE_BYTES:
        return clean
    mark = f" [cut, {len(text)} characters]"
    return encoded[: MAX_VALUE_BYTES - len(mark)].decode(errors="ignore") + mark


def shape(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Names and types of arguments, with lengths, but no values: `{"query": "string(12)", "limit": "number"}`."""
    return {str(name)[:MAX_SHAPE_NAME]: _type_of(value) for name, value in list(arguments.items())[:MAX_SHAPE_ENTRIES]}


def _type_of(value: Any) -> str:
    if isinstance(value, str):
        return f"string({len(value)})"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return f"object({len(value)})"
    if isinstance(value, list | tuple):
        return f"array({len(value)})"
    return "null"


def _shortened(value: Any, depth: int = 0) -> Any:
    """Enough of the arguments to fill a record, so that 8 MiB of them cost nothing."""
    if isinstance(value, str):
        return value if len(value) <= 2 * MAX_VALUE_BYTES else value[: 2 * MAX_VALUE_BYTES] + f" [cut, {len(value)} characters]"
    if depth >= 8:
        return "[cut, too deep]"
    if isinstance(value, Mapping):
        return {str(name)[:MAX_SHAPE_NAME]: _shortened(item, depth + 1) for name, item in list(value.items())[:MAX_SHAPE_ENTRIES]}
    if isinstance(value, list | tuple):
        return [_shortened(item, depth + 1) for item in value[:MAX_SHAPE_ENTRIES]]
    return value
