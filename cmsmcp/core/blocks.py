"""Content blocks as MCP has them, before they leave: of a known shape, without secrets, in words the client's revision knows.

A block that is malformed is a fault of the capability, not of its caller: ValueError.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from cmsmcp.governance.redaction import redact
from cmsmcp.protocol.eras import Era

_STRINGS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}
"""By type, what each block must have."""


def clean_block(block: Mapping[str, Any], era: Era) -> dict[str, Any]:
    """A copy for a client of `era`. Base64 stays as it is: a secret cannot be told from chance in it (O-04)."""
    needed = _STRINGS.get(str(block.get("type")))
    if needed is None or not all(isinstance(block.get(name), str) for name in needed):
        raise ValueError(f"a content block is malformed: {str(block.get('type'))[:40]}")
    if block["type"] in ("image", "audio"):
        return {**redact({**block, "data": ""}), "data": _base64(block["data"])}
    if block["type"] == "resource":
        return {**redact({**block, "resource": None}), "resource": _embedded(block.get("resource"))}
    cleaned = dict(redact(block))
    if block["type"] == "resource_link" and not era.structured:
        return {"type": "text", "text": f"{cleaned['name']}: {cleaned['uri']}"}
    return cleaned


def _embedded(resource: Any) -> dict[str, Any]:
    """`uri`, and exactly one of `text` and `blob` (R-04)."""
    if not isinstance(resource, Mapping) or not isinstance(resource.get("uri"), str) or ("text" in resource) == ("blob" in resource):
        raise ValueError("an embedded resource has a uri, and either text or blob")
    if "text" in resource:
        return dict(redact(resource))
    return {**redact({**resource, "blob": ""}), "blob": _base64(resource["blob"])}


def _base64(data: str) -> str:
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("binary content is Base64") from error
    return data
