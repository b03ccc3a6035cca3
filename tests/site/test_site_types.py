"""Content types and their entries (P16–P22; docs/rules.md, Content types, Odd places)."""

import json
import pickle

import pytest

from cmsmcp.protocol.errors import ContentTypeNotFound
from cmsmcp.site.types.fields import Field, check_value
from cmsmcp.site.types.registry import entry_values, load_types, validate_entry

TYPES = "content/types"
# The seed's own example of a schema, byte for byte.
SEED = {
    "id": "c33f35ea-0d98-4a00-95a5-2d8c2d88cf0c", "name": "Posts", "slug": "post", "kind": "collection", "previewEnabled": True,
    "tableName": "posts",
    "fields": [
        {"name": "title", "type": "string", "width": "half", "required": True},
        {"name": "slug", "type": "uid", "width": "half", "required": True, "targetField": "title"},
    ],
    "isDefault": True, "createdAt": "2026-05-01T00:00:00.000Z", "updatedAt": "2026-05-23T00:00:00.000Z",
}  # fmt: skip


def test_the_seeds_schema_comes_out_byte_for_byte(make_site) -> None:
    """P22; docs/rules.md, Content types: the order of keys, however the author ordered them."""
    source = """\
updatedAt: 2026-05-23T00:00:00Z
createdAt: 2026-05-01
isDefault: true
fields:
  - {required: true, width: half, type: string, name: title}
  - {targetField: title, name: slug, required: true, type: uid, width: half}
tableName: posts
slug: post
id: c33f35ea-0d98-4a00-95a5-2d8c2d88cf0c
name: Posts
"""
    types = make_site({f"{TYPES}/post.yaml": source}).types
    assert types.diagnostics == ()
    assert json.dumps(types.get("post"), indent=2) == json.dumps(SEED, indent=2)


def test_page_and_post_exist_without_a_file(site) -> None:
    """docs/rules.md, Content types: ids are the same on every machine, times are left out rather than taken from a file's mtime (P22)."""
    types = site.types
    assert [kind["name"] for kind in types.all()] == ["Pages", "Posts"]
    post = types.get("post")
    assert list(post) == ["id", "name", "slug", "kind", "previewEnabled", "tableName", "fields", "isDefault"]
    assert post["id"] == "de8cc906-6814-5548-91ca-018a4f120230"
    assert types.names() == ["page", "post"]
    assert types.locales() == {"defaultLocale": "en", "locales": ["en"]}
    with pytest.raises(ContentTypeNotFound):
        types.get("nope")


def test_every_field_type_with_its_options(make_site) -> None:
    """docs/rules.md, Content types."""
    source = """\
name: Things
fields:
  - {name: title, type: string, required: true, width: two-thirds}
  - {name: code, type: uid, targetField: title}
  - {name: blurb, type: text}
  - {name: body, type: richtext}
  - {name: price, type: number, subtype: float}
  - {name: stock, type: number}
  - {name: hot, type: boolean}
  - {name: at, type: datetime}
  - {name: cover, type: media, allowedTypes: [image, video]}
  - {name: shots, type: media-gallery}
  - {name: maker, type: relation, relatedSlug: page, relatedTable: pages}
  - {name: others, type: relation, relationType: many-to-many, relatedSlug: big-thing}
  - {name: used_by, type: relation, relationType: one-to-many, relatedTable: posts, relatedField: thing}
  - name: rows
    type: array
    arrayFields:
      - {type: mixed, name: value}
      - {required: true, name: label, type: string}
  - {name: menu, type: navigation}
"""
    types = make_site({f"{TYPES}/big-thing.yaml": source}).types
    assert types.diagnostics == ()
    kind = types.find("big-thing")
    assert (kind.table, kind.folder, kind.body_field, kind.single) == ("big_thing", "content/big_thing", "body", False)
    fields = {options["name"]: options for options in types.get("big-thing")["fields"]}
    assert list(fields["others"]) == ["name", "type", "relatedSlug", "relationType"]
    assert list(fields["rows"]) == ["name", "type", "arrayFields"]
    assert fields["rows"]["arrayFields"] == [{"name": "value", "type": "mixed"}, {"name": "label", "type": "string", "required": True}]
    assert fields["cover"]["allowedTypes"] == ["image", "video"]
    assert pickle.loads(pickle.dumps(types)).names() == types.names()


@pytest.mark.parametrize(("name", "source", "line", "word"), [
    ("thing", "fields:\n  - {name: status, type: string}", 2, "status"), ("thing", "fields:\n  - {name: id, type: string}", 2, "id"),
    ("thing", "fields:\n  - {name: select, type: string}", 2, "select"), ("thing", "fields:\n  - {name: A b, type: string}", 2, "A b"),
    ("thing", "fields:\n  - {name: a, type: json}", 2, "json"), ("thing", "fields:\n  - {name: a}", 2, "unknown type"),
    ("thing", "fields:\n  - {name: a, type: text}\n  - {name: a, type: text}", 3, "twice"), ("thing", "fields: text", 1, "list of maps"),
    ("thing", "fields:\n  - {name: a, type: text, width: wide}", 2, "width"),
    ("thing", "fields:\n  - {name: a, type: text, required: 1}", 2, "required"),
    ("thing", "fields:\n  - {name: a, type: uid, targetField: b}", 2, "targetField"),
    ("thing", "fields:\n  - {name: a, type: number, subtype: big}", 2, "subtype"),
    ("thing", "fields:\n  - {name: a, type: media, allowedTypes: [pdf]}", 2, "allowedTypes"),
    ("thing", "fields:\n  - {name: a, type: array}", 2, "arrayFields"),
    ("thing", "fields:\n  - {name: a, type: array, arrayFields: [{name: b, type: relation}]}", 2, "relation"),
    ("thing", "fields:\n  - {name: a, type: relation, relatedSlug: nope}", 2, "nope"),
    ("thing", "fields:\n  - {name: a, type: relation}", 2, "a"),
    ("thing", "fields:\n  - {name: a, type: relation, relatedSlug: post, relationType: some}", 2, "relationType"),
    ("thing", "tableName: images", 1, "images"), ("thing", "tableName: posts", 1, "post"), ("thing", "tableName: Bad-Name", 1, "tableName"),
    ("thing", "tableName: order", 1, "order"), ("thing", "name: Posts", 1, "post"), ("thing", "slug: other", 1, "slug"),
    ("thing", "kind: many", 1, "kind"), ("thing", "id: 12", 1, "UUID"), ("thing", "updatedAt: soon", 1, "updatedAt"),
    ("thing", "a: 1\na: 2", 2, "`a`"),
    ("thing", "- a", 1, "map"), ("thing", "x: [", 1, ""), ("authors", "name: A", 1, "authors"), ("search", "", 1, "search"),
    ("locales", "", 1, "locales"),
    ("content-types", "", 1, "content-types"), ("openapi.json", "", 1, "openapi.json"),
    ("Bad_Slug", "", 1, "slug"), ("config", "", 1, "config"),
])
def test_a_faulty_type_is_an_error_and_the_rest_is_served(make_site, name: str, source: str, line: int, word: str) -> None:
    """docs/rules.md, Odd places."""
    site = make_site({f"{TYPES}/{name}.yaml": source, f"{TYPES}/good.yaml": "name: Good\n", f"content/{name}/a.md": "x"})
    types = load_types(site.config)
    assert types.names() == ["good", "page", "post"]
    faults = [fault for fault in types.diagnostics if fault.severity == "error"]
    assert faults
    assert all(fault.path == f"{TYPES}/{name}.yaml" for fault in faults)
    assert any((fault.line or 1) == line and word in fault.message for fault in faults), faults
    assert site.found() == []


def test_a_faulty_post_file_leaves_the_built_in_type(make_site) -> None:
    types = make_site({f"{TYPES}/post.yaml": "fields: [{name: id, type: text}]\n", "content/posts/a.md": "x"}).types
    assert types.get("post")["name"] == "Posts"
    assert len(types.diagnostics) == 1


def test_a_type_that_leads_to_a_refused_one_is_refused_too(make_site) -> None:
    types = make_site({
        f"{TYPES}/a.yaml": "fields: [{name: b, type: relation, relatedSlug: b}]\n",
        f"{TYPES}/b.yaml": "fields: [{name: c, type: relation, relatedSlug: c}]\n", f"{TYPES}/c.yaml": "kind: x\n",
    }).types
    assert types.names() == ["page", "post"]
    assert [fault.path for fault in types.diagnostics] == [f"{TYPES}/c.yaml", f"{TYPES}/b.yaml", f"{TYPES}/a.yaml"]


def test_unknown_options_are_left_out_with_a_warning(make_site) -> None:
    types = make_site({f"{TYPES}/a.yaml": "colour: red\nfields:\n  - {name: b, type: text, max: 3}\n"}).types
    assert types.get("a")["fields"] == [{"name": "b", "type": "text"}]
    assert sorted((f.severity, f.line) for f in types.diagnostics) == [("warning", 1), ("warning", 3)]


PRODUCT = """\
name: Products
tableName: products
fields:
  - {name: title, type: string, required: true}
  - {name: slug, type: uid, targetField: title}
  - {name: body, type: richtext}
  - {name: sku, type: string, required: true}
  - {name: price, type: number, subtype: float}
  - {name: stock, type: number}
  - {name: hot, type: boolean}
  - {name: at, type: datetime}
  - {name: tags, type: media-gallery}
  - {name: related, type: relation, relationType: many-to-many, relatedSlug: products}
  - {name: rows, type: array, arrayFields: [{name: label, type: string, required: true}, {name: n, type: number}, {name: v, type: mixed}]}
  - {name: menu, type: navigation}
"""


def entry(make_site, head: str, body: str = "text"):
    path = "content/products/de/shelf/one.md"
    site = make_site({f"{TYPES}/products.yaml": PRODUCT, path: f"---\n{head}\n---\n{body}"})
    return site, site.parse(path)


def test_an_entry_of_a_custom_type(make_site) -> None:
    """docs/rules.md, Content types: `fields:` or top-level keys supply values, declared types apply, the body is the first richtext."""
    head = (
        "title: One\nsku: 007\nprice: 1.10\nhot: yes\nother: no\ntags: [a]\nfields:\n  at: 2026-03-06 10:00\n  related: [de:product:x]\n"
        "  rows: [{label: no, n: 2, v: {kind: number, value: 3}, junk: 1}]\n"
        "  menu: [{label: 1, href: /, items: [{label: b, href: /b}]}]\n  free: 12:30"
    )
    site, result = entry(make_site, head)
    document = result.document
    assert result.diagnostics == ()
    assert (document.id, document.url, document.lang) == ("de:products:shelf/one", "/de/products/one/", "de")
    assert document.fields == {
        "sku": "007", "price": 1.10, "hot": True, "at": "2026-03-06T10:00:00.000Z", "related": ["de:product:x"],
        "rows": [{"label": "no", "n": 2, "v": {"kind": "number", "value": 3}}],
        "menu": [{"label": "1", "href": "/", "items": [{"label": "b", "href": "/b"}]}], "free": "12:30",
    }
    assert document.params == {"other": "no"}
    kind = site.types.find("products")
    values = entry_values(kind, document)
    assert list(values) == [field.name for field in kind.fields]
    assert (values["title"], values["slug"], values["body"], values["stock"], values["tags"]) == ("One", "one", "text", None, ["a"])


@pytest.mark.parametrize(("head", "line", "word"), [
    ("title: T", 1, "`sku` is required"), ("sku: ''", 2, "`sku` is required"), (f"sku: {'x' * 256}", 2, "255"), ("sku: [a]", 2, "`sku`"),
    ("sku: a\nprice: cheap", 3, "`price`"), ("sku: a\nstock: 1.5", 3, "whole number"), ("sku: a\nhot: 1", 3, "`hot`"),
    ("sku: a\nat: soon", 3, "`at`"),
    ("sku: a\nrelated: {a: b}", 3, "`related`"), ("sku: a\nrows: [a]", 3, "`rows`"), ("sku: a\nrows: [{n: 1}]", 3, "item 1: `label`"),
    ("sku: a\nrows: [{label: b, v: {kind: number, value: x}}]", 3, "kind"), ("sku: a\nmenu: [{label: a}]", 3, "`menu`"),
    ("sku: a\nfields:\n  stock: x", 4, "`stock`"), (f"sku: a\ntitle: {'x' * 256}", 3, "`title`"),
    ("sku: a\nmenu: " + "[{label: a, href: b, items: " * 4 + "[]" + "}]" * 4, 3, "3 deep"),
    ("sku: a\nmenu: [" + "{label: a, href: b}," * 21 + "]", 3, "20"),
])
def test_an_entry_that_breaks_its_type_is_an_error_and_not_served(make_site, head: str, line: int, word: str) -> None:
    """docs/rules.md, Content types."""
    _, result = entry(make_site, head)
    assert result.document is None
    assert [(d.severity, d.line, word in d.message) for d in result.diagnostics] == [("error", line, True)], result.diagnostics


@pytest.mark.parametrize(("head", "told"), [
    ("price: cheap\nhot: 1", [("field_type", 2), ("field_type", 3), ("entry", 1)]),
    ("title: [a]\nstock: x\nrows: [{n: 1}]", [("field_type", 2), ("field_type", 3), ("entry", 1), ("entry", 4)]),
    ("slug: a/b\nsku: ''\nat: soon", [("slug", 2), ("entry", 3), ("entry", 4)]),
    ("date: soon\nscheduled_publish_at: soon", [("date", 2), ("date", 3), ("entry", 1)]),
    ("fields: [a]", [("field_type", 2)]),
])
def test_every_fault_of_an_entry_is_told_at_once(make_site, head: str, told: list[tuple[str, int]]) -> None:
    """A value of the wrong type hides no rule that another field breaks, and is not called missing itself."""
    _, result = entry(make_site, head)
    assert result.document is None
    found = [(one.check, one.line) for one in result.diagnostics]
    assert sorted(found) == sorted(told), [one.message for one in result.diagnostics]


def test_a_single_lives_at_its_slug(make_site) -> None:
    """docs/rules.md, Identity and URLs: `/<slug of the type>/`."""
    site = make_site({f"{TYPES}/site-info.yaml": "kind: single\n", "content/site_info/main.md": "x", "content/site_info/es/main.md": "x"})
    assert [site.document(path).url for path in site.found()] == ["/es/site-info/", "/site-info/"]


def test_an_inverse_relation_is_never_given() -> None:
    field = Field("used_by", "relation", relation="one-to-many", related="post")
    [(name, message)] = check_value(field, "x")
    assert (name, "computed" in message) == ("used_by", True)
    assert list(check_value(field, None)) == []


def test_a_draft_entry_is_checked_like_any_other(make_site) -> None:
    _, result = entry(make_site, "draft: true\nstock: x\nsku: a")
    assert result.document is None


def test_validation_takes_plain_values(make_site) -> None:
    kind = make_site({f"{TYPES}/products.yaml": PRODUCT}).types.find("products")
    assert validate_entry(kind, {"title": "a", "sku": "b", "unknown": object()}) == []
    assert [name for name, _ in validate_entry(kind, {"title": 3, "sku": "b", "hot": "yes", "stock": True, "price": True})] == [
        "title", "price", "stock", "hot",
    ]
