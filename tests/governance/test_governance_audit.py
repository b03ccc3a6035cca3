"""The audit record (F31, C054, C057)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.core.ports import Caller
from cmsmcp.governance.audit import FIELDS, MAX_VALUE_BYTES, AuditRecords, Event, Result, printable

CALLER = Caller("token:t1", frozenset(), subject="ana", token_id="t1")
RECORDS = AuditRecords("my site", arguments=True)
BARE = AuditRecords("my site")


def event(arguments: object = None) -> Event:
    return Event("e1", "tools/call", "search_content", "read:content", "content.read", arguments)  # type: ignore[arg-type]


def test_intent_and_outcome_share_the_event_and_name_who_what_and_how() -> None:
    intent = BARE.intent(CALLER, event({"query": "secret plans", "limit": 5, "deep": {"a": []}}))
    assert intent == {
        "event": "e1", "phase": "intent", "site": "my site", "client": "token:t1", "subject": "ana", "token": "t1", "method": "tools/call",
        "capability": "search_content", "scope": "read:content", "category": "content.read", "decision": "allowed",
        "arguments": '{"query": "string(12)", "limit": "number", "deep": "object(1)"}',
    }
    outcome = BARE.outcome(CALLER, event({"query": "x"}), Result("timeout", 5040, 1234.5678, 20))
    assert (outcome["event"], outcome["phase"], outcome["reason"], outcome["code"]) == ("e1", "outcome", "timeout", "5040")
    assert (outcome["duration_ms"], outcome["result_bytes"]) == ("1234.568", "20")
    refusal = BARE.refusal(CALLER, event(), reason="scope", code=4030)
    assert (refusal["phase"], refusal["decision"], refusal["reason"], refusal["code"]) == ("refusal", "refused", "scope", "4030")


def test_every_field_is_explained() -> None:
    names = [name for name, _ in FIELDS]
    assert len(set(names)) == len(names)
    written = {**RECORDS.intent(CALLER, event({})), **RECORDS.refusal(CALLER, event(), reason="x", code=1),
               **RECORDS.outcome(CALLER, event(), Result("x", 1, 1.0, 1))}
    assert set(written) == set(names)


@pytest.mark.parametrize("arguments", [
    {"query": 'x\r\n{"event":"tool.call","outcome":"allowed","actor":"admin"}'},
    {"slug": "a\nb\u2028c\u0085d\u001b[2Je"},
    {"a\nb": "\x00\x7f\x9b\u202e\ud800"},
])
@pytest.mark.parametrize("records", [RECORDS, BARE])
def test_no_argument_forges_a_line(records: AuditRecords, arguments: dict[str, str]) -> None:
    """C057: control characters are escaped, and the record parses."""
    record = records.intent(CALLER, event(arguments))
    assert all(value.isprintable() for value in record.values())
    assert isinstance(json.loads(record["arguments"]), dict)


@given(st.text(st.characters(), max_size=300))
def test_any_client_text_is_one_printable_bounded_line(text: str) -> None:
    """C057; every value at most 1 KiB."""
    record = BARE.intent(Caller(text, frozenset(), subject=text), Event("0f", text, text, text))
    for value in record.values():
        assert len(value.encode()) <= MAX_VALUE_BYTES
        assert len(value.splitlines()) <= 1
        assert not any(ord(char) < 32 or 0x7F <= ord(char) <= 0x9F for char in value)


def test_a_long_value_is_cut_and_marked() -> None:
    """C057: a query of 200,000 characters."""
    record = RECORDS.intent(CALLER, event({"query": "q" * 200_000}))
    assert len(record["arguments"].encode()) <= MAX_VALUE_BYTES
    assert "[cut" in record["arguments"]
    assert printable("é" * 5000).endswith(" [cut, 5000 characters]")


def test_arguments_are_shown_by_shape_unless_asked_for_and_then_redacted() -> None:
    """C054: 16 to 18 go to the audit."""
    nested = [[{"refreshToken": "S3CR3T-17"}]]
    arguments = {"apiKey": "S3CR3T-16", "nested": nested, "query": "Bearer S3CR3T-18-0123456789abcdef", "n": "plain"}
    assert "plain" not in BARE.intent(CALLER, event(arguments))["arguments"]
    shown = RECORDS.intent(CALLER, event(arguments))["arguments"]
    assert "plain" in shown
    assert "S3CR3T" not in shown + str(BARE.intent(CALLER, event(arguments)))


def test_a_secret_in_a_name_is_redacted_too() -> None:
    event = Event("e", "redis://u:hunter2Zq@h", "Bearer hunter2Zq0123456789")
    assert "hunter2Zq" not in str(BARE.refusal(CALLER, event, reason="scope", code=4030))


def test_eight_megabytes_of_arguments_cost_little() -> None:
    wide = {"x" * 30 + str(n): "y" * 100 for n in range(60_000)}
    record = RECORDS.intent(CALLER, event({"a": wide, "b": [wide] * 3}))
    assert len(record["arguments"].encode()) <= MAX_VALUE_BYTES


def test_a_record_names_the_token_that_asked() -> None:
    """docs/audit.md: `client` and `token` are ids, not secrets, though one reads like an assignment."""
    jti = "b847bfc08dbf44abbfe5a183d633a9e2"
    record = RECORDS.intent(Caller(f"token:{jti}", frozenset(), token_id=jti), event({}))
    assert (record["client"], record["token"]) == (f"token:{jti}", jti)
