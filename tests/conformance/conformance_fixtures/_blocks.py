"""What several fixtures share: a declaration with the fields that are alike, content blocks, and questions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from cmsmcp.core.capability import Blocks, prompt, resource, tool
from cmsmcp.core.dialogue import Elicit, Sample

GOVERNED = {"scope": "read:content", "audit": "conformance"}
fixture_tool = partial(tool, **GOVERNED, blocks=True)
talking_tool = partial(fixture_tool, talks=True)
fixture_prompt = partial(prompt, **GOVERNED)
fixture_resource = partial(resource, **GOVERNED)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
"""One red pixel."""
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
"""One sample."""


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


def image() -> dict[str, Any]:
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def embedded(uri: str, content: str, mime_type: str = "text/plain") -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": content}}


def said(content: str, *, is_error: bool = False) -> Blocks:
    """A result of one text."""
    return Blocks([text(content)], is_error)


def form(message: str, required: bool = True, **properties: Mapping[str, Any]) -> Elicit:
    """A question to the user, of flat properties; all of them required, or none."""
    return Elicit(message, {"type": "object", "properties": properties, "required": list(properties) if required else []})


def sample(prompt: str, tokens: int) -> Sample:
    """A question to the client's model."""
    return Sample({"messages": [{"role": "user", "content": text(prompt)}], "maxTokens": tokens})


def answered(answer: Mapping[str, Any], name: str) -> Any:
    """One field of an accepted form; None of any other answer."""
    content = answer.get("content")
    return content.get(name) if answer.get("action") == "accept" and isinstance(content, Mapping) else None


def sampled(answer: Mapping[str, Any]) -> str:
    """The text that the client's model gave."""
    content = answer.get("content")
    blocks = content if isinstance(content, list) else [content]
    return " ".join(block["text"] for block in blocks if isinstance(block, Mapping) and block.get("type") == "text")


def user(content: Mapping[str, Any]) -> dict[str, Any]:
    """A message of a prompt."""
    return {"role": "user", "content": content}
