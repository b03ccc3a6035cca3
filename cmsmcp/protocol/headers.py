"""Whether the HTTP headers of a modern request agree with its body (docs/rules.md, Revisions). Names are lower-case, values untrusted:
nothing is ever authorised from them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

VERSION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"

NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}

_SENTINEL = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
_LEGAL = re.compile(r"[\x20-\x7e]*")


def disagreement(headers: Mapping[str, str], version: str, method: str, params: Mapping[str, Any]) -> str | None:
    """One line on the first header that is missing, malformed or unlike the body; None when all agree."""
    for header, expected in ((VERSION_HEADER, version), (METHOD_HEADER, method)):
        found = headers.get(header, "").strip()
        if found != expected:
            return f"{_shown(header)} {'is missing' if not found else 'differs from the body'}: it must be {expected[:80]!r}."
    key = NAMED_BY.get(method)
    expected_name = params.get(key) if key else None
    if not isinstance(expected_name, str):
        # Nothing to compare with; the method itself refuses a missing or mistyped parameter (-32602).
        return None
    raw = headers.get(NAME_HEADER)
    if raw is None:
        return f"Mcp-Name is missing: it must equal params.{key}."
    decoded = decode(raw)
    if decoded is None:
        return "Mcp-Name is malformed: send printable ASCII, or =?base64?…?= around the UTF-8 bytes."
    if decoded != expected_name:
        return f"Mcp-Name differs from params.{key}."
    return None


def decode(raw: str) -> str | None:
    """The value a header stands for: the sentinel `=?base64?…?=` decoded, anything else as it is; None when malformed (H-03)."""
    value = raw.strip(" \t")
    if not _LEGAL.fullmatch(value):
        return None
    found = _SENTINEL.fullmatch(value)
    if found is None:
        return value
    try:
        decoded = base64.b64decode(found[1], validate=True)
        text = decoded.decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    # b64decode lets stray trailing bits pass; only the canonical spelling is accepted.
    return text if base64.b64encode(decoded).decode("ascii") == found[1] else None


def _shown(header: str) -> str:
    return {VERSION_HEADER: "MCP-Protocol-Version", METHOD_HEADER: "Mcp-Method"}[header]
