"""No unpublished document shows through `/api`, by any parameter: a site with hidden documents of every kind answers every question as
the same site does that never had them (C044, C048, C049).

What may differ is named in `bare`: the time, the budget, and tags, which stand for an edition of the site. Of a search the order of hits
is not compared: the engine weighs words by how often the whole index has them.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from cmsmcp.api.fields import Field, Fields, fields_of
from cmsmcp.site.config.loading import load_config
from cmsmcp.site.documents.files import find_documents
from cmsmcp.site.documents.parse import parse_document
from cmsmcp.site.documents.status import status_at
from cmsmcp.site.types.registry import load_types

RATE = "api:\n  rate_limit: {requests_per_minute: 60000000, burst: 1000000}\n"
LOCALES = ("en", "de", "de-AT", "ja")
WORD = "quasiperiodic"
"""Stands in hidden documents and in one that is published."""
SECRET = "zyzzogeton"
"""Stands in hidden documents alone."""


def document(title: str, fields: str = "", body: str = "", **keys: str) -> str:
    front = "".join(f"{key}: {value}\n" for key, value in keys.items())
    return f"---\ntitle: {title}\n{front}{f'fields: {{{fields}}}' if fields else ''}\n---\n{body} \n"


PERSON = "role: keeper"
EVENT = "starts_at: 2031-01-02T03:04:05Z, booking_required: true, places: 4242, price_eur: 77.5"
SEEN = "observed_at: 2031-05-05, target: albireo, instrument: salvius-refractor, cloud_percent: 97, seeing_arcsec: 9.75"
BOTH = {
    "content/types/secretive.yaml": "name: Secretives\ntableName: secretives\nfields:\n  - {name: title, type: string}\n"
    "  - {name: slug, type: uid}\n  - {name: friend, type: relation, relatedSlug: person}\n",
    "content/types/notice.yaml": "name: Notices\ntableName: notices\nkind: single\nfields:\n  - {name: title, type: string}\n",
    "content/people/seen.md": document("Seen", f"{PERSON}, mentor: ghost", WORD, author="Shared Name"),
    "content/events/séance.md": document("Séance", "starts_at: 2026-12-01T20:00:00Z, booking_required: false, host: ghost, "
                                         "instruments: [salvius-refractor, 'en:instrument:hushed', hushed, gone]"),
    "content/events/de/séance.md": document("Sitzung", "starts_at: 2026-12-01T20:00:00Z, booking_required: false, host: ghost"),
    "content/events/alone.md": document("Alone", "starts_at: 2026-12-02T20:00:00Z, booking_required: false, host: seen"),
    "content/events/de/nur-deutsch.md": document("Nur deutsch", "starts_at: 2026-12-03, booking_required: false"),
    "content/observations/linked.md": document("Linked",
    "observed_at: 2026-05-05, target: vanished, instrument: hushed, observers: [ghost, seen]"),
    "content/people/de/masked.md": document("Maskiert", PERSON, slug="maskiert"),
    "content/events/ball.md": document("Ball", "starts_at: 2026-12-04, booking_required: false, host: maskiert"),
    "content/posts/linking.md": document("Linking", body="[x](/people/ghost/) ![x](media:images/none.png)", author="Shared Name"),
}  # fmt: skip
HIDDEN = {
    "content/people/ghost.md": document("Ghost", f"{PERSON}, mentor: seen", f"{SECRET} {WORD}", draft="true", author="Phantom Writer"),
    "content/people/masked.md": document("Masked", PERSON, SECRET, draft="true"),
    "content/people/de/seen.md": document("Gesehen", PERSON, SECRET, draft="true", author="Shared Name"),
    "content/instruments/hushed.md": document("Hushed", "kind: radio, operational: true, caretaker: seen", SECRET, workflow="in_review"),
    "content/sky_objects/vanished.md": document("Vanished", "designation: V1, magnitude: 42.5", WORD, archived="true"),
    "content/events/ahead.md": document("Ahead", f"{EVENT}, host: seen", WORD, scheduled_publish_at="2099-01-01T00:00:00Z", author="Later"),
    "content/events/over.md": document("Over", EVENT, SECRET, scheduled_unpublish_at="2020-01-01T00:00:00Z", author="Shared Name"),
    "content/events/review.md": document("Review", f"{EVENT}, instruments: [salvius-refractor]", WORD, workflow="in_review"),
    "content/events/de/alone.md": document("Allein", EVENT, SECRET, draft="true"),
    "content/events/nur-deutsch.md": document("Only English", EVENT, SECRET, draft="true"),
    "content/events/zz-twin.md": document("Twin", EVENT, WORD, slug="alone"),
    "content/observations/unseen.md": document("Unseen", f"{SEEN}, observers: [seen]", SECRET, draft="true"),
    "content/observations/later.md": document("Later", SEEN, WORD, scheduled_publish_at="2098-01-01T00:00:00Z"),
    "content/secretives/one.md": document("One", "friend: seen", SECRET, draft="true"),
    "content/secretives/two.md": document("Two", "friend: ghost", WORD, archived="true"),
    "content/notices/notice.md": document("Notice", "", SECRET, draft="true"),
    "content/posts/draft-post.md": document("Draft post", body=f"{SECRET} {WORD}", draft="true", author="Phantom Writer"),
    "content/pages/hidden-page.md": document("Hidden page", body=WORD, workflow="archived", author="Shared Name"),
}  # fmt: skip


def published(site: Path) -> dict[str, Any]:
    """Every document by path, with its status now."""
    config = load_config(site)
    types = load_types(config)
    found = {}
    for path, _ in find_documents(config, types)[0]:
        read = parse_document(path, (site / path).read_bytes(), config, types).document
        if read is not None:
            found[path] = (read, status_at(read, int(time.time() * 1000)))
    return found


def settle(site: Path) -> None:
    for path in site.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))


def without_hidden(site: Path) -> None:
    for path, (_, status) in published(site).items():
        if status != "published":
            (site / path).unlink()
    settle(site)


class Asking:
    """One kept connection to a server, made anew where it was left idle too long, with one token."""

    def __init__(self, server: Any, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self._token = token

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        for _ in range(2):
            try:
                self._connection.request("GET", path, headers={"Authorization": f"Bearer {self._token}", **headers})
                reply = self._connection.getresponse()
                return reply.status, dict(reply.getheaders()), reply.read()
            except (http.client.RemoteDisconnected, ConnectionError):
                self._connection.close()
        raise ConnectionError(path)


_CURSOR = re.compile(r'("next_cursor":")([^"]+)"|(cursor=)([^>&"]+)')


def bare(reply: tuple[int, dict[str, str], bytes]) -> Any:
    """Without what every reply has its own of. Of a cursor, which is sealed, its length stays."""
    status, headers, body = reply
    kept = {name: value for name, value in headers.items() if name not in ("Date", "RateLimit", "ETag", "Link", "Content-Length")}
    hidden = re.sub(_CURSOR, lambda found: f"{found[1] or found[3]}{len(found[2] or found[4])}", body.decode())
    link = re.sub(_CURSOR, lambda found: f"{found[3]}{len(found[4])}", headers.get("Link", ""))
    return status, kept, hidden, link, "ETag" in headers


@pytest.fixture(scope="module")
def haunted(start: Callable[..., Any]) -> Any:
    return start(RATE, {**BOTH, **HIDDEN}, prepare=settle)


@pytest.fixture(scope="module")
def plain(start: Callable[..., Any]) -> Any:
    return start(RATE, BOTH, prepare=without_hidden)


@pytest.fixture(scope="module")
def pair(haunted: Any, plain: Any) -> tuple[Asking, Asking]:
    return Asking(haunted, haunted.token()), Asking(plain, plain.token())


@pytest.fixture(scope="module")
def kinds(haunted: Any) -> dict[str, Fields]:
    """What can be asked, as the types say; not as the server does."""
    every = load_types(load_config(haunted.site)).all()
    return {kind["slug"]: fields_of(kind, every) for kind in every}


@pytest.fixture(scope="module")
def everything(haunted: Any) -> dict[str, Any]:
    return published(haunted.site)


def compare(pair: tuple[Asking, Asking], paths: Iterator[str]) -> int:
    count = 0
    for path in paths:
        with_hidden, without = (bare(asking.get(path)) for asking in pair)
        assert with_hidden == without, path
        assert with_hidden[0] != 500, path
        count += 1
    return count


def query(**given: str) -> str:
    return urlencode(given)


VALUES: dict[str, tuple[str, ...]] = {
    "number": ("4242", "97", "150"), "float": ("77.5", "42.5", "9.75", "5"), "boolean": ("true", "false"),
    "datetime": ("2031-01-02T03:04:05Z", "2031-05-05", "2026-12-01T20:00:00Z", "2099-01-01"),
    "richtext": (SECRET, WORD, "telescope"),
    "relation": ("ghost", "en:person:ghost", "hushed", "vanished", "en:sky-object:vanished", "seen", "masked", "en:person:masked",
    "albireo", "salvius-refractor",
    "no-one"),
}  # fmt: skip
TEXTS = ("Ghost", "ghost", "Ahead", "ahead", "alone", "Vanished", "V1", "unseen", "draft", "archived", "Phantom Writer", "Shared Name", "e")


def values_of(field: Field) -> tuple[str, ...]:
    return VALUES.get("float" if field.type == "number" and not field.whole else field.type, TEXTS)


def filters(kind: str, fields: Fields) -> Iterator[str]:
    """Each field with each operator, with values of hidden documents and of others in turn; lists of both at once."""
    for number, name in enumerate(fields.filtered):
        field = fields.by_name[name]
        values = values_of(field)
        turn = [values[(number * 3 + step) % len(values)] for step in range(3)] if field.type != "relation" else values
        for operator in field.operators:
            if operator == "null":
                given: tuple[str, ...] = ("true", "false")
            elif operator in ("in", "nin"):
                given = (",".join(values),)
            else:
                given = tuple(dict.fromkeys(turn))
            if operator in ("lt", "lte", "gt", "gte", "ne"):
                given = given[:1]
            for value in given:
                more = {"limit": "2"} if operator in ("nin", "ne") else {}
                yield f"/api/{kind}?{query(**{f'filters[{name}][{operator}]': value}, **more, fields='id,slug')}"


def populated(kind: str, kinds: dict[str, Fields]) -> list[str]:
    fields = kinds[kind]
    below = [f"{one}.{two}" for one in fields.relations for two in kinds[fields.by_name[one].related].relations]
    return [*fields.relations, *below]


def shapes(kind: str, kinds: dict[str, Fields]) -> Iterator[str]:
    """Every other parameter of a list."""
    fields = kinds[kind]
    yield f"/api/{kind}"
    for page in range(1, 6):
        yield f"/api/{kind}?{query(page=str(page), limit='2')}"
    for name in fields.sorted:
        yield f"/api/{kind}?{query(sort=name, limit='3', fields='id')}"
        yield f"/api/{kind}?{query(sort='-' + name, page='2', limit='2', fields='id')}"
    for name in fields.names:
        yield f"/api/{kind}?{query(fields=name, limit='100')}"
    yield f"/api/{kind}?{query(exclude=','.join(name for name in fields.names[3:5]))}"
    for path in populated(kind, kinds):
        yield from (f"/api/{kind}?{query(populate=path, locale=code, limit='100')}" for code in ("en", "de"))
    if fields.relations:
        yield f"/api/{kind}?{query(populate=','.join(populated(kind, kinds)[:20]), limit='2')}"
    for locale, fallback in itertools.product(LOCALES, (None, "en", "de", "ja,en")):
        yield f"/api/{kind}?{query(fields='id', locale=locale, **({'fallback': fallback} if fallback else {}))}"
    for name in ("Phantom Writer", "phantom-writer", "Shared Name", "Later", "Jonas Hofer"):
        yield f"/api/{kind}?{query(author=name)}"
    yield from (f"/api/{kind}?{query(status=status)}" for status in ("draft", "scheduled", "in_review", "archived", "all", "published",
    "odd"))
    yield f"/api/{kind}?{query(format='html')}"
    yield from (f"/api/{kind}?{query(sort=name, order='desc', select='id')}" for name in fields.sorted[:1])


def test_every_filter_answers_as_if_nothing_were_hidden(pair: Any, kinds: dict[str, Fields]) -> None:
    """Each field × each operator × values of hidden and of published documents, relations among them."""
    asked = compare(pair, (path for kind, fields in kinds.items() if not fields.single for path in filters(kind, fields)))
    assert asked > 600


def test_every_other_parameter_does_so(pair: Any, kinds: dict[str, Fields]) -> None:
    """Pages, orders, projections, populate, locales, fallbacks, authors, statuses, formats."""
    assert compare(pair, (path for kind in kinds if not kinds[kind].single for path in shapes(kind, kinds))) > 400


def test_one_entry_does_so(pair: Any, kinds: dict[str, Fields], everything: dict[str, Any]) -> None:
    """By id and by slug, hidden and published, in every locale, whole and populated; singles too."""
    def asked() -> Iterator[str]:
        for one, _ in everything.values():
            for ref in dict.fromkeys((one.id, one.slug)):
                base = f"/api/{one.type}" if kinds[one.type].single else f"/api/{one.type}/{quote(ref)}"
                yield base
                yield f"{base}?{query(locale='de')}"
                more = {"populate": ",".join(populated(one.type, kinds)[:20])} if kinds[one.type].relations else {}
                yield f"{base}?{query(locale='ja', fallback='de,en', **more)}"
    assert compare(pair, asked()) > 300


def walk(asking: Asking, path: str) -> list[Any]:
    found, cursor = [], ""
    while True:
        reply = asking.get(path + (f"&cursor={quote(cursor)}" if cursor else ""))
        found.append(bare(reply))
        cursor = json.loads(reply[2]).get("next_cursor") or ""
        if not cursor:
            return found


def test_a_walk_by_cursor_does_so(pair: Any, kinds: dict[str, Fields]) -> None:
    for kind, fields in kinds.items():
        for order in ("", "-published_at", fields.sorted[-3]):
            for locale in ("en", "de"):
                path = f"/api/{kind}?{query(limit='3', fields='id', locale=locale, **({'sort': order} if order else {}))}"
                if not fields.single:
                    with_hidden, without = (walk(asking, path) for asking in pair)
                    assert with_hidden == without, path


def test_what_is_said_beside_entries_does_so(pair: Any) -> None:
    authors = ("phantom-writer", "shared-name", "later", "jonas-hofer", "ada-okafor", "nobody")
    paths = ["content-types", "content-types/secretive", "content-types/person", "locales", "openapi.json", "nothing", "nothing/x"]
    paths += [f"authors/{name}" for name in authors] + [f"navigation?locale={code}" for code in LOCALES] + ["navigation"]
    compare(pair, (f"/api/{path}" for path in paths))


def hits(asking: Asking, **given: str) -> tuple[Any, dict[str, Any]]:
    """Total, and every hit by id, without its weight."""
    total, found, cursor = None, {}, {}
    while True:
        status, headers, body = asking.get(f"/api/search?{query(**given, **cursor)}")
        assert status == 200, body
        page = json.loads(body)
        assert total in (None, page["total"])
        total = page["total"]
        found |= {hit["id"]: {key: value for key, value in hit.items() if key != "score"} for hit in page["data"]}
        if page["next_cursor"] is None:
            return total, found
        cursor = {"cursor": page["next_cursor"]}


def test_search_finds_and_counts_as_if_nothing_were_hidden(pair: Any, kinds: dict[str, Fields]) -> None:
    words = (SECRET, WORD, f"{SECRET} {WORD}", f'"{SECRET} {WORD}"', f"{WORD} -{SECRET}", "ghost", "twin", "telescope", "the", "dome night",
             "seen", "Shared Name", "halley", "zyzz")  # fmt: skip
    for word in words:
        for given in ({}, {"locale": "de", "limit": "5"}, {"type": "event"}, {"type": "secretive"}):
            with_hidden, without = (hits(asking, q=word, **given) for asking in pair)
            assert with_hidden == without, (word, given)
    assert hits(pair[0], q=SECRET) == (0, {}) and hits(pair[0], q=WORD)[0] == 1


def test_other_tokens_see_no_more_unless_they_ask(haunted: Any, plain: Any, kinds: dict[str, Fields]) -> None:
    """Neither full access nor the right to drafts shows anything hidden to those who do not name a status."""
    kept = {kind: fields for kind, fields in kinds.items() if kind in ("event", "person", "secretive")}
    for words in (("full-access",), ("read-only", "--scope", "read:content", "--scope", "read:unpublished")):
        pair = Asking(haunted, haunted.token(*words)), Asking(plain, plain.token(*words))
        paths = itertools.chain.from_iterable(
            itertools.chain(itertools.islice(filters(kind, fields), 0, None, 9), itertools.islice(shapes(kind, kinds), 0, None,
            2)) for kind, fields in kept.items()
        )
        compare(pair, (path for path in paths if "status=" not in path))


def test_what_a_client_holds_is_no_way_round(haunted: Any, pair: Any) -> None:
    """A tag got with the right opens nothing without it; a condition on a hidden entry is answered as on an absent one."""
    rights = Asking(haunted, haunted.token("read-only", "--scope", "read:content", "--scope", "read:unpublished"))
    for path in ("/api/person/ghost", "/api/secretive"):
        tag = rights.get(f"{path}?status=all")[1]["ETag"]
        for held in (tag, "*", '"nothing"'):
            with_hidden, without = (bare(asking.get(path, **{"If-None-Match": held})) for asking in pair)
            assert with_hidden == without, (path, held)
        for since in ("Mon, 01 Jan 2035 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"):
            with_hidden, without = (bare(asking.get(path, **{"If-Modified-Since": since})) for asking in pair)
            assert with_hidden == without, (path, since)


def listed(asking: Asking, kind: str, status: str, locale: str) -> set[str]:
    status_code, _, body = asking.get(f"/api/{kind}?{query(status=status, locale=locale, limit='100', fields='id,status')}")
    assert status_code == 200, body
    page = json.loads(body)
    assert page["total"] == len(page["data"])
    return {(one["id"], one["status"]) for one in page["data"]}


@pytest.mark.parametrize("subject", [None, "Shared Name", "phantom writer", "nobody"])
def test_with_the_right_a_status_shows_what_the_rule_allows(haunted: Any, kinds: Any, everything: Any, subject: str | None) -> None:
    """docs/rules.md, Unpublished documents: with documents.read all of that status, with .own one's own."""
    words = ("--scope", "read:content", "--scope", "read:unpublished")
    own = ("--role", "author", "--subject", subject) if subject is not None else ()
    asking = Asking(haunted, haunted.token("read-only", *words, *own))
    twins = {"content/events/zz-twin.md"}
    for kind in ("event", "person", "secretive", "post"):
        for status in ("draft", "scheduled", "in_review", "archived", "published", "all"):
            for locale in ("en", "de"):
                expected = {
                    (one.id, now) for path, (one, now) in everything.items()
                    if (one.type, one.lang) == (kind, locale) and path not in twins and status in (now, "all")
                    and (now == "published" or subject is None or one.owner.casefold() == subject.casefold())
                }  # fmt: skip
                assert listed(asking, kind, status, locale) == expected, (kind, status, locale)


def test_hidden_documents_of_every_kind_are_there(everything: Any) -> None:
    """What the others compare with: unless these are read and hidden, they show nothing."""
    statuses = {everything[path][1] for path in HIDDEN if path in everything}
    assert statuses == {"draft", "scheduled", "in_review", "archived", "published"}  # the published one is the twin
    assert len([path for path in HIDDEN if path in everything]) == len(HIDDEN)
