"""One resources/read, top to bottom: find, govern, and within that run, dump, redact, encode, size.

Must not know how a resource finds what it holds, or which door was used.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cmsmcp.core.capability import Blob, Call, Capability, Text
from cmsmcp.core.dialogue import Talk
from cmsmcp.core.entry import charge, new_event_id
from cmsmcp.core.exchange import Exchange
from cmsmcp.core.governed import Encoded, check_size, encode, govern, within
from cmsmcp.core.invoke import MAX_URI, check_requirements, clean, converse, is_enabled, is_retry, limits_of, sized
from cmsmcp.core.placing import job_of, place
from cmsmcp.governance.audit import Event
from cmsmcp.governance.redaction import redact
from cmsmcp.protocol import errors, messages

if TYPE_CHECKING:
    from cmsmcp.core.registry import Registry

READ_TTL_MS = 1_000


@dataclass(frozen=True, slots=True)
class EncodedBlob(Encoded):
    """What is not text, in Base64."""


def read_resource(exchange: Exchange) -> messages.Result:
    """resources/read. A missing resource is an error, never empty contents (R-02, R-03)."""
    uri = exchange.request.params.get("uri")
    if not isinstance(uri, str) or not 0 < len(uri) <= MAX_URI:
        charge(exchange)
        message = f"A resource URI is required: uri, a string of at most {MAX_URI} characters."
        raise errors.ProtocolError(message, code=errors.INVALID_PARAMS)
    found = exchange.ports.registry().find_resource(uri)
    if found is None or not is_enabled(exchange.ports.policy, found[0].name, found[0]):
        charge(exchange)
        message = "Resource not found. resources/list and resources/templates/list name what exists."
        raise errors.ProtocolError(message, code=_missing_code(exchange), data={"uri": uri})
    capability, variables = found
    check_requirements(exchange, capability)
    limits = limits_of(exchange.ports.policy, capability.name, capability)
    event = Event(new_event_id(), exchange.request.method, capability.name, capability.scope, capability.audit, {"uri": uri})

    def produce(call: Call) -> Encoded:
        try:
            job = job_of(capability, work, (uri, limits.capability.max_result))
            return place(exchange, call, job, lambda: _produced(limits.capability, variables, call))
        except (errors.NotFound, errors.InvalidArguments) as error:  # what is at fault is a part of the URI: it names nothing
            error.code = _missing_code(exchange, error)  # here, so that the audit has the code that the client gets
            raise

    def run(talk: Talk | None) -> messages.Result:
        return _result(exchange, uri, govern(exchange, event, limits.toll, produce, talk))

    try:
        return converse(exchange, capability, run)
    except (errors.NotFound, errors.InvalidArguments) as error:
        data = error.data if isinstance(error, errors.ContentTypeNotFound) else {}
        raise errors.ProtocolError(error.message, code=error.code, data={**data, "uri": uri}) from None


def work(call: Call, registry: Registry, given: tuple[str, int]) -> Encoded:
    """The work of a call, in whichever process (`core.placing`)."""
    uri, max_result = given
    found = registry.find_resource(uri)
    assert found is not None
    capability, variables = found
    return _produced(replace(capability, max_result=max_result), variables, call)


def _produced(capability: Capability, variables: Mapping[str, str], call: Call) -> Encoded:
    value = capability.run(variables, call)
    call.deadline.check()
    if isinstance(value, Blob):
        text = base64.b64encode(value.data).decode()
        return within(EncodedBlob(text, value.mime_type, len(text)), capability.max_result, capability.hint)
    if isinstance(value, Text | str):
        text, mime_type = (value.text, value.mime_type) if isinstance(value, Text) else (value, capability.mime_type)
        check_size(text, capability.max_result, capability.hint)
        cleaned = redact(text)
        return within(Encoded(cleaned, mime_type, len(encode(cleaned))), capability.max_result, capability.hint)
    return sized(capability, encode(clean(capability, value, call.deadline), indent=capability.indent))


def _result(exchange: Exchange, uri: str, encoded: Encoded) -> messages.Result:
    holds = messages.blob if isinstance(encoded, EncodedBlob) else messages.contents
    ttl_ms = 0 if is_retry(exchange) else READ_TTL_MS
    return messages.complete(exchange.era, exchange.ports.version, holds(uri, encoded.mime_type, encoded.text), ttl_ms=ttl_ms)


def _missing_code(exchange: Exchange, error: errors.CallError | None = None) -> int:
    """Of a missing resource (R-02), or of a content type that is (A-03)."""
    if exchange.era.modern:
        return errors.INVALID_PARAMS
    return errors.CONTENT_TYPE_NOT_FOUND_LEGACY if isinstance(error, errors.ContentTypeNotFound) else errors.RESOURCE_NOT_FOUND_LEGACY
