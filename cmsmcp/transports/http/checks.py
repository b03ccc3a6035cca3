"""What the HTTP door asks of a request before anything reads its message. The order is the door's (docs/rules.md, HTTP order of checks)."""

from __future__ import annotations

from flask import request

from cmsmcp.protocol import errors
from cmsmcp.protocol.eras import MODERN
from cmsmcp.protocol.mediatypes import accepts, choose, names, prefers
from cmsmcp.protocol.sse import EVENT_STREAM
from cmsmcp.transports.http.replies import JSON, Refusal, rpc_refusal

SESSION = "Mcp-Session-Id"
SINGLE = ("MCP-Protocol-Version", "Mcp-Method", SESSION)
LISTEN = "subscriptions/listen"


def names_modern() -> bool:
    """Whether the header says 2026-07-28."""
    return bool(request.environ.get("HTTP_MCP_PROTOCOL_VERSION", "").strip() == MODERN)


def wants_stream() -> bool:
    """Whether a GET is for an event stream.

    A client within a session wants a stream even if it could take JSON; without one it may be Plank's reader of metadata.
    """
    accept = request.environ.get("HTTP_ACCEPT", "")
    return names(accept, EVENT_STREAM) and ("HTTP_MCP_SESSION_ID" in request.environ or not accepts(accept, JSON))


def takes_events() -> bool:
    """Whether the answer to a POST may be an event stream without anybody having asked for one: the client names that type, or no other."""
    accept = request.environ.get("HTTP_ACCEPT", "")
    return names(accept, EVENT_STREAM) or (bool(accept.strip()) and not accepts(accept, JSON))


def check_media_types() -> str:
    """The type of the answer: JSON wherever it is admitted (C019), unless a client of MCP names event streams first. Refusals are JSON.

    A session or a revision tells a client of MCP from a script, which may not read event streams even if it says so.
    """
    if request.mimetype != JSON:
        raise rpc_refusal(415, "Send the body with Content-Type: application/json.")
    if request.environ.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
        raise rpc_refusal(415, "Send the body without Content-Encoding.")
    if request.environ.get("HTTP_TRANSFER_ENCODING", "chunked").strip().lower() != "chunked":
        raise rpc_refusal(415, "Send the body with no Transfer-Encoding but chunked.")
    accept = request.environ.get("HTTP_ACCEPT", "")
    knows_mcp = "HTTP_MCP_SESSION_ID" in request.environ or "HTTP_MCP_PROTOCOL_VERSION" in request.environ
    chosen = choose(accept, (EVENT_STREAM, JSON) if knows_mcp and prefers(accept, EVENT_STREAM, JSON) else (JSON, EVENT_STREAM))
    if chosen is None:
        raise rpc_refusal(406, "Replies are application/json or text/event-stream; allow one of them in Accept.")
    # The header must agree with the body, or the service refuses; so this is known before anything is opened.
    if request.environ.get("HTTP_MCP_METHOD", "").strip() == LISTEN and names_modern() and choose(accept, (EVENT_STREAM,)) is None:
        raise rpc_refusal(406, f"{LISTEN} is answered with text/event-stream; allow it in Accept.")
    return chosen


def check_single_headers() -> None:
    """WSGI folds repeated headers with commas; of two versions or methods neither is the right one."""
    for name in SINGLE:
        if "," in request.environ.get("HTTP_" + name.upper().replace("-", "_"), ""):
            raise rpc_refusal(400, f"{name} was sent more than once.", errors.HEADER_MISMATCH)


def read_body(limit: int) -> bytes:
    """The whole body, sized or chunked; never more than one byte above `limit` in memory (W-05)."""
    environ = request.environ
    length = environ.get("CONTENT_LENGTH", "")
    chunked = not length and (environ.get("wsgi.input_terminated") or "HTTP_TRANSFER_ENCODING" in environ)
    wanted = min(int(length), limit + 1) if length else limit + 1 if chunked else 0
    try:
        body: bytes = environ["wsgi.input"].read(wanted) if wanted else b""
    except TimeoutError as error:
        raise rpc_refusal(408, "The body came too slowly.", errors.PARSE_ERROR) from error
    except Exception as error:  # every server raises its own when a body breaks off
        raise rpc_refusal(400, "The body could not be read.", errors.PARSE_ERROR) from error
    if len(body) > limit:
        raise _too_large(limit)
    if length and len(body) < wanted:
        raise rpc_refusal(400, "The body ended before its announced length.", errors.PARSE_ERROR)
    return body


def _too_large(limit: int) -> Refusal:
    return rpc_refusal(413, f"The request is larger than {limit} bytes.")
