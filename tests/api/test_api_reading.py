"""`/api` over real HTTP: lists, entries, singles, locales, parameters, verbs (issue 3 item 5; docs/api.md)."""

from __future__ import annotations

from typing import Any

import pytest

OWN = ["status", "published_at", "created_at", "updated_at", "author", "locale"]


def test_a_list_has_planks_shape_and_walks_by_cursor(server: Any) -> None:
    """docs/rules.md, Content types; every entry once, `total` on every page."""
    whole = server.get("/api/post?limit=100", server.token())
    assert (whole.status, whole.headers["Content-Type"]) == (200, "application/json")
    assert list(whole.json) == ["data", "total", "page", "limit", "next_cursor"]
    expected = [entry["id"] for entry in whole.json["data"]]
    assert (whole.json["total"], whole.json["page"], whole.json["limit"], whole.json["next_cursor"]) == (len(expected), 1, 100, None)
    found, cursor = [], ""
    while True:
        page = server.get(f"/api/post?limit=3{cursor}", server.token()).json
        assert (page["total"], page["limit"], page["page"]) == (len(expected), 3, None if cursor else 1)
        found += [entry["id"] for entry in page["data"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert found == expected


def test_without_a_limit_a_page_has_twenty(server: Any) -> None:
    assert server.get("/api/post", server.token()).json["limit"] == 20


def test_an_entry_has_its_types_fields_in_their_order(server: Any) -> None:
    """Issue 5 item 1: key order as in the content type. The computed side of a relation is left out."""
    entry = server.get("/api/instrument/salvius-refractor", server.token()).json
    fields = [
        "title", "slug", "kind", "aperture_mm", "focal_ratio", "operational", "first_light", "photo", "gallery", "specifications",
        "caretaker", "description",
    ]  # fmt: skip
    assert list(entry) == ["id", *fields, *OWN]
    assert (entry["id"], entry["status"], entry["locale"]) == ("en:instrument:salvius-refractor", "published", "en")
    assert (entry["operational"], entry["caretaker"]) == (True, "jonas-hofer")
    assert entry["description"].strip()


@pytest.mark.parametrize("path", ["/api/post/dome-reopens", "/api/post/en:post:2026/dome-reopens", "/api/post/dome-reopens/"])
def test_an_entry_is_found_by_id_and_by_slug(server: Any, path: str) -> None:
    reply = server.get(path, server.token())
    assert (reply.status, reply.json["id"]) == (200, "en:post:2026/dome-reopens")


def test_lists_and_look_ups_give_the_same_entry(server: Any) -> None:
    for entry in server.get("/api/observation?locale=de", server.token()).json["data"]:
        assert server.get(f"/api/observation/{entry['id']}", server.token()).json == entry


def test_a_single_type_is_a_bare_entry(server: Any) -> None:
    entry = server.get("/api/site-settings", server.token()).json
    assert (entry["id"], entry["title"]) == ("en:site-settings:site-settings", "Falkenried Observatory")


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/api/post/dome-reopens?locale=de", "de:post:2026/dome-reopens"),
        ("/api/post/dome-reopens?locale=de-AT", "de:post:2026/dome-reopens"),
        ("/api/post/dome-reopens?locale=DE_at", "de:post:2026/dome-reopens"),
        ("/api/post/kuppel-wieder-offen?locale=de", "de:post:2026/dome-reopens"),
        ("/api/post/en:post:2026/dome-reopens?locale=ja", "ja:post:2026/dome-reopens"),
        ("/api/post/de:post:2026/dome-reopens", "de:post:2026/dome-reopens"),
        ("/api/post/de:post:2026/dome-reopens?locale=en", "en:post:2026/dome-reopens"),
        ("/api/post/why-red-light?locale=de", "en:post:why-red-light"),
        ("/api/site-settings?locale=de-AT", "de:site-settings:site-settings"),
    ],
)
def test_the_locale_asked_for_or_its_fallback_is_served_and_named(server: Any, path: str, served: str) -> None:
    """C045: the reply says which one was served."""
    reply = server.get(path, server.token())
    language = served.partition(":")[0]
    assert (reply.status, reply.json["id"], reply.json["locale"], reply.headers["Content-Language"]) == (200, served, language, language)


@pytest.mark.parametrize("path", ["/api/post/kuppel-wieder-offen", "/api/post/hoshikage-exchange/x", "/api/page/dome-reopens"])
def test_another_locale_or_type_is_not_searched_unasked(server: Any, path: str) -> None:
    assert server.get(path, server.token()).status == 404


@pytest.mark.parametrize(
    ("path", "named", "listed"),
    [
        ("/api/post?sort=body", "sort", "id, title, slug, date, status"),
        ("/api/post?page=0", "page", "from 1 to 10000"),
        ("/api/post?status=hidden", "status", "draft, in_review, scheduled, published, archived, all"),
        ("/api/post?filters[title][like]=x", "filters[title][like]", "eq, ne, in, nin, lt, lte, gt, gte, contains, null"),
        ("/api/post?populate", "populate", "none of them blank"),
        ("/api/post?titel=x", "titel", "page, limit, cursor, sort, order, filters[field][operator], author, locale"),
        ("/api/post/dome-reopens?limit=3", "limit", "locale, fallback, fields, select, exclude, populate, format, status"),
        ("/api/site-settings?cursor=x", "cursor", "locale, fallback"),
        ("/api/post?limit=0", "limit", "from 1 to 100"),
        ("/api/post?limit=101", "limit", "from 1 to 100"),
        ("/api/post?limit=", "limit", "from 1 to 100"),
        ("/api/post?limit=1e1", "limit", "from 1 to 100"),
        ("/api/post?limit=%D9%A3", "limit", "from 1 to 100"),
        ("/api/post?limit=5&limit=6", "limit", "more than once"),
        ("/api/post?locale=xx", "locale", "en, de, de-AT, ja"),
        ("/api/post?locale=", "locale", "en, de, de-AT, ja"),
        ("/api/post/dome-reopens?locale=..%2Fen", "locale", "en, de, de-AT, ja"),
        ("/api/post?cursor=made-up", "cursor", "without a cursor"),
        ("/api/post?cursor=", "cursor", "without a cursor"),
    ],
)
def test_a_parameter_that_is_wrong_or_unknown_is_refused_by_name(server: Any, path: str, named: str, listed: str) -> None:
    """docs/api.md, Parameters: nothing is ignored in silence. RFC 9457."""
    reply = server.get(path, server.token())
    assert (reply.status, reply.headers["Content-Type"]) == (400, "application/problem+json")
    problem = reply.json
    assert (problem["type"], problem["title"], problem["status"], problem["argument"]) == ("about:blank", "Bad Request", 400, named)
    assert problem["error"] == problem["detail"]
    assert named in problem["error"] or named == "cursor"
    assert listed in problem["error"]


def test_a_cursor_belongs_to_its_question(server: Any) -> None:
    cursor = server.get("/api/post?limit=1", server.token()).json["next_cursor"]
    assert server.get(f"/api/page?limit=1&cursor={cursor}", server.token()).status == 400
    assert server.get(f"/api/post?limit=1&locale=de&cursor={cursor}", server.token()).status == 400
    assert server.get(f"/api/post?limit=2&cursor={cursor}", server.token()).status == 200


@pytest.mark.parametrize("verb", ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
def test_other_verbs_are_405_in_json(server: Any, verb: str) -> None:
    reply = server.get("/api/post", server.token("full-access"), verb)
    assert (reply.status, reply.json["error"], reply.headers["Allow"]) == (405, "Method not allowed", "GET, HEAD, OPTIONS")


def test_head_and_options(server: Any) -> None:
    head = server.get("/api/post", server.token(), "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Length"] == str(len(server.get("/api/post", server.token()).body))
    options = server.get("/api/post", verb="OPTIONS")
    assert (options.status, options.headers["Allow"], options.body) == (204, "GET, HEAD, OPTIONS", b"")


def test_a_browser_may_read_from_the_origins_configured(server: Any) -> None:
    """docs/configuration.md, api.cors."""
    asked = server.get("/api/post", verb="OPTIONS", Origin="https://front.example", Access_Control_Request_Method="GET")
    assert asked.headers["Access-Control-Allow-Origin"] == "https://front.example"
    assert "Authorization" in asked.headers["Access-Control-Allow-Headers"]
    told = server.get("/api/post?nope=1", server.token(), Origin="https://front.example")
    assert (told.status, told.headers["Access-Control-Allow-Origin"]) == (400, "https://front.example")
    stranger = server.get("/api/post", server.token(), Origin="https://other.example")
    assert (stranger.status, stranger.json["error"]) == (403, "Origin not allowed")
    assert "Access-Control-Allow-Origin" not in stranger.headers
    assert server.get("/api/post", server.token(), Host="evil.example").status == 403


@pytest.mark.parametrize(
    "path",
    ["/api", "/api/", "/api/nope", "/api/authors", "/api/authors/nobody", "/api/content-types/nope", "/api/locales/en", "/api/search/x",
     "/api/POST", "/api/post/%00", "/api/post/%FF", "/api/post/..%2f..%2fetc",
     "/api/post/" + "a" * 3000, "/api/%2e%2e/post", "/api/post/%ED%A0%80", "/api/post//", "/api/p%27%20OR%201=1--/x"],
)  # fmt: skip
def test_what_does_not_exist_is_404_in_json(server: Any, path: str) -> None:
    """docs/rules.md, Unpublished documents: one body for everything that is not there."""
    reply = server.get(path, server.token())
    assert (reply.status, reply.json["error"]) == (404, "Not found")
