"""Which revision a request speaks, as ordered steps of which the first failure wins (docs/rules.md, Revisions).

Two eras: *modern* requests (2026-07-28) carry their revision and capabilities in `params._meta`; *legacy* ones rely on an earlier
`initialize`. Works the same with headers (HTTP) and without (stdio, `headers=None`). Knows no method table and no session store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cmsmcp.protocol.errors import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, ProtocolError
from cmsmcp.protocol.headers import VERSION_HEADER, disagreement
from cmsmcp.protocol.jsonrpc import Request

MODERN = "2026-07-28"
LATEST_LEGACY = "2025-11-25"
WITHOUT_STRUCTURE = "2025-03-26"
LEGACY = (LATEST_LEGACY, "2025-06-18", WITHOUT_STRUCTURE)
SUPPORTED = (MODERN, *LEGACY)

META_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = META_PREFIX + "protocolVersion"
CAPABILITIES_KEY = META_PREFIX + "clientCapabilities"
LOG_LEVEL_KEY = META_PREFIX + "logLevel"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Of log messages, the least urgent first."""
MAX_SHOWN = 200
"""Characters of a stranger's text that an error repeats."""
MODERN_ONLY = frozenset({"server/discover", "subscriptions/listen"})


@dataclass(frozen=True, slots=True)
class Era:
    """How one request is served. `modern` means it carried its own envelope.

    A client that initialised with 2026-07-28 is not modern, yet its `revision` is: it gets legacy semantics plus the additive
    result fields. `client_capabilities` come from the envelope, so they hold for this request alone.
    """

    revision: str
    modern: bool = False
    client_capabilities: Mapping[str, Any] = field(default_factory=dict)

    @property
    def additive(self) -> bool:
        """Whether results carry the fields 2026-07-28 added (`resultType`, cache hints)."""
        return self.revision == MODERN

    @property
    def structured(self) -> bool:
        """Whether the revision knows `outputSchema` and `structuredContent`."""
        return self.revision != WITHOUT_STRUCTURE


@dataclass(frozen=True, slots=True)
class Refusal:
    """A step that failed: over HTTP always status 400 with a JSON-RPC error body."""

    code: int
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)


def classify(request: Request, headers: Mapping[str, str] | None, bound: str | None) -> Era | Refusal:
    """The era of a request, or why it has none.

    `headers` have lower-case names; None on stdio. `bound` is the revision an earlier `initialize` negotiated for this process
    or session, if any.
    """
    meta = request.params.get("_meta")
    enveloped = is_enveloped(request)
    named = headers.get(VERSION_HEADER, "").strip() if headers is not None else ""
    if request.method == "initialize" and not enveloped:
        return Era(LATEST_LEGACY)
    if enveloped or request.method in MODERN_ONLY or is_modern_without_envelope(headers, bound):
        return _modern(request, meta if isinstance(meta, dict) else {}, headers)
    if named:
        return _legacy_by_header(named)
    if bound is not None:
        return Era(bound)
    if headers is not None:
        return Era(WITHOUT_STRUCTURE)
    if request.method == "ping":
        return Era(LATEST_LEGACY)
    message = f"Send initialize first, or name {MODERN} in params._meta[{VERSION_KEY!r}]."
    return Refusal(INVALID_PARAMS, message, {"supported": list(SUPPORTED)})


def is_enveloped(request: Request) -> bool:
    """Whether a request names its own revision; any other `_meta` proves nothing."""
    meta = request.params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def negotiate(params: Mapping[str, Any]) -> str:
    """The revision a bare `initialize` gets: the one it names if we speak it, else the newest that has a handshake."""
    requested = params.get("protocolVersion")
    if not isinstance(requested, str):
        raise ProtocolError("initialize needs protocolVersion, a string.", code=INVALID_PARAMS, data={"supported": list(SUPPORTED)})
    return requested if requested in SUPPORTED else LATEST_LEGACY


def declared(params: Mapping[str, Any]) -> frozenset[str]:
    """The client capabilities of a bare `initialize` that a server may need later, by name. What is malformed counts as absent.

    `elicitation` stands for forms, which an empty object declares too, `elicitation-url` for the other mode (E-02).
    """
    capabilities = params.get("capabilities")
    if not isinstance(capabilities, Mapping):
        return frozenset()
    found = {name for name in ("elicitation", "roots", "sampling") if isinstance(capabilities.get(name), Mapping)}
    modes = capabilities["elicitation"] if "elicitation" in found else {}
    if isinstance(modes.get("url"), Mapping):
        found.add("elicitation-url")
        if not isinstance(modes.get("form"), Mapping):
            found.remove("elicitation")
    return frozenset(found)


def refuse_version(headers: Mapping[str, str] | None) -> Refusal | None:
    """The refusal of a header that names a revision nobody speaks: all that holds for what is no request (notifications, GET)."""
    named = headers.get(VERSION_HEADER, "").strip() if headers is not None else ""
    found = _legacy_by_header(named) if named else None
    return found if isinstance(found, Refusal) else None


def is_modern_without_envelope(headers: Mapping[str, str] | None, bound: str | None) -> bool:
    """Whether the header alone makes a message modern: the exception is a session that was initialised with that revision."""
    return headers is not None and headers.get(VERSION_HEADER, "").strip() == MODERN and bound != MODERN


def batches_allowed(headers: Mapping[str, str] | None, bound: str | None) -> bool:
    """Arrays exist in 2025-03-26 alone, named by the header or negotiated before (A-06, ST-11)."""
    named = headers.get(VERSION_HEADER, "").strip() if headers is not None else ""
    return (named or bound) == WITHOUT_STRUCTURE


def _modern(request: Request, meta: Mapping[str, Any], headers: Mapping[str, str] | None) -> Era | Refusal:
    missing = [key for key, kind in ((VERSION_KEY, str), (CAPABILITIES_KEY, dict)) if not isinstance(meta.get(key), kind)]
    if missing:
        return Refusal(INVALID_PARAMS, f"params._meta needs {' and '.join(missing)}.", {"missing": missing, "supported": [MODERN]})
    if meta.get(LOG_LEVEL_KEY) not in (None, *LEVELS):
        return Refusal(INVALID_PARAMS, f"params._meta[{LOG_LEVEL_KEY!r}] must be one of {', '.join(LEVELS)}.")
    version = meta[VERSION_KEY]
    if headers is not None:
        found = disagreement(headers, version, request.method, request.params)
        if found:
            return Refusal(HEADER_MISMATCH, found)
    if version != MODERN:
        hint = " It needs initialize, without the envelope." if version in LEGACY else ""
        data = {"supported": [MODERN], "requested": version[:MAX_SHOWN]}
        return Refusal(UNSUPPORTED_VERSION, f"Unsupported protocol version.{hint}", data)
    return Era(MODERN, modern=True, client_capabilities=meta[CAPABILITIES_KEY])


def _legacy_by_header(named: str) -> Era | Refusal:
    if named in SUPPORTED:
        return Era(named)
    return Refusal(UNSUPPORTED_VERSION, "Unsupported protocol version.", {"supported": list(SUPPORTED), "requested": named[:MAX_SHOWN]})
