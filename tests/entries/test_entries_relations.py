"""Relations given whole: two deep, visible only, in the locale served, with a number of questions that does not grow with the entries."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from cmsmcp.core.ports import Visibility
from cmsmcp.protocol.errors import InvalidArguments
from cmsmcp.site.entries import relations

TYPES = {
    "book": """name: Books
tableName: books
fields:
  - {name: title, type: string}
  - {name: slug, type: uid}
  - {name: writer, type: relation, relationType: many-to-one, relatedSlug: author-page}
  - {name: helpers, type: relation, relationType: many-to-many, relatedTable: author_pages}
  - {name: sequel, type: relation, relationType: one-to-one, relatedSlug: book}
""",
    "author-page": """name: Author pages
tableName: author_pages
fields:
  - {name: title, type: string}
  - {name: slug, type: uid}
  - {name: mentor, type: relation, relationType: many-to-one, relatedSlug: author-page}
  - {name: books, type: relation, relationType: one-to-many, relatedSlug: book, relatedField: writer}
  - {name: helped, type: relation, relationType: one-to-many, relatedSlug: book, relatedField: helpers}
""",
}


def documents() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {
        "author_pages/ann.md": {"title": "Ann", "fields": {"mentor": "ben"}},
        "author_pages/ben.md": {"title": "Ben", "fields": {"mentor": "ann"}},
        "author_pages/de/ann.md": {"title": "Anne", "slug": "anne", "fields": {"mentor": "ben"}},
        "author_pages/ghost.md": {"title": "Ghost", "draft": True, "author": "Gus"},
        "author_pages/fr/eva.md": {"title": "Eva", "slug": "eva"},
        "books/de/b1.md": {"title": "Buch 1", "slug": "buch-1", "fields": {"writer": "anne", "helpers": ["ben", "eva"]}},
        "books/hidden.md": {"title": "Hidden", "draft": True, "fields": {"writer": "ann"}},
    }  # fmt: skip
    for number in range(1, 41):
        fields = {"writer": "ann" if number % 2 else "en:author-page:ben", "helpers": ["ben", "ghost", "ann"], "sequel": f"b{number + 1}"}
        found[f"books/b{number}.md"] = {"title": f"Book {number:02}", "fields": fields}
    found["books/b40.md"]["fields"] = {"writer": "ghost", "sequel": "hidden"}
    return found


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    return make_site(TYPES, documents())


def test_a_relation_is_an_id_or_the_entry_it_leads_to(site: Any) -> None:
    """Issue 5 item 1: populate, published only."""
    plain = site.get("book", "b2").values
    assert (plain["writer"], plain["helpers"], plain["sequel"]) == ("en:author-page:ben", ["ben", "ann"], "b3")
    whole = site.get("book", "b2", populate=("writer.mentor", "helpers", "sequel")).values
    assert (whole["writer"]["title"], whole["writer"]["mentor"]["title"]) == ("Ben", "Ann")
    assert [one["title"] for one in whole["helpers"]] == ["Ben", "Ann"]
    assert whole["writer"]["mentor"]["mentor"] == "ben"
    assert (whole["sequel"]["id"], whole["sequel"]["writer"]) == ("en:book:b3", "ann")
    assert list(whole) == list(plain)


def test_a_hidden_target_is_none_at_all(site: Any) -> None:
    """docs/rules.md, Unpublished documents."""
    for populate in ((), ("writer", "sequel", "helpers")):
        values = site.get("book", "b40", populate=populate).values
        assert (values["writer"], values["sequel"], values["helpers"]) == (None, None, [])
    own = Visibility(frozenset({"published", "draft"}), "gus")
    values = site.get("book", "b40", own, populate=("writer", "sequel")).values
    assert (values["writer"]["title"], values["sequel"]) == ("Ghost", None)


def test_the_computed_side_is_given_to_those_who_name_it(site: Any) -> None:
    """By URL; what is hidden is not among them."""
    assert "books" not in site.get("author-page", "ann").values
    ids = site.get("author-page", "ann", fields=frozenset({"books"})).values["books"]
    assert ids == sorted(f"en:book:b{number}" for number in range(1, 40, 2))
    whole = site.get("author-page", "ann", populate=("books.sequel", "helped")).values
    assert [one["id"] for one in whole["books"]] == ids
    assert whole["books"][0]["sequel"]["id"] == "en:book:b2"
    assert len(whole["helped"]) == 39
    assert site.get("author-page", "eva", locale="fr", populate=("books",)).values["books"] == []


def test_relations_speak_the_language_served(site: Any) -> None:
    """docs/rules.md, Languages: the entry's own language, then its fallbacks."""
    german = site.get("book", "buch-1", locale="de", populate=("writer", "helpers")).values
    assert (german["writer"]["title"], german["writer"]["locale"]) == ("Anne", "de")
    assert [one["title"] for one in german["helpers"]] == ["Ben"]  # French is no fallback of German
    asked = site.get("book", "buch-1", locale="de", populate=("helpers",), fallbacks=("fr",)).values
    assert [one["title"] for one in asked["helpers"]] == ["Eva"]
    english = site.get("book", "b1", populate=("writer",)).values
    assert english["writer"]["title"] == "Ann"
    books = site.get("author-page", "anne", locale="de", populate=("books",)).values["books"]
    assert [one["locale"] for one in books] == ["en"] * 19 + ["de"]
    assert site.slugs("book", ("writer", "eq", "anne"), locale="de", limit=5) == ["buch-1"]
    assert site.list("book", ("writer", "eq", "de:author-page:ann")).total == 20


def test_the_number_of_questions_does_not_depend_on_the_number_of_entries(site: Any, statements: list[str]) -> None:
    """Issue 5 item 5: no N+1 on populate, queries counted."""
    counted = {}
    for limit in (2, 20, 40):
        site.store = site.open()
        statements.clear()
        site.list("book", limit=limit, populate=("writer.mentor", "writer.books", "helpers.mentor", "sequel.writer"))
        counted[limit] = len(statements)
    assert len(set(counted.values())) == 1
    statements.clear()
    site.list("book", limit=40)
    assert len(statements) <= 8


def test_more_than_an_answer_can_hold_is_refused(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is cut in silence. Entries that are given several times count each time."""
    monkeypatch.setattr(relations, "MOST_REACHED", 100)
    assert len(site.list("book", limit=40, populate=("helpers",)).items) == 40
    with pytest.raises(InvalidArguments, match="more than 100 entries") as refused:
        site.list("book", limit=40, populate=("helpers.helped",))
    assert refused.value.data["argument"] == "populate"
    monkeypatch.setattr(relations, "MOST_REACHED", 19)
    with pytest.raises(InvalidArguments, match="book.writer leads to more than 19"):
        site.get("author-page", "ann", fields=frozenset({"books"}))


def test_an_unknown_path_is_refused_with_those_there_are(site: Any) -> None:
    with pytest.raises(InvalidArguments, match="'title'.*Relations of book: writer, helpers, sequel"):
        site.list("book", populate=("title",))
    with pytest.raises(InvalidArguments, match="Relations of author-page: mentor, books, helped"):
        site.list("book", populate=("writer.writer",))


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_ids_and_relations_are_found_in_either_normal_form(make_site: Any, form: str) -> None:
    """docs/rules.md, Identity and URLs: a file name that macOS wrote decomposed."""
    name, typed = unicodedata.normalize("NFD", "grün"), unicodedata.normalize(form, "grün")
    site = make_site(TYPES, {
        f"author_pages/{name}.md": {"title": "G"}, "books/a.md": {"title": "A", "fields": {"writer": f"en:author-page:{typed}"}},
        "books/b.md": {"title": "B", "fields": {"helpers": [typed]}},
    })  # fmt: skip
    assert site.slugs("author-page", ("id", "eq", f"en:author-page:{typed}")) == ["grün"]
    assert site.get("author-page", f"en:author-page:{typed}").values["title"] == "G"
    assert site.slugs("book", ("writer", "eq", typed)) == ["a"]
    assert site.slugs("book", ("writer", "eq", f"en:author-page:{typed}")) == ["a"]
    assert site.slugs("book", ("helpers", "eq", f"en:author-page:{typed}")) == ["b"]
