"""Every field type with values that fit and values that do not: read, and given (docs/rules.md, Content types)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.entries import Found
from cmsmcp.protocol.errors import NotFound
from cmsmcp.site.entries.values import Rendering
from cmsmcp.site.types.fields import Field

FIELDS = """\
name: Things
tableName: things
fields:
  - {name: title, type: string, required: true}
  - {name: slug, type: uid}
  - {name: line, type: string}
  - {name: long, type: text}
  - {name: code, type: uid}
  - {name: body, type: richtext}
  - {name: note, type: richtext}
  - {name: whole, type: number}
  - {name: real, type: number, subtype: float}
  - {name: flag, type: boolean}
  - {name: moment, type: datetime}
  - {name: cover, type: media}
  - {name: shots, type: media-gallery}
  - {name: one, type: relation, relatedSlug: thing}
  - {name: other, type: relation, relationType: one-to-one, relatedSlug: thing}
  - {name: several, type: relation, relationType: many-to-many, relatedSlug: thing}
  - {name: back, type: relation, relationType: one-to-many, relatedSlug: thing, relatedField: one}
  - {name: menu, type: navigation}
  - name: rows
    type: array
    arrayFields:
      - {name: label, type: string, required: true}
      - {name: blurb, type: text}
      - {name: rich, type: richtext}
      - {name: count, type: number}
      - {name: share, type: number, subtype: float}
      - {name: done, type: boolean}
      - {name: at, type: datetime}
      - {name: picture, type: media}
      - {name: mixed, type: mixed}
"""
EMPTY_ROW = {
    "label": "x", "blurb": None, "rich": None, "count": None, "share": None, "done": None, "at": None, "picture": None, "mixed": None,
}  # fmt: skip
LEVEL = {"label": "L", "href": "/l/"}


def nested(depth: int) -> list[dict[str, Any]]:
    return [{**LEVEL, **({"items": nested(depth - 1)} if depth > 1 else {})}]


def row(**given: Any) -> list[dict[str, Any]]:
    return [{"label": "x", **given}]


GOOD: list[tuple[str, Any, Any]] = [
    ("line", "a", "a"), ("line", "é" * 255, "é" * 255), ("line", 5, "5"), ("line", "", ""), ("line", None, None),
    ("long", "x" * 5000, "x" * 5000), ("long", "two\nlines", "two\nlines"), ("code", "any thing/at all", "any thing/at all"),
    ("note", "**b**", "**b**"), ("note", "<script>x</script>", "<script>x</script>"),
    ("whole", 0, 0), ("whole", -7, -7), ("whole", 2**63 - 1, 2**63 - 1), ("whole", -(2**63), -(2**63)),
    ("real", 1.5, 1.5), ("real", 2, 2), ("real", -1e300, -1e300), ("flag", True, True), ("flag", False, False),
    ("moment", "2026-03-06", "2026-03-06"), ("moment", "2026-3-6", "2026-03-06"),
    ("moment", "2026-03-06T10:00:00+02:00", "2026-03-06T08:00:00.000Z"), ("moment", "2026-03-06 10:00", "2026-03-06T10:00:00.000Z"),
    ("cover", "media:images/none.png", "media:images/none.png"), ("cover", "https://x.example/a.png", "https://x.example/a.png"),
    ("shots", ["a.png", "b.png"], ["a.png", "b.png"]), ("shots", [], []), ("shots", ["a.png", " "], ["a.png"]),
    ("one", "target", "target"), ("one", "en:thing:target", "en:thing:target"), ("one", "nobody", None), ("other", "target", "target"),
    ("several", ["target", "nobody", "en:thing:target"], ["target", "en:thing:target"]), ("several", [], []),
    ("menu", [LEVEL], [LEVEL]), ("menu", nested(3), nested(3)), ("menu", [LEVEL] * 20, [LEVEL] * 20), ("menu", [], []),
    ("menu", [{**LEVEL, "colour": "red", "items": None}], [LEVEL]), ("menu", [{**LEVEL, "items": []}], [LEVEL]),
    ("rows", [], []), ("rows", row(), [EMPTY_ROW]), ("rows", row(unknown=1), [EMPTY_ROW]), ("rows", row(count=3), [{**EMPTY_ROW,
    "count": 3}]),
    ("rows", row(share=0.5, done=False), [{**EMPTY_ROW, "share": 0.5, "done": False}]),
    ("rows", row(at="2026-03-06 10:00"), [{**EMPTY_ROW, "at": "2026-03-06T10:00:00.000Z"}]),
    ("rows", row(picture="a.png"), [{**EMPTY_ROW, "picture": "a.png"}]),
    *(
        ("rows", row(mixed={"kind": kind, "value": value, "more": 1}), [{**EMPTY_ROW, "mixed": {"kind": kind, "value": value}}])
        for kind, value in [("string", "s"), ("number", 1), ("number", 1.5), ("boolean", True)]
    ),
]  # fmt: skip
SINGLE: list[tuple[str, Any, Any]] = [
    ("shots", "a.png", ["a.png"]), ("several", "target", ["target"]), ("menu", LEVEL, [LEVEL]),
    ("menu", [{**LEVEL, "items": LEVEL}], nested(2)), ("rows", row()[0], [EMPTY_ROW]),
]
"""One where a list is wanted."""
BAD: list[tuple[str, Any]] = [
    ("line", "x" * 256), ("line", ["a"]), ("line", {"a": 1}), ("long", ["a"]), ("code", "x" * 256), ("code", ["a"]), ("note", {"a": "b"}),
    ("whole", 1.5), ("whole", "5"), ("whole", True), ("whole", 2**63), ("whole", [1]), ("whole", "many"),
    ("real", "1.5"), ("real", False), ("real", "nan"), ("real", {}), ("flag", 1), ("flag", 0), ("flag", "true"), ("flag", "maybe"),
    ("moment", "soon"), ("moment", "2026-02-30"), ("moment", 20260306), ("moment", ["2026-03-06"]), ("moment", "Post 3"),
    ("cover", " "), ("cover", ["a.png"]), ("cover", {"url": "a.png"}), ("shots", [["a.png"]]), ("shots", {"a": "b"}),
    ("one", ["target"]), ("one", " "), ("other", {"id": "target"}), ("several", [["target"]]), ("several", {"a": "target"}),
    ("back", ["target"]), ("back", "target"), ("back", {"a": 1}),
    ("menu", "home"), ("menu", ["home"]), ("menu", [{"label": "a"}]), ("menu", [{"href": "/"}]),
    ("menu", [{"label": " ", "href": "/"}]), ("menu", [{"label": "a", "href": ["/"]}]), ("menu", nested(4)), ("menu", [LEVEL] * 21),
    ("menu", [{**LEVEL, "items": [LEVEL] * 21}]), ("menu", [{**LEVEL, "items": "x"}]),
    ("rows", "x"), ("rows", {"count": 1}), ("rows", ["x"]), ("rows", [{}]), ("rows", [{"label": ""}]), ("rows", [{"count": 1}]),
    ("rows", row(label="x" * 256)), ("rows", row(blurb=["a"])), ("rows", row(rich={})), ("rows", row(count=1.5)), ("rows", row(share="1")),
    ("rows", row(done="yes")), ("rows", row(at="soon")), ("rows", row(picture=" ")), ("rows", row(picture=["a"])),
    *(("rows", row(mixed=value)) for value in (
        "s", ["s"], {}, {"kind": "string"}, {"value": 1}, {"kind": "string", "value": 1}, {"kind": "number", "value": "1"},
        {"kind": "number", "value": True}, {"kind": "boolean", "value": 1}, {"kind": "date", "value": "x"}, {"kind": ["string"],
        "value": "x"},
    )),
]  # fmt: skip


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    documents: dict[str, dict[str, Any]] = {"things/target.md": {"title": "Target"}}
    for kind, cases in (("good", GOOD), ("single", SINGLE), ("bad", BAD)):
        for number, case in enumerate(cases):
            documents[f"things/{kind}-{number}.md"] = {"title": "T", "fields": {case[0]: case[1]}}
    documents["things/untitled.md"] = {"title": "T", "fields": {"title": ""}}
    documents["pages/long.md"] = {"title": "x" * 256}
    documents["pages/odd.md"] = {"title": "Odd", "fields": {"title": [1, 2], "free": {"a": 1}}}
    return make_site({"thing": FIELDS}, documents)


def faults(site: Any, path: str) -> list[tuple[str, str]]:
    found = site.reader.rows("SELECT severity, message FROM diagnostics WHERE path = ?", (f"content/{path}.md",))
    return [(severity, message) for severity, message in found]


@pytest.mark.parametrize("number", range(len(GOOD)), ids=lambda number: f"{GOOD[number][0]}-{number}")
def test_a_value_that_fits_leaves_as_what_it_is(site: Any, number: int) -> None:
    name, _, wanted = GOOD[number]
    assert faults(site, f"things/good-{number}") == []
    values = site.get("thing", f"good-{number}").values
    assert json.dumps(values[name]) == json.dumps(wanted)  # 1 is not true, 2 is not 2.0


@pytest.mark.parametrize("number", range(len(SINGLE)), ids=lambda number: f"{SINGLE[number][0]}-{number}")
def test_one_where_a_list_is_wanted_is_a_list_of_one_with_a_warning(site: Any, number: int) -> None:
    """docs/rules.md, Front matter."""
    name, _, wanted = SINGLE[number]
    [(severity, message)] = faults(site, f"things/single-{number}")
    assert (severity, f"`{name}" in message, "list of one" in message) == ("warning", True, True)
    assert site.get("thing", f"single-{number}").values[name] == wanted


@pytest.mark.parametrize("number", range(len(BAD)), ids=lambda number: f"{BAD[number][0]}-{number}")
def test_a_value_that_does_not_fit_is_an_error_and_its_document_is_not_served(site: Any, number: int) -> None:
    """docs/rules.md, Odd places: that entry is a diagnostic, the rest is served."""
    found = faults(site, f"things/bad-{number}")
    assert any(severity == "error" and f"`{BAD[number][0]}" in message for severity, message in found), found
    with pytest.raises(NotFound):
        site.get("thing", f"bad-{number}")


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda part: part if isinstance(part, str) else "")
@pytest.mark.parametrize("html", [False, True])
def test_a_value_that_does_not_fit_leaves_as_none(name: str, value: Any, html: bool) -> None:
    """Whatever way it came: between a change of types and the reading anew, say."""
    field = next(field for field in FIELD_LIST if field.name == name)
    assert Rendering({}, Deadline(5), html=html).value(field, value) is None


FIELD_LIST = [
    Field("line", "string"), Field("long", "text"), Field("code", "uid"), Field("note", "richtext"), Field("whole", "number"),
    Field("real", "number", subtype="float"), Field("flag", "boolean"), Field("moment", "datetime"), Field("cover", "media"),
    Field("shots", "media-gallery"), Field("one", "relation", relation="many-to-one"), Field("other", "relation", relation="one-to-one"),
    Field("several", "relation", relation="many-to-many"), Field("back", "relation", relation="one-to-many"), Field("menu", "navigation"),
    Field("rows", "array", items=(
        Field("label", "string", required=True), Field("blurb", "text"), Field("rich", "richtext"), Field("count", "number"),
        Field("share", "number", subtype="float"), Field("done", "boolean"), Field("at", "datetime"), Field("picture", "media"),
        Field("mixed", "mixed"),
    )),
]  # fmt: skip


def test_what_is_required_must_be_there(site: Any) -> None:
    assert ("error", "`title` is required") in faults(site, "things/untitled")
    with pytest.raises(NotFound):
        site.get("thing", "untitled")


def test_a_page_is_served_without_a_value_that_is_none(site: Any) -> None:
    """A built-in type is Foundry's first: a warning, and null, and nothing is found by it."""
    for slug, word in (("long", "255 is the most"), ("odd", "must be text")):
        assert [(severity, word in message) for severity, message in faults(site, f"pages/{slug}")] == [("warning", True)]
        assert site.get("page", slug).values["title"] is None
    assert sorted(site.slugs("page", ("title", "null", True))) == ["long", "odd"]
    assert site.slugs("page", ("title", "contains", "x")) == []


def test_keys_come_in_the_order_of_the_type(site: Any) -> None:
    names = list(site.get("thing", "target").values)
    declared = [line.split("name: ")[1].split(",")[0] for line in FIELDS.splitlines() if line.startswith("  - {name")]
    own = ["status", "published_at", "created_at", "updated_at", "author", "locale"]
    assert [name for name in names if name != "rows"] == ["id", *(name for name in declared if name != "back"), *own]


def test_richtext_is_html_where_it_is_wanted_so(site: Any) -> None:
    """The body and every other richtext, in rows of arrays too; other texts stay as they are."""
    site.put("things/rich.md", {"title": "*T*", "body": "**b** <b>x</b>", "fields": {
        "note": "a & b", "long": "*l*", "rows": [{"label": "*x*", "rich": "*r*", "blurb": "*b*"}],
    }})  # fmt: skip
    site.build()
    found: Found = site.get("thing", "rich", html=True)
    values = found.values
    assert values["body"] == "<p><strong>b</strong> &lt;b&gt;x&lt;/b&gt;</p>\n"
    assert (values["note"], values["long"], values["title"]) == ("<p>a &amp; b</p>\n", "*l*", "*T*")
    assert values["rows"] == [{**EMPTY_ROW, "label": "*x*", "rich": "<p><em>r</em></p>\n", "blurb": "*b*"}]
    assert site.get("thing", "rich").values["body"] == "**b** <b>x</b>"
