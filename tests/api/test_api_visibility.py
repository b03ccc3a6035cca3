"""No unpublished document shows through `/api`: not itself, not in a count, not by a relation (C044, C048, C049)."""

from __future__ import annotations

import time
from typing import Any

import pytest

from cmsmcp.site.config.loading import load_config
from cmsmcp.site.documents.files import find_documents
from cmsmcp.site.documents.parse import parse_document
from cmsmcp.site.documents.status import status_at
from cmsmcp.site.model import ParsedDocument
from cmsmcp.site.types.registry import load_types


@pytest.fixture(scope="module")
def documents(server: Any) -> list[ParsedDocument]:
    """Every document of the site, read from its files."""
    config = load_config(server.site)
    types = load_types(config)
    parsed = [parse_document(path, (server.site / path).read_bytes(), config, types) for path, _ in find_documents(config, types)[0]]
    return [result.document for result in parsed if result.document is not None]


@pytest.fixture(scope="module")
def hidden(documents: list[ParsedDocument]) -> list[ParsedDocument]:
    now = int(time.time() * 1000)
    return [one for one in documents if status_at(one, now) != "published"]


def bare(reply: Any) -> Any:
    """Without what every reply has its own of."""
    return reply.status, {name: value for name, value in reply.headers.items() if name not in ("Date", "RateLimit")}, reply.body


@pytest.mark.parametrize("access", ["read-only", "full-access"])
def test_a_hidden_entry_looks_like_an_absent_one(server: Any, documents: Any, hidden: Any, access: str) -> None:
    """C049: every unpublished document by id and by slug, in no locale and in each: status, headers and body are those of an absent one."""
    token = server.token(access, "--scope", "read:content", "--scope", "read:unpublished")
    absent = bare(server.get("/api/post/no-such-thing", token))
    assert absent[0] == 404
    open_slugs = {(one.type, one.slug) for one in documents if one not in hidden}
    assert len(hidden) >= 10
    for one in hidden:
        for ref in (one.id, one.slug):
            for query in ("", "?locale=en", "?locale=de", "?locale=de-AT", "?locale=ja"):
                if ref == one.id or (one.type, one.slug) not in open_slugs:
                    assert bare(server.get(f"/api/{one.type}/{ref}{query}", token)) == absent, (one.id, ref, query)
    assert bare(server.get("/api/no-such-type", token)) == absent
    assert bare(server.get("/api/no-such-type/x", token)) == absent


def test_lists_and_counts_hold_the_published_alone(server: Any, documents: Any, hidden: Any) -> None:
    """Every type in every locale; no reply holds an id or a title of a hidden document."""
    token = server.token()
    for type_ in sorted({one.type for one in documents} - {"site-settings"}):
        for locale in ("en", "de", "de-AT", "ja"):
            reply = server.get(f"/api/{type_}?limit=100&locale={locale}", token)
            expected = sorted(one.id for one in documents if (one.type, one.lang) == (type_, locale) and one not in hidden)
            assert sorted(entry["id"] for entry in reply.json["data"]) == expected
            assert reply.json["total"] == len(expected)
            assert {entry["status"] for entry in reply.json["data"]} <= {"published"}
            text = reply.body.decode()
            assert not [one.id for one in hidden if one.id in text or one.title in text]


def test_a_relation_names_published_entries_alone(server: Any) -> None:
    """C048: a published event whose host is a draft; a list keeps those that are published, by slug or id."""
    event = server.get("/api/event/seance", server.token()).json
    assert (event["host"], event["instruments"]) == (None, ["salvius-refractor"])
    assert server.get("/api/person/mentored", server.token()).json["mentor"] == "en:person:ada-okafor"
    german = server.get("/api/event/mirror-making-weekend?locale=de", server.token()).json
    assert (german["locale"], german["host"]) == ("de", "jonas-hofer")
