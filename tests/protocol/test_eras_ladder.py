"""Which revision serves a request, and which refusal comes first (docs/rules.md, Revisions; A-01, A-05, A-06)."""

from __future__ import annotations

from typing import Any

import pytest

from cmsmcp.protocol.eras import CAPABILITIES_KEY, SUPPORTED, VERSION_KEY, Era, Refusal, batches_allowed, classify, negotiate
from cmsmcp.protocol.errors import HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION, ProtocolError
from cmsmcp.protocol.jsonrpc import Request

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
STDIO = None


def envelope(version: Any = MODERN, capabilities: Any = None, **meta: Any) -> dict[str, Any]:
    return {"_meta": {VERSION_KEY: version, CAPABILITIES_KEY: {} if capabilities is None else capabilities, **meta}}


def headers(version: str | None = None, method: str | None = None, **more: str) -> dict[str, str]:
    named = {"mcp-protocol-version": version, "mcp-method": method, **{key.replace("_", "-"): value for key, value in more.items()}}
    return {name: value for name, value in named.items() if value is not None}


def request(method: str = "tools/list", params: dict[str, Any] | None = None) -> Request:
    return Request(1, method, params or {})


@pytest.mark.parametrize("sent", [STDIO, headers(MODERN, "tools/list")])
def test_an_envelope_makes_a_request_modern_whatever_came_before(sent: Any) -> None:
    for bound in (None, *SUPPORTED):
        era = classify(request(params=envelope(capabilities={"sampling": {}})), sent, bound)
        assert era == Era(MODERN, modern=True, client_capabilities={"sampling": {}})


@pytest.mark.parametrize("bound", SUPPORTED)
def test_on_stdio_the_handshake_binds_requests_without_envelope(bound: str) -> None:
    """ST-04; A-01 for 2026-07-28."""
    era = classify(request(), STDIO, bound)
    assert era == Era(bound)
    assert not era.modern


def test_on_stdio_only_ping_comes_before_the_handshake() -> None:
    """ST-05: silence would make probes time out."""
    refusal = classify(request(), STDIO, None)
    assert isinstance(refusal, Refusal)
    assert refusal.code == INVALID_PARAMS
    assert refusal.data["supported"] == list(SUPPORTED)
    assert isinstance(classify(request("ping"), STDIO, None), Era)


@pytest.mark.parametrize("named", LEGACY)
def test_a_legacy_header_names_the_revision(named: str) -> None:
    for bound in (None, *SUPPORTED):
        assert classify(request(), headers(named), bound) == Era(named)


def test_without_header_the_session_decides_else_the_oldest_revision() -> None:
    """A-05: plain callers need neither session nor version."""
    assert classify(request(), {}, "2025-11-25") == Era("2025-11-25")
    assert classify(request(), {}, None) == Era("2025-03-26")


def test_a_session_that_initialised_with_2026_is_legacy_with_that_header() -> None:
    """A-01: the one exception to what makes a request modern."""
    assert classify(request(), headers(MODERN), MODERN) == Era(MODERN)


@pytest.mark.parametrize("bound", [None, "2025-11-25"])
def test_the_modern_header_without_envelope_is_incomplete(bound: str | None) -> None:
    refusal = classify(request(), headers(MODERN), bound)
    assert isinstance(refusal, Refusal)
    assert refusal.code == INVALID_PARAMS


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen"])
@pytest.mark.parametrize("sent", [STDIO, {}, headers("2025-11-25"), headers(MODERN)])
def test_modern_methods_need_the_envelope(method: str, sent: Any) -> None:
    for bound in (None, MODERN, "2025-06-18"):
        refusal = classify(request(method), sent, bound)
        assert isinstance(refusal, Refusal)
        assert refusal.code == INVALID_PARAMS


@pytest.mark.parametrize(
    "meta",
    [
        {VERSION_KEY: MODERN},
        {VERSION_KEY: MODERN, CAPABILITIES_KEY: None},
        {VERSION_KEY: MODERN, CAPABILITIES_KEY: []},
        {VERSION_KEY: 20260728, CAPABILITIES_KEY: {}},
        {VERSION_KEY: None, CAPABILITIES_KEY: {}},
    ],
)
@pytest.mark.parametrize("sent", [STDIO, headers("1999-01-01", "wrong")])
def test_an_incomplete_envelope_fails_before_headers_are_compared(meta: dict[str, Any], sent: Any) -> None:
    refusal = classify(request(params={"_meta": meta}), sent, None)
    assert isinstance(refusal, Refusal)
    assert refusal.code == INVALID_PARAMS


def test_a_missing_client_info_is_fine() -> None:
    assert isinstance(classify(request(params=envelope()), headers(MODERN, "tools/list"), None), Era)


@pytest.mark.parametrize("version", ["v999.0.0", "2024-11-05", ""])
def test_an_unknown_version_is_named_with_what_is_supported(version: str) -> None:
    sent = headers(version, "tools/list") if version else STDIO
    for given in (STDIO, sent):
        refusal = classify(request(params=envelope(version)), given, None)
        assert isinstance(refusal, Refusal)
        assert (refusal.code, refusal.data) == (UNSUPPORTED_VERSION, {"supported": [MODERN], "requested": version})


def test_a_strangers_version_is_repeated_in_part_only() -> None:
    """A body may hold 8 MiB; its refusal does not send them back."""
    for refusal in (classify(request(params=envelope("v" * 5_000)), STDIO, None), classify(request(), headers("v" * 5_000), None)):
        assert isinstance(refusal, Refusal)
        assert refusal.data["requested"] == "v" * 200


@pytest.mark.parametrize("version", LEGACY)
def test_an_enveloped_legacy_version_points_to_the_handshake(version: str) -> None:
    refusal = classify(request(params=envelope(version)), headers(version, "tools/list"), None)
    assert isinstance(refusal, Refusal)
    assert refusal.code == UNSUPPORTED_VERSION
    assert refusal.data["supported"] == [MODERN]
    assert "initialize" in refusal.message


@pytest.mark.parametrize("named", [None, "2025-11-25", "v999.0.0"])
@pytest.mark.parametrize("version", [MODERN, "v1"])
def test_header_and_envelope_must_agree_before_the_version_is_judged(named: str | None, version: str) -> None:
    refusal = classify(request(params=envelope(version)), headers(named, "tools/list"), None)
    assert isinstance(refusal, Refusal)
    assert refusal.code == HEADER_MISMATCH


@pytest.mark.parametrize("named", ["1999-01-01", "junk", "2024-11-05"])
def test_an_unknown_header_without_envelope_is_an_unsupported_version(named: str) -> None:
    refusal = classify(request(), headers(named), None)
    assert isinstance(refusal, Refusal)
    assert refusal.code == UNSUPPORTED_VERSION
    assert refusal.data == {"supported": list(SUPPORTED), "requested": named}


def test_meta_without_a_version_proves_nothing() -> None:
    """docs/rules.md, Revisions."""
    params = {"_meta": {"progressToken": 1, CAPABILITIES_KEY: {}}}
    assert classify(request(params=params), {}, None) == Era("2025-03-26")
    assert classify(request(params={"_meta": "text"}), {}, None) == Era("2025-03-26")


@pytest.mark.parametrize("named", [None, MODERN, "2025-06-18", "junk"])
def test_a_bare_initialize_is_legacy_and_its_version_header_ignored(named: str | None) -> None:
    era = classify(request("initialize", {"protocolVersion": MODERN}), headers(named), None)
    assert isinstance(era, Era)
    assert not era.modern


def test_an_enveloped_initialize_goes_up_the_modern_ladder() -> None:
    """Its method is then unknown there (-32601)."""
    era = classify(request("initialize", envelope()), headers(MODERN, "initialize"), None)
    assert isinstance(era, Era)
    assert era.modern


@pytest.mark.parametrize("version", SUPPORTED)
def test_initialize_gets_the_revision_it_names(version: str) -> None:
    """C012, F47, A-01."""
    assert negotiate({"protocolVersion": version}) == version


@pytest.mark.parametrize("version", ["2024-11-05", "2099-01-01", "not-a-date", ""])
def test_initialize_with_another_string_gets_the_newest_handshake(version: str) -> None:
    assert negotiate({"protocolVersion": version}) == "2025-11-25"


@pytest.mark.parametrize("params", [{}, {"protocolVersion": 123}, {"protocolVersion": None}])
def test_initialize_without_a_string_is_refused_with_what_is_supported(params: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as caught:
        negotiate(params)
    assert caught.value.code == INVALID_PARAMS
    assert caught.value.data["supported"] == list(SUPPORTED)


def test_arrays_belong_to_the_oldest_revision_alone() -> None:
    """A-06, ST-11."""
    assert batches_allowed(None, "2025-03-26")
    assert batches_allowed(headers("2025-03-26"), None)
    assert not batches_allowed(headers("2025-06-18"), "2025-03-26")
    for bound in (None, MODERN, "2025-11-25", "2025-06-18"):
        assert not batches_allowed(None, bound)
        assert not batches_allowed({}, bound)
