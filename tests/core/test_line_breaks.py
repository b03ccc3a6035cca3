"""Whatever writes JSON writes no line break but its own, in the sense of any reader (ST-01): Unicode has three that JSON leaves raw."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.cli.output import print_json
from cmsmcp.core.governed import encode
from cmsmcp.protocol import jsonrpc, sse
from cmsmcp.protocol.linebreaks import escape_line_breaks
from cmsmcp.schema.exports import FORMATS, export
from cmsmcp.state.auditfile import AuditFile

BREAKS = "\u0085\u2028\u2029"
SIGNS = [*BREAKS, "\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "é", "\u2027", "“", "x", '"', "\\"]
texts = st.text(st.sampled_from(SIGNS), max_size=12)
values = st.recursive(
    texts | st.none() | st.booleans(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
ENCODERS: dict[str, Callable[[Any], bytes]] = {
    "result": lambda value: jsonrpc.result_reply("\u2028", value),
    "error": lambda value: jsonrpc.error_reply("\u0085", -1, str(value), {"value": value}),
    "notice": lambda value: jsonrpc.notification("n\u2029", {"value": value}),
    "text": encode,
    "what orjson cannot write": lambda value: encode([2**70, value]),
}


@given(values)
def test_a_message_is_one_line_for_every_reader(value: object) -> None:
    for name, encoded in ((name, encoder(value)) for name, encoder in ENCODERS.items()):
        assert len(encoded.decode().splitlines()) == 1, name
    assert json.loads(ENCODERS["result"](value)) == {"jsonrpc": "2.0", "id": "\u2028", "result": value}
    assert json.loads(encode(value)) == value
    event = sse.event(ENCODERS["result"](value)).decode()
    assert event.splitlines() == event.removesuffix("\n").split("\n"), "some readers of event streams split lines as Unicode does"


@given(values)
def test_indented_json_breaks_lines_where_it_is_indented_alone(value: object) -> None:
    encoded = encode(value, indent=True).decode()
    assert encoded.splitlines() == encoded.split("\n")
    assert json.loads(encoded) == value


def test_a_fragment_that_was_encoded_elsewhere_is_escaped_too() -> None:
    from orjson import Fragment

    raw = json.dumps({"a": BREAKS}, ensure_ascii=False)
    assert len(jsonrpc.result_reply(1, {"text": raw, "structured": Fragment(raw)}).decode().splitlines()) == 1


def test_what_has_no_such_break_is_not_copied() -> None:
    plain = "“ü” 日本語 \u2027".encode()
    assert escape_line_breaks(plain) is plain


def test_what_commands_print_for_programs_has_no_other_breaks(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"name": BREAKS}])
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == printed.count("\n") and json.loads(printed) == [{"name": BREAKS}]


@pytest.mark.parametrize("format_", FORMATS)
def test_exported_schemas_have_no_other_breaks(format_: str) -> None:
    from cmsmcp.schema.catalog import Catalog

    fields = [{"name": "title", "type": "string"}, {"name": "kind", "type": "array", "arrayFields": [{"name": "a", "type": "mixed"}]}]
    thing = {"slug": "thing", "name": f"Things{BREAKS}", "kind": "collection", "tableName": "things", "fields": fields}
    text = export(Catalog((thing,), f"en{BREAKS}", (f"en{BREAKS}",)), format_, None, "1")
    assert len(text.splitlines()) == text.count("\n")


def test_the_audit_file_has_one_line_a_record(tmp_path: Path) -> None:
    audit = AuditFile(tmp_path / "audit.jsonl")
    audit.append({"client": BREAKS})
    audit.append({"client": "x"})
    assert [json.loads(line)["client"] for line in (tmp_path / "audit.jsonl").read_text().splitlines()] == [BREAKS, "x"]
