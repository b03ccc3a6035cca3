"""What travels on open streams: notices of changes, the acknowledgment before them and the result after. Values in, bytes out.

`tag` is the id of the `subscriptions/listen` request that the stream answers (S-02); None on the stream of a legacy session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.protocol.eras import META_PREFIX, MODERN, Era
from cmsmcp.protocol.jsonrpc import Id, notification, result_reply
from cmsmcp.protocol.messages import complete

TAG_KEY = META_PREFIX + "subscriptionId"


def acknowledged(honoured: Mapping[str, Any], tag: Id) -> bytes:
    """The first message of a listen stream: the part of its filter that will be served (S-01)."""
    return _notice("notifications/subscriptions/acknowledged", {"notifications": honoured}, tag)


def list_changed(name: str, tag: Id | None) -> bytes:
    """`name` is that of a list: tools, prompts, resources."""
    return _notice(f"notifications/{name}/list_changed", {}, tag)


def updated(uri: str, tag: Id | None) -> bytes:
    return _notice("notifications/resources/updated", {"uri": uri}, tag)


def task_changed(task: Mapping[str, Any], tag: Id | None) -> bytes:
    """`task` is whole, as tasks/get gives it (TK-07)."""
    return _notice("notifications/tasks", task, tag)


def listened(tag: Id, version: str) -> bytes:
    """The result of subscriptions/listen: the last message of a stream that the server ends (S-05)."""
    result = complete(Era(MODERN, modern=True), version, {})
    return result_reply(tag, {**result, "_meta": {TAG_KEY: tag, **result["_meta"]}})


def _notice(method: str, params: Mapping[str, Any], tag: Id | None) -> bytes:
    return notification(method, params if tag is None else {"_meta": {TAG_KEY: tag}, **params})
