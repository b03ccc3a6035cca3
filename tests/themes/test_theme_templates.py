"""The reader of Go templates: balance, names, delimiters (docs/rules.md, Odd places; pkg.go.dev/text/template, "Actions")."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.site.themes.templates import scan


@pytest.mark.parametrize("text", [
    "plain }} text { } %}",
    "{{if .A}}a{{else if .B}}b{{else}}c{{end}}",
    "{{with $x := .A}}{{$x.B}}{{else with .C}}{{.}}{{end}}",
    "{{range $i, $e := .List}}{{if $i}}{{break}}{{else}}{{continue}}{{end}}{{else}}none{{end}}",
    "{{- /* a }} comment {{ */ -}}{{/* another\nline */}}",
    "{{ `raw }} \n text` }}{{ \"}}\" }}{{ '}' }}{{ \"a\\\"b\" }}",
    "{{ (index .A 1).B | printf \"%d\" -3 }}{{ 1.5e+3 }}{{ 0x1F }}{{ .5 }}{{-3}}",
    "{{ if and (eq .A 1)\n (not .B) }}{{ len .C }}{{ end }}",
    '{{define "a"}}{{block "b" .}}x{{end}}{{template "b" .X}}{{end}}',
    "{{ .Straße }}{{ $ }}{{ true }}{{ nil | html }}",
])
def test_what_go_accepts_is_accepted(text: str) -> None:
    assert scan(text).faults == ()


@pytest.mark.parametrize(("text", "line", "said"), [
    ("\n{{ if .A }}", 2, "has no {{ end }}"),
    ("{{ end }}", 1, "closes nothing"),
    ("a\n{{ .A", 2, "has no }}"),
    ("{{ .A }", 1, "'}' cannot stand here"),
    ("{{ {{ .A }} }}", 1, "'{' cannot stand here"),
    ('{{ "open }}', 1, "a quote is not closed"),
    ("{{ if }}{{ end }}", 1, "needs a value"),
    ("{{ else }}", 1, "outside if, with and range"),
    ("{{ if .A }}{{ else }}\n{{ else }}{{ end }}", 2, "a second"),
    ("{{ range .A }}{{ else if .B }}{{ end }}", 1, "does not fit the range"),
    ("{{ break }}", 1, "outside any range"),
    ("{{ template head . }}", 1, "'head' does not exist"),
    ("{{ template }}", 1, "needs a quoted name"),
    ('{{ if .A }}{{ define "x" }}{{ end }}{{ end }}', 1, "belongs at the top"),
    ("{{/* x */ }}", 1, "no space may stand"),
    ("{{ /* x */ }}", 1, "'/' cannot stand here"),
    ("{{ nope .A }}", 1, "function 'nope' does not exist"),
    ("{{ print (len .A }}", 1, "brackets"),
    ("{{ .A if }}", 1, "is a keyword"),
    ("{{}}", 1, "empty"),
    ("{{ end .A }}", 1, "takes nothing"),
])
def test_what_go_refuses_is_named_with_its_line(text: str, line: int, said: str) -> None:
    found = scan(text).faults
    assert any(at == line and said in message for at, message in found), found


@pytest.mark.parametrize(("text", "lines"), [
    ("a\n{ .Title }}\n{{ .B }}{ end }}", (2, 3)),
    ("<script>let a = {...b}}; f({c: {$d: 1}});</script><style>@media x { .a { b: c }}</style>{{ .A }}", ()),
])
def test_an_action_with_one_brace_is_a_slip(text: str, lines: tuple[int, ...]) -> None:
    """Go takes it for text, so it is a warning (docs/rules.md, Odd places)."""
    assert scan(text).slips == lines and scan(text.replace("{ end }}", "")).faults == ()


def test_names_references_and_slots() -> None:
    slots = '{{ pluginSlot "s.one" }}{{/* pluginSlot "s.two" */}}pluginSlot "s.three"'
    found = scan('{{define "a"}}{{template "b" .}}\n{{block "c" .}}{{end}}' + slots + "{{end}}")
    assert found.defines == {"a", "c"} and found.slots == {"s.one"}
    assert [(one.name, one.line) for one in found.references] == [("b", 1)]


blocks = st.recursive(
    st.sampled_from(["text", "{{ .A }}", "{{- .B -}}", "{{/* end */}}", "\n"]),
    lambda inner: st.tuples(st.sampled_from(["if .A", "with .A", "range .A"]), inner, st.booleans(), inner).map(
        lambda one: f"{{{{ {one[0]} }}}}{one[1]}" + (f"{{{{ else }}}}{one[3]}" if one[2] else "") + "{{ end }}"
    ),
)


@given(blocks)
def test_whatever_is_balanced_has_no_fault_and_one_end_less_has_one(text: str) -> None:
    assert scan(text).faults == ()
    if "{{ end }}" in text:
        assert scan(text.replace("{{ end }}", "", 1)).faults


@given(st.text(alphabet="{}-/*\"'` \n.ab$()|:=if end else 09", max_size=80))
def test_no_text_makes_it_raise(text: str) -> None:
    found = scan(text)
    assert len(found.faults) <= 20 and all(1 <= line <= text.count("\n") + 1 for line, _ in found.faults)
