"""The example site holds what the issue asks of it (item 7), read through the real loader, and checks without an error."""

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import STATUSES, Document, Visibility
from cmsmcp.protocol.errors import NotFound
from cmsmcp.site.open import OpenSite, open_site

SITE = Path(__file__).resolve().parents[2] / "examples/site"
EVERYTHING = Visibility(frozenset(STATUSES))
PUBLIC = Visibility()


def documents(site: OpenSite, visibility: Visibility, deadline: Deadline, **wanted: str | None) -> list[Document]:
    found, cursor = [], None
    while True:
        page = site.site.content.list_documents(
            type=wanted.get("type"), lang=wanted.get("lang"), taxonomy={}, visibility=visibility,
            updated_after=None, updated_before=None, limit=100, cursor=cursor, deadline=deadline,
        )  # fmt: skip
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


def get(site: OpenSite, deadline: Deadline, **wanted: str) -> Document:
    keys = dict.fromkeys(("slug", "url", "id", "type", "lang")) | wanted
    return site.site.content.get_document(**keys, visibility=PUBLIC, deadline=deadline)


def test_more_than_forty_documents_in_three_languages(example, deadline):
    langs = Counter(document.lang for document in documents(example, EVERYTHING, deadline))
    assert sum(langs.values()) >= 80
    assert set(langs) == {"en", "de", "ja"}
    assert min(langs.values()) >= 15


def test_every_status_occurs_and_only_the_published_are_public(example, deadline):
    """docs/rules.md, Status: public is what is computed as published, on the list too."""
    statuses = Counter(document.status for document in documents(example, EVERYTHING, deadline))
    assert set(statuses) == set(STATUSES)
    public = documents(example, PUBLIC, deadline)
    assert {document.status for document in public} == {"published"}
    assert len(public) == statuses["published"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("content/posts/budget-2027.md", "draft"),
        ("content/posts/bright-comet.md", "in_review"),
        ("content/posts/halley-letter.md", "scheduled"),
        ("content/posts/jubilee-2011.md", "archived"),
        ("content/posts/storm-closure.md", "draft"),  # published once, and past its end
        ("content/posts/time-capsule.md", "published"),  # until Halley is back
    ],
)
def test_the_documents_of_the_story_have_their_status(example, deadline, path, status):
    assert {d.path: d.status for d in documents(example, EVERYTHING, deadline)}[path] == status


def test_the_three_front_matter_forms_give_the_same_kind_of_document(example, deadline):
    """docs/rules.md, Front matter: YAML, TOML, JSON."""
    for slug, tag in (("dome-reopens", "dome"), ("perseids-2026-count", "meteors"), ("why-red-light", "beginners")):
        document = get(example, deadline, slug=slug)
        assert document.type == "post"
        assert tag in document.taxonomies["tags"]
        assert document.date
        assert not document.body.startswith(("---", "+++", "{"))


def test_types_of_its_own_use_every_field_type(example):
    """docs/rules.md, Content types: every field type but plain text occurs, relations in all four kinds, one single."""
    types = [kind for kind in example.site.types.all() if kind["slug"] not in ("page", "post")]
    fields = [field for kind in types for field in kind["fields"]]
    assert len(types) >= 5
    assert [kind["slug"] for kind in types if kind["kind"] == "single"] == ["site-settings"]
    assert {field["type"] for field in fields} == {
        "string", "richtext", "uid", "number", "boolean", "datetime", "media", "media-gallery", "relation", "array", "navigation",
    }  # fmt: skip
    relations = {field["relationType"] for field in fields if field["type"] == "relation"}
    assert relations == {"one-to-one", "many-to-one", "many-to-many", "one-to-many"}


def test_each_type_has_entries_in_all_languages(example, deadline):
    entries = Counter((document.type, document.lang) for document in documents(example, PUBLIC, deadline))
    for slug in example.site.types.all():
        assert all(entries[slug["slug"], lang] for lang in ("en", "de", "ja")), slug["slug"]


def test_a_missing_translation_falls_back_along_its_chain(example, deadline):
    """docs/rules.md, Languages; C045: de-AT asks German, then English, and the reply says which was served."""
    english, german = get(example, deadline, slug="accessibility", lang="de-AT"), get(example, deadline, slug="ueber-uns", lang="de-AT")
    assert (english.lang, english.locale) == ("en", "de-AT")
    assert (german.lang, german.locale) == ("de", "de-AT")


def test_translations_are_found_whatever_their_slugs(example, deadline):
    """docs/rules.md, Odd places: same type and same path below the language folder."""
    twins = {twin["lang"]: twin["url"] for twin in get(example, deadline, url="/posts/dome-reopens/").translations}
    assert twins["de"] == "/de/posts/kuppel-wieder-offen/"
    assert twins["ja"] == "/ja/posts/dome-reopens/"


@pytest.mark.parametrize(("query", "lang", "id"), [
    ("larch shingles", None, "en:post:2026/dome-reopens"),
    ("Lärchenschindeln", "de", "de:post:2026/dome-reopens"),
    ("アンドロメダ銀河", "ja", "ja:sky-object:andromeda-galaxy"),
])  # fmt: skip
def test_each_language_is_found_by_search(example, deadline, query, lang, id):
    hits = example.site.content.search(query, type=None, lang=lang, visibility=PUBLIC, limit=5, cursor=None, deadline=deadline)
    assert hits.items[0].document.id == id


def test_menus_nest_and_hold_only_what_is_published(example, deadline):
    """F16: menus and the index of published pages."""
    navigation = example.site.content.get_navigation(lang=None, deadline=deadline)
    assert [entry["name"] for entry in navigation["menus"]["main"][0]["items"]] == ["Getting here", "Accessibility", "Questions"]
    assert {"main", "main-de", "main-ja", "footer"} <= set(navigation["menus"])


def test_one_theme_is_clean_and_one_is_not(example, deadline):
    themes = example.site.themes
    assert set(themes.names()) == {"nightglass", "carnival"}
    assert themes.validate(None, deadline) == {"name": "nightglass", "active": True, "valid": True, "diagnostics": []}
    faulty = themes.validate("carnival", deadline)["diagnostics"]
    for word in ("confetti.min.js", "page.after_main", "'confetti'", "define", "no target", "stats.party.example"):
        assert any(word in fault["message"] for fault in faulty), word


def test_the_plugins_are_one_of_each_kind(example, deadline):
    """docs/rules.md, Plugins."""
    records = {record["name"]: record for record in example.site.plugins.records(deadline)}
    assert {name: record["health"] for name, record in records.items()} == {
        "moonphase": "enabled", "weatherglass": "enabled", "guestbook": "degraded",
    }  # fmt: skip
    assert records["moonphase"]["risk_tier"] == "low"
    assert records["weatherglass"]["risk_tier"] == "medium"
    assert records["moonphase"]["security_mismatches"] == records["weatherglass"]["security_mismatches"] == []
    undeclared = " ".join(fault["message"] for fault in records["guestbook"]["security_mismatches"])
    for permission in ("network.outbound", "network.inbound", "process.exec", "environment.read", "filesystem.write"):
        assert f"permissions.{permission}" in undeclared
    assert records["guestbook"]["requires_approval"] is True


def test_the_docs_hold_guides_and_an_openapi_file(example, deadline):
    files = [file["path"] for file in example.site.docs.list_files(deadline)]
    assert {"README.md", "api.yaml", "guides/writing.md", "operations/plugins.md", "reference/content-model.md"} <= set(files)
    definition = example.site.docs.api_definition()
    assert definition["version"].startswith("3.1") or definition["definition"]["openapi"] == "3.1.0"
    assert set(definition["definition"]["paths"]) == {"/observations", "/observations/{slug}", "/sky-brightness"}


def test_it_checks_without_an_error_but_for_the_guest_book(example, deadline):
    """Every finding stems from the plugin that is faulty on purpose."""
    report = example.site.operations.validate(deadline)
    assert [finding for finding in report["findings"] if not finding["path"].startswith("plugins/guestbook")] == []
    assert report["error_count"] > 0


def test_staging_shows_what_keeps_the_redesign_from_going_live(staging, deadline):
    """docs/rules.md, Configuration: site.staging.yaml is layered over site.yaml."""
    report = staging.site.operations.validate(deadline)
    places = {finding["path"].split("/")[1] for finding in report["findings"] if finding["severity"] == "error"}
    assert places == {"carnival", "guestbook"}


def test_what_is_not_public_is_as_good_as_absent(example, deadline):
    """C049: the same words for a draft and for nothing."""
    with pytest.raises(NotFound) as hidden:
        get(example, deadline, slug="budget-2027")
    with pytest.raises(NotFound) as absent:
        get(example, deadline, slug="budget-2099")
    assert hidden.value.message.replace("2027", "2099") == absent.value.message


def test_reading_changes_no_byte(tmp_path, deadline):
    """F1: the tree's hash is the same after indexing and a full check."""

    def digest() -> str:
        whole = hashlib.sha256()
        for path in sorted(SITE.rglob("*")):
            whole.update(str(path.relative_to(SITE)).encode() + b"\0" + (path.read_bytes() if path.is_file() else b""))
        return whole.hexdigest()

    before = digest()
    opened = open_site(SITE, tmp_path)
    opened.start()
    try:
        opened.site.operations.validate(deadline)
        opened.site.operations.health(deadline)
    finally:
        opened.close()
    assert digest() == before
