"""Filters, orders, pages, projections and relations over real HTTP on the example site (issue 5 item 1; docs/api.md, Parameters)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from cmsmcp.api.fields import fields_of
from cmsmcp.core.entries import OWN_FIELDS

SAMPLES = {"number": "4", "boolean": "true", "datetime": "2026-12-12T16:30:00Z", "relation": "ada-okafor"}


def ask(server: Any, path: str, **parameters: str) -> Any:
    reply = server.get(f"/api/{path}?{urlencode(parameters)}", server.token())
    assert reply.status == 200, reply.body
    return reply.json


def titles(server: Any, path: str, *filters: str, **parameters: str) -> list[str]:
    given = [(f"filters{name}", value) for name, _, value in (one.partition("=") for one in filters)]
    query = urlencode([*given, *{"fields": "title", "limit": "100", **parameters}.items()])
    reply = server.get(f"/api/{path}?{query}", server.token())
    assert reply.status == 200, reply.body
    return [entry["title"] for entry in reply.json["data"]]


def test_every_operator_that_is_offered_is_answered(server: Any) -> None:
    """What the door lets through the store knows: a field of each kind by each of its operators, and each order by one."""
    listed = [kind["slug"] for kind in ask(server, "content-types")["data"]]
    types = [ask(server, f"content-types/{slug}") for slug in listed]
    tried: set[tuple[Any, ...]] = set()
    for fields in (fields_of(kind, types) for kind in types if kind["kind"] == "collection"):
        for name in (*fields.filtered, *fields.sorted):
            field = fields.by_name[name]
            kind = (field.type, field.whole, field.relation, name if name in OWN_FIELDS else "")
            for operator in field.operators if kind not in tried else ():
                value = "true" if operator == "null" else "x" if operator == "contains" else SAMPLES.get(field.type, "x")
                body = ask(server, fields.slug, **{f"filters[{name}][{operator}]": value}, fields="id", limit="1")
                assert body["total"] >= len(body["data"])
            if field.sorted and kind not in tried:
                ask(server, fields.slug, sort=f"-{name}", fields="id")
            tried.add(kind)
    assert len(tried) >= 17


@pytest.mark.parametrize(
    ("path", "filters", "expected"),
    [
        ("event", ["[booking_required]=false"], ["Seance"]),
        ("event", ["[places][gte]=16", "[price_eur][gt]=0", "[price_eur][lt]=9.5"], ["First look through a telescope"]),
        ("event", ["[starts_at][gte]=2027-01-01", "[starts_at][lt]=2027-06-01T00:00:00Z"], ["Mirror-making weekend"]),
        ("event", ["[host]=jonas-hofer"], ["Mirror-making weekend"]),
        ("event", ["[host]=en:person:jonas-hofer"], ["Mirror-making weekend"]),
        ("event", ["[host][null]=true"], ["Seance"]),
        ("event", ["[title][contains]=telescope"], ["First look through a telescope"]),
        ("event", ["[title][in]=Seance,Mirror-making weekend"], ["Mirror-making weekend", "Seance"]),
        ("event", ["[title][nin]=Seance,Mirror-making weekend", "[places][ne]=16"], ["Perseid night 2027"]),
        ("vault", ["[opened]=true"], ["First"]),
    ],
)
def test_filters_find_what_fits_all_of_them(server: Any, path: str, filters: list[str], expected: list[str]) -> None:
    assert sorted(titles(server, path, *filters)) == expected


def test_rows_without_a_value_stay_under_ne_and_nin(server: Any) -> None:
    """docs/api.md, against Plank: there they drop out."""
    assert "Seance" in titles(server, "event", "[places][ne]=16") and "Seance" in titles(server, "event", "[places][nin]=16,8")


def test_entries_come_in_the_order_asked_for(server: Any) -> None:
    by_time = titles(server, "event", sort="starts_at")
    assert by_time[0] == "Seance" and by_time[-1] == "Perseid night 2027"
    assert titles(server, "event", sort="-starts_at") == titles(server, "event", sort="starts_at", order="desc") == by_time[::-1]
    rows = ask(server, "event", sort="booking_required,-title", fields="booking_required,title")["data"]
    assert [row["title"] for row in rows] == ["Seance", "Perseid night 2027", "Mirror-making weekend", "First look through a telescope"]


def test_a_page_has_what_was_asked_for_and_the_id(server: Any) -> None:
    assert [list(entry) for entry in ask(server, "event", fields="host,title")["data"]][0] == ["id", "title", "host"]
    assert ask(server, "event", select="title") == ask(server, "event", fields="title")
    left = list(ask(server, "event", exclude="body,programme")["data"][0])
    assert left[:2] == ["id", "title"] and "body" not in left and "programme" not in left and left[-1] == "locale"


def test_relations_are_given_whole_where_they_are_named(server: Any) -> None:
    """Two deep, published ones only: the host of the seance is a draft."""
    event = ask(server, "event/seance", populate="host,instruments.caretaker")
    assert event["host"] is None
    assert [(one["id"], one["caretaker"]["title"]) for one in event["instruments"]] == [("en:instrument:salvius-refractor", "Jonas Hofer")]
    assert ask(server, "event/seance")["instruments"] == ["salvius-refractor"]


def test_richtext_is_markdown_or_html(server: Any) -> None:
    markdown, html = (ask(server, "post/dome-reopens", format=one)["body"] for one in ("markdown", "html"))
    assert markdown == ask(server, "post/dome-reopens")["body"]
    assert html != markdown and "<p>" in html


def walk(server: Any, path: str, query: str) -> Iterator[Any]:
    """Replies from the first page on, by what `Link` says comes next."""
    while True:
        reply = server.get(f"/api/{path}?{query}", server.token())
        assert reply.status == 200, reply.body
        yield reply
        relations = dict(link.split("; rel=") for link in reply.headers["Link"].split(", "))
        following = {relation.strip('"'): url.strip("<>").removeprefix("?") for url, relation in relations.items()}
        if "next" not in following:
            return
        query = following["next"]


@pytest.mark.parametrize("query", ["limit=3&sort=-date,title", "limit=3&page=1&sort=-date,title"])
def test_links_lead_through_all_pages_once(server: Any, query: str) -> None:
    """RFC 8288. Without a page they go by cursor, with one by number."""
    whole = ask(server, "post", sort="-date,title", limit="100", fields="id")
    pages = list(walk(server, "post", query))
    assert [entry["id"] for page in pages for entry in page.json["data"]] == [entry["id"] for entry in whole["data"]]
    assert {page.json["total"] for page in pages} == {whole["total"]}
    numbered = "page" in query
    assert [page.json["page"] for page in pages] == [number if numbered or number == 1 else None for number in range(1, len(pages) + 1)]
    assert 'rel="first"' in pages[1].headers["Link"] and ('rel="prev"' in pages[1].headers["Link"]) == numbered


def test_a_page_behind_the_last_is_empty(server: Any) -> None:
    body = ask(server, "post", page="99")
    assert (body["data"], body["page"], body["next_cursor"]) == ([], 99, None) and body["total"] > 0


def test_lists_fall_back_only_where_they_are_told_to(server: Any) -> None:
    """`fallback` serves what the locale lacks; the reply names each locale that was served."""
    strict = server.get("/api/event?locale=ja&fields=id", server.token())
    filled = server.get("/api/event?locale=ja&fallback=de,en&fields=id,locale", server.token())
    assert strict.headers["Content-Language"] == "ja" and strict.json["total"] == 1
    assert filled.json["total"] == 4
    assert set(filled.headers["Content-Language"].split(", ")) == {entry["locale"] for entry in filled.json["data"]} == {"ja", "de", "en"}


@pytest.mark.parametrize("given", ["filters[api_key][contains]=squeamish", "filters[api_key][null]=true", "sort=api_key"])
def test_what_is_taken_out_of_replies_cannot_be_asked_about(server: Any, given: str) -> None:
    """docs/rules.md, Redaction: an order or a filter would tell the secret sign by sign."""
    reply = server.get(f"/api/vault?{given}", server.token())
    assert reply.status == 400 and "api_key" not in reply.json["error"].split(":")[-1]
    assert b"ossifrage" not in server.get("/api/vault/first", server.token()).body


def test_status_opens_with_the_scope_alone(server: Any) -> None:
    """docs/rules.md, Unpublished documents."""
    reply = server.get("/api/person?status=draft", server.token())
    assert (reply.status, reply.json["required_scopes"]) == (403, ["read:content", "read:unpublished"])
    rights = server.token("read-only", "--scope", "read:content", "--scope", "read:unpublished")
    drafts = server.get("/api/person?status=draft&fields=title,status", rights).json
    assert [(entry["title"], entry["status"]) for entry in drafts["data"]] == [("Ghost", "draft")] and drafts["total"] == 1
    assert server.get("/api/person/ghost?status=all", rights).json["title"] == "Ghost"
    assert server.get("/api/person/ghost", rights).status == 404
    assert server.get("/api/event/seance?status=all", rights).json["host"] == "ghost"


def test_an_author_has_the_number_of_published_documents(server: Any) -> None:
    """Plank's path; of its object a site of files has the name and the slug."""
    author = ask(server, "authors/ada-okafor")
    assert (author["slug"], author["name"], author["entries"]) == ("ada-okafor", "Ada Okafor", sum(author["types"].values()))
    languages = [(slug, locale) for slug in ("post", "page") for locale in ("en", "de", "ja")]
    found = sum(ask(server, slug, author="Ada Okafor", limit="1", locale=locale)["total"] for slug, locale in languages)
    assert found == author["types"]["post"] + author["types"]["page"]


def test_types_and_locales_are_those_of_the_schema(server: Any) -> None:
    """P20 to P22 over HTTP."""
    listed = ask(server, "content-types")
    assert listed["total"] == len(listed["data"]) and list(listed["data"][0]) == [
        "name", "slug", "kind", "previewEnabled", "isDefault", "updatedAt",
    ]  # fmt: skip
    event = ask(server, "content-types/event")
    assert list(event)[:6] == ["id", "name", "slug", "kind", "previewEnabled", "tableName"]
    assert list(event["fields"][0]) == ["name", "type", "width", "required"]
    assert ask(server, "locales") == {"defaultLocale": "en", "locales": ["en", "de", "de-AT", "ja"]}


def test_menus_and_pages_are_those_of_a_visitor(server: Any) -> None:
    menus = ask(server, "navigation")
    assert list(menus) == ["menus", "pages", "truncated"] and {page["lang"] for page in menus["pages"]} == {"en", "de", "ja"}
    assert {page["lang"] for page in ask(server, "navigation", locale="de")["pages"]} == {"de"}


def test_a_search_finds_published_entries_and_walks_on(server: Any) -> None:
    first = ask(server, "search", q="telescope", limit="2")
    assert list(first) == ["data", "total", "limit", "next_cursor"] and len(first["data"]) == 2
    assert first["data"][0]["score"] == 1 and first["data"][0]["snippet"]
    second = ask(server, "search", q="telescope", limit="2", cursor=first["next_cursor"])
    assert not {hit["id"] for hit in first["data"]} & {hit["id"] for hit in second["data"]}
    only = ask(server, "search", q="telescope", type="instrument", locale="de")
    assert {(hit["type"], hit["locale"]) for hit in only["data"]} <= {("instrument", "de")}
    assert ask(server, "search", q="GHOSTBODY")["total"] == 0


@pytest.mark.parametrize(
    ("query", "argument", "told"),
    [
        ("", "q", "words to look for"), ("q=%20", "q", "words to look for"), ("q=" + "a" * 1001, "q", "at most 1000"),
        ("q=x&type=nope", "type", "Types: event, instrument"), ("q=x&type=events", "type", "Did you mean event?"),
        ("q=x&locale=xx", "locale", "en, de, de-AT, ja"), ("q=x&page=2", "page", "q, type, locale, limit, cursor"),
        ("q=x&cursor=zz", "cursor", "without a cursor"), ("q=x&status=all", "status", "Known here"),
    ],
)  # fmt: skip
def test_a_search_refuses_by_name(server: Any, query: str, argument: str, told: str) -> None:
    reply = server.get(f"/api/search?{query}", server.token())
    assert (reply.status, reply.json["argument"]) == (400, argument) and told in reply.json["error"]


@pytest.mark.parametrize("path", ["content-types", "content-types/post", "locales", "authors/ada-okafor", "navigation"])
def test_what_takes_no_parameter_refuses_it(server: Any, path: str) -> None:
    reply = server.get(f"/api/{path}?limit=3", server.token())
    assert (reply.status, reply.json["argument"]) == (400, "limit")


def test_a_long_question_is_read_whole(server: Any) -> None:
    """A hundred values in one list."""
    values = ",".join(quote(f"en:post:no-such-post-of-that-name-{number:04}") for number in range(99))
    reply = server.get(f"/api/post?filters[id][in]={values},en:post:2026/dome-reopens&fields=id", server.token())
    assert (reply.status, reply.json["total"]) == (200, 1)
