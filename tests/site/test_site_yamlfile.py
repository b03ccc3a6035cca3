"""YAML read without guesses (docs/rules.md, YAML)."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.site.yaml import loader as yamlfile
from cmsmcp.site.yaml.loader import Mapping, Scalar, Sequence, YamlFault, load


@pytest.fixture(params=["libyaml", "pure"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without libyaml the same texts give the same nodes and faults."""
    if request.param == "pure":
        monkeypatch.setattr(yamlfile, "_LOADER", yaml.SafeLoader)


def value(text: str):
    node = load(f"x: {text}", "f.md")
    assert isinstance(node, Mapping)
    return node.entries["x"]


def fault(text: str, **bounds: int) -> YamlFault:
    with pytest.raises(YamlFault) as caught:
        load(text, "f.md", **bounds)
    assert "\n" not in caught.value.message
    return caught.value


@pytest.mark.parametrize(("text", "wanted"), [
    ("no", "no"), ("y", "y"), ("12:30", "12:30"), ("2026-03-06", "2026-03-06"), ("2026-13-45", "2026-13-45"), ("=", "="),
    (".nan", ".nan"), (".inf", ".inf"), ("1e400", "1e400"), ("9" * 5000, "9" * 5000), (str(1 << 63), str(1 << 63)),
    ("", None), ("~", None), ("null", None), ("true", True), ("False", False), ('"true"', "true"), ("'1'", "1"),
    ("1", 1), ("-7", -7), ("0x1F", 31), ("0o17", 15), ("1e3", 1000.0), (".5", 0.5), ("1.", 1.0), ("1_000", "1_000"),
    ("!!str 5", "5"), ("!!int 5", 5), ("[1, no]", [1, "no"]), ("{a: 1.5, 2: b}", {"a": 1.5, "2": "b"}),
])
def test_undeclared_values_follow_the_core_schema(text: str, wanted: object) -> None:
    """docs/rules.md, YAML; C039 e and f."""
    got = yamlfile.core_value(value(text))
    assert got == wanted
    assert type(got) is type(wanted)


def test_keys_are_text_whatever_they_look_like() -> None:
    """C036 k1 and k8."""
    node = load('1: one\n2024-01-01: day\n~: nothing\non: x\ntrue: y\n"__proto__": z\n"": w', "f.md")
    plain = yamlfile.core_value(node)
    assert list(plain) == ["1", "2024-01-01", "~", "on", "true", "__proto__", ""]
    assert json.loads(json.dumps(plain)) == plain
    assert sorted(plain)


def test_every_duplicate_key_is_named_with_its_line() -> None:
    """C035."""
    found = fault("title: First\ndraft: true\ntags: [a]\ntitle: Second\ntags: [b]\ndraft: false\n", first_line=2)
    assert [(f.key, f.line) for f in found.all] == [("title", 5), ("tags", 6), ("draft", 7)]
    assert found.file == "f.md"


def test_a_duplicate_in_a_nested_map_is_found_too() -> None:
    assert [f.key for f in fault("mcp:\n  enabled: true\n  enabled: false\nx: {a: 1, a: 2}").all] == ["enabled", "a"]


@pytest.mark.parametrize(("text", "line", "word"), [
    ("title: T\n\ttags: [x]\n", 2, "tab"),
    ("a:\n  b: 1\n\tc: 2\n", 3, "tab"),
    ("title: Foo: bar\n", 1, "quotes"),
    ('a: 1\ntitle: "open\n', 2, "never closed"),
    ("a: 1\nb: @x\n", 2, "reserves"),
    ("? [a, b]\n: complex\n", 1, "key"),
    ("a: 1\n---\nb: 2\n", 2, "more than one"),
    ("a: 1\nx: !!python/object/apply:os.getcwd []\n", 2, "tag"),
    ("x: !!binary aGk=\n", 1, "tag"),
    ("x: *gone\n", 1, "anchor"),
    ("x: &a [*a]\n", 1, "stands in"),
    ("a: 1\nb: x\0y\n", 2, "control character"),
    ("x: [1, 2\n", 1, "not closed"),
    ("<<: 5\n", 1, "maps only"),
])
def test_a_fault_names_its_line_in_our_own_words(text: str, line: int, word: str) -> None:
    """docs/rules.md, YAML; C036 k7, C039 a, b, c, i, j."""
    found = fault(text)
    assert (found.line, word in found.message) == (line, True), found.message


@pytest.mark.parametrize("depth", [33, 300, 900, 3000, 100_000])
def test_deep_nesting_is_a_fault_not_a_crash(depth: int) -> None:
    """C039 g: 3,000 nested brackets."""
    assert "nested" in fault("x: " + "[" * depth + "]" * depth).message
    assert "nested" in fault("\n".join(" " * i + "a:" for i in range(min(depth, 1500)))).message


def test_thirty_two_levels_are_allowed() -> None:
    load("[" * 32 + "]" * 32, "f.md")
    fault("[" * 33 + "]" * 33)


def test_aliases_count_each_time_they_are_used() -> None:
    """docs/rules.md, YAML: 1,000 nodes after expansion."""
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 40)]
    assert "1000 values" in fault("\n".join(lines)).message
    load("a: &a [1, 2]\nb: *a", "f.md", max_nodes=7)
    fault("a: &a [1, 2]\nb: *a", max_nodes=6)


def test_aliases_cannot_hide_depth() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 40)]
    assert "nested" in fault("\n".join(lines)).message


def test_a_merge_key_fills_only_what_is_missing() -> None:
    """Foundry honours `<<`; a merged `draft: true` must not be lost."""
    node = load("base: &b {draft: true, title: B}\n<<: *b\ntitle: Own", "f.md")
    assert yamlfile.core_value(node) == {"base": {"draft": True, "title": "B"}, "title": "Own", "draft": True}
    assert yamlfile.core_value(load("'<<': 5", "f.md")) == {"<<": 5}


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "\n\n"])
def test_nothing_is_an_empty_scalar(text: str) -> None:
    """C070: an empty file, only comments."""
    assert yamlfile.is_null(load(text, "f.md"))


@pytest.mark.parametrize(("text", "wanted"), [("yes", True), ("On", True), ("y", True), ("no", False), ("OFF", False), ("true", True)])
def test_a_declared_boolean_takes_the_words_foundry_takes(text: str, wanted: bool) -> None:
    """docs/rules.md, YAML."""
    assert yamlfile.boolean(value(text)) is wanted


def texts(node, key="x"):
    return yamlfile.text_list(node, key, lambda *_: None)


def maps(node, key="x"):
    return yamlfile.map_list(node, key, lambda *_: None)


@pytest.mark.parametrize(("convert", "text", "words"), [
    (yamlfile.boolean, '"true"', ['the text "true"', "true or false"]), (yamlfile.boolean, "1", ["the number 1"]),
    (yamlfile.boolean, "flase", ["flase"]), (yamlfile.boolean, "", ["nothing"]),
    (yamlfile.integer, '"16"', ["the text"]), (yamlfile.integer, "1e9", ["whole number"]), (yamlfile.integer, "9" * 30, ["whole"]),
    (yamlfile.number, ".nan", ["a number"]), (yamlfile.number, "no", ["no"]),
    (yamlfile.text, "[a, b]", ["a list", "text"]), (yamlfile.text, "{x: 1}", ["a map"]),
    (texts, "{a: b}", ["a map", "list"]), (texts, "[{a: b}]", ["a map"]),
    (texts, "[[a]]", ["a list"]), (maps, "solo", ["solo", "list of maps"]), (yamlfile.mapping, "[a]", ["a list", "a map"]),
])
def test_a_wrong_type_is_named_with_what_was_wanted(convert, text: str, words: list[str]) -> None:
    """C036 k6, C070."""
    with pytest.raises(YamlFault) as caught:
        convert(value(text), "key")
    assert caught.value.key == "key"
    for word in ["`key`", *words]:
        assert word in caught.value.message


def test_declared_text_stays_as_written() -> None:
    assert [yamlfile.text(value(t)) for t in ("1.10", "no", "12:30", "007", "~", "true")] == ["1.10", "no", "12:30", "007", "", "true"]
    assert texts(value("[no, 1.0, ~, ' ']")) == ["no", "1.0"]
    assert texts(value("")) == []


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Zl", "Zp"]), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4), max_leaves=20,
)


@given(json_values)
def test_json_reads_as_itself(data: object) -> None:
    """YAML 1.2: JSON is YAML."""
    assert yamlfile.core_value(load(json.dumps(data, ensure_ascii=False), "f.md")) == data


@given(st.text(alphabet=st.sampled_from(list("ab:-[]{},&*!|>'\"#%@`? \n\t0~<\0\ufeff\u2028é")), max_size=60))
def test_any_text_loads_or_faults(text: str) -> None:
    try:
        node = load(text, "f.md")
    except YamlFault as caught:
        assert 1 <= caught.line <= text.count("\n") + text.count("\u2028") + 1
        return
    assert isinstance(node, Scalar | Sequence | Mapping)
    json.dumps(yamlfile.core_value(node), allow_nan=False)
