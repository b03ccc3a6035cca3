"""What HTTP adds to a reply of `/api`: validators, compression, budgets, languages, what a browser may read (docs/api.md, Headers)."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.api.headers import MAX_LINK, link_header, rate_left, rate_policy
from cmsmcp.api.validators import http_date, in_any_coding, not_since, read_tags, tag_of, tag_sent
from cmsmcp.core.ports import Verdict
from cmsmcp.governance.policy import Rate
from tests.waiting import until

PATHS = [
    "/api/post", "/api/post?fields=title&sort=-date", "/api/post/dome-reopens", "/api/site-settings", "/api/authors/ada-okafor",
    "/api/content-types", "/api/content-types/post", "/api/locales", "/api/navigation", "/api/search?q=telescope",
]  # fmt: skip
RATE = "api:\n  rate_limit: {requests_per_minute: 6, burst: 5}\n"
EDITED_TEXT = "---\ntitle: Before\n---\nText.\n"
EDITED = {"content/posts/edited.md": EDITED_TEXT}


def written(path: Path, text: str, when: str) -> None:
    """Put in place at once, with this time upon it."""
    draft = path.with_name(".draft")
    draft.write_text(text)
    os.utime(draft, (parsedate_to_datetime(when).timestamp(),) * 2)
    draft.replace(path)


@pytest.mark.parametrize("path", PATHS)
def test_what_a_client_has_is_not_sent_again(server: Any, path: str) -> None:
    """RFC 9110, 13: one tag for one answer, in whichever worker; 304 without a body; `*` is any answer, a weak tag no other one."""
    token = server.token()
    first = server.get(path, token)
    tag = first.headers["ETag"]
    assert (first.status, first.headers["Cache-Control"]) == (200, "private, max-age=0, must-revalidate")
    for held in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = server.get(path, token, If_None_Match=held)
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
        assert again.headers["Cache-Control"] == first.headers["Cache-Control"] and "Content-Length" not in again.headers
        assert again.headers["Vary"] == first.headers["Vary"]
    for held in ('"other"', tag.strip('"'), ""):
        fresh = server.get(path, token, If_None_Match=held)
        assert (fresh.status, fresh.body) == (200, first.body)


def test_another_question_or_right_has_another_tag(server: Any) -> None:
    """A tag is good for one question, and for what one caller may see."""
    rights = server.token("read-only", "--scope", "read:content", "--scope", "read:unpublished")
    paths = [
        "post", "post?limit=19", "post?page=2", "post?sort=title", "post?sort=-title", "post?fields=title", "post?locale=de", "page",
        "post?locale=de&fallback=en", "post?filters[title]=x", "post?filters[title][ne]=x", "post?filters[title]=y", "post?format=html",
        "event?populate=host", "event", "post?status=all", "post?status=draft", "post/dome-reopens", "post/en:post:2026/dome-reopens",
    ]  # fmt: skip
    tags = {path: server.get(f"/api/{path}", rights).headers["ETag"] for path in paths}
    assert len(set(tags.values())) == len(paths), tags
    assert server.get("/api/post", server.token("full-access")).headers["ETag"] == tags["post"]


def test_line_breaks_of_unicode_leave_escaped(server: Any) -> None:
    """Readers that split lines as Unicode does would break a body of one line in two."""
    for path in ("event/seance", "event?filters[slug]=seance", "event/seance?format=html"):
        reply = server.get(f"/api/{path}", server.token())
        assert reply.status == 200 and "Nobody\\u2028came" in str(reply.json), path
        assert len(reply.body.decode().splitlines()) == 1, path


def test_a_tag_opens_nothing(server: Any) -> None:
    """What is hidden is 404 whatever the client says it has; a refusal is never 304."""
    draft = server.token("read-only", "--scope", "read:content", "--scope", "read:unpublished")
    tag = server.get("/api/person/ghost?status=all", draft).headers["ETag"]
    for held in (tag, "*"):
        assert server.get("/api/person/ghost", server.token(), If_None_Match=held).status == 404
        assert server.get("/api/person/ghost?status=all", server.token(), If_None_Match=held).status == 403
        assert server.get("/api/post?nope=1", server.token(), If_None_Match=held).status == 400
    refused = server.get("/api/person/ghost", server.token())
    assert (refused.headers["Cache-Control"], refused.headers.get("ETag")) == ("no-store", None)


def test_an_edit_changes_the_tag(start: Callable[..., Any]) -> None:
    """Also of lists, and of entries that lead to what was edited. `Last-Modified` is the time of the file."""
    site = start(files=EDITED)
    token, path = site.new_token(), site.site / "content/posts/edited.md"
    first, second = "Fri, 06 Mar 2026 10:00:00 GMT", "Sat, 07 Mar 2026 10:00:00 GMT"
    written(path, EDITED_TEXT, first)
    until(lambda: site.get("/api/post/edited", token).headers.get("Last-Modified") == first)
    before = [site.get(url, token) for url in ("/api/post/edited", "/api/post")]
    written(path, EDITED_TEXT.replace("Before", "After"), second)
    until(lambda: site.get("/api/post/edited", token).json.get("title") == "After")
    for old, url in zip(before, ("/api/post/edited", "/api/post"), strict=True):
        new = site.get(url, token, If_None_Match=old.headers["ETag"])
        assert new.status == 200 and new.headers["ETag"] != old.headers["ETag"]
    stale = site.get("/api/post/edited", token, If_Modified_Since=first)
    assert (stale.status, stale.headers["Last-Modified"]) == (200, second)
    assert site.get("/api/post/edited", token, If_Modified_Since=second).status == 304
    assert site.get("/api/post/edited", token, If_Modified_Since=second, If_None_Match='"other"').status == 200


def test_lists_and_populated_entries_have_no_time_of_their_own(server: Any) -> None:
    """What they are made of changes without it."""
    for path in ("/api/event", "/api/event/seance?populate=instruments"):
        assert "Last-Modified" not in server.get(path, server.token()).headers


def test_a_large_reply_is_compressed_for_who_takes_it(server: Any) -> None:
    """RFC 9110, 8.4: other bytes, another tag; both tags are known again. A small reply, and a refusal, are sent as they are."""
    plain = server.get("/api/post", server.token())
    packed = server.get("/api/post", server.token(), Accept_Encoding="br;q=1, gzip;q=0.5")
    assert (packed.headers["Content-Encoding"], gzip.decompress(packed.body)) == ("gzip", plain.body)
    assert packed.headers["Content-Length"] == str(len(packed.body)) and len(packed.body) < len(plain.body) / 2
    assert packed.headers["ETag"] == plain.headers["ETag"][:-1] + '-gzip"'
    assert "Accept-Encoding" in plain.headers["Vary"] and "Content-Encoding" not in plain.headers
    for reply in (plain, packed):
        for accepted in ("gzip", "identity"):
            again = server.get("/api/post", server.token(), If_None_Match=reply.headers["ETag"], Accept_Encoding=accepted)
            assert (again.status, again.headers["ETag"]) == (304, reply.headers["ETag"])
    for refused in ("gzip;q=0", "*;q=0", "identity", "br"):
        assert "Content-Encoding" not in server.get("/api/post", server.token(), Accept_Encoding=refused).headers
    assert "Content-Encoding" not in server.get("/api/locales", server.token(), Accept_Encoding="gzip").headers
    mistaken = server.get("/api/post?sort=" + "a" * 2000, server.token(), Accept_Encoding="gzip")
    assert mistaken.status == 400 and "Content-Encoding" not in mistaken.headers


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
@pytest.mark.parametrize("path", [*PATHS, "/api/nope", "/api/post?nope=1"])
def test_head_is_get_without_the_body(server: Any, path: str, encoding: str) -> None:
    """RFC 9110, 9.3.2."""
    replies = [server.get(path, server.token(), verb, Accept_Encoding=encoding) for verb in ("GET", "HEAD")]
    own = ("Date", "RateLimit")
    got, head = ({name: value for name, value in reply.headers.items() if name not in own} for reply in replies)
    assert (replies[1].status, replies[1].body, head) == (replies[0].status, b"", got)


def test_every_governed_reply_says_what_is_left(start: Callable[..., Any]) -> None:
    """The IETF draft on RateLimit header fields; RFC 9110, Retry-After. A 304 costs as much as a 200, a 404 and a 400 too."""
    site = start(RATE)
    token = site.new_token()
    tag = site.get("/api/locales", site.new_token()).headers["ETag"]
    replies = [
        site.get("/api/locales", token), site.get("/api/locales", token, If_None_Match=tag), site.get("/api/nope", token),
        site.get("/api/post?nope=1", token), site.get("/api/locales", token, "HEAD"), site.get("/api/locales", token),
    ]  # fmt: skip
    assert [reply.status for reply in replies] == [200, 304, 404, 400, 200, 429]
    assert {reply.headers["RateLimit-Policy"] for reply in replies} == {'"api";q=5;w=50'}
    left = [re.fullmatch(r'"api";r=(\d);t=(\d+)', reply.headers["RateLimit"]) for reply in replies]
    assert [int(found[1]) for found in left if found] == [4, 3, 2, 1, 0, 0]
    assert [int(found[2]) for found in left if found][-1] >= 40
    assert 1 <= int(replies[-1].headers["Retry-After"]) <= 10
    free = site.get("/api/locales", site.new_token("read-only", "--scope", "read:docs"))
    assert (free.status, free.headers["RateLimit-Policy"], free.headers.get("RateLimit")) == (403, '"api";q=5;w=50', None)
    assert "RateLimit-Policy" not in site.get("/api/locales").headers


def test_a_browser_may_read_the_headers_it_needs(server: Any) -> None:
    """docs/configuration.md, api.cors."""
    asked = server.get("/api/post", verb="OPTIONS", Origin="https://front.example", Access_Control_Request_Method="GET")
    assert {"Authorization", "If-None-Match"} <= set(asked.headers["Access-Control-Allow-Headers"].split(", "))
    told = server.get("/api/post?limit=1", server.token(), Origin="https://front.example")
    exposed = set(told.headers["Access-Control-Expose-Headers"].split(", "))
    assert {"ETag", "Link", "RateLimit", "RateLimit-Policy", "Retry-After", "Content-Language"} <= exposed
    again = server.get("/api/post?limit=1", server.token(), Origin="https://front.example", If_None_Match=told.headers["ETag"])
    assert (again.status, again.headers["Access-Control-Allow-Origin"]) == (304, "https://front.example")


def test_too_many_links_are_left_to_the_cursor() -> None:
    assert link_header({}) is None and link_header({"first": "a" * MAX_LINK}) is None
    assert link_header({"first": "limit=1", "next": "limit=1&page=2"}) == '<?limit=1>; rel="first", <?limit=1&page=2>; rel="next"'


def test_budgets_are_bursts_and_the_time_they_take_to_come_back() -> None:
    assert rate_policy(Rate(600, 120)) == '"api";q=120;w=12'
    assert rate_left(Rate(600, 120), Verdict(None, 0, 100, 2_001), 1) == '"api";r=100;t=2'
    assert rate_left(Rate(600, 120), Verdict("rate", 9, 0, 10**15), 1) == '"api";r=0;t=12'
    assert rate_left(Rate(600, 120), Verdict(None, 0, 120, 5), 10**9) == '"api";r=120;t=0'


@given(st.text(max_size=60) | st.lists(st.sampled_from(['"a"', 'W/"b"', ",", " ", "*", '"', "-gzip"]), max_size=8).map("".join))
def test_any_if_none_match_is_read(header: str) -> None:
    tags = read_tags(header)
    assert all(f'"{tag}"' in header or tag == "*" for tag in tags)
    assert tag_sent("a", tags, packs=False) in {"a", "a-gzip"} and in_any_coding(tags) is not None


@given(st.text(max_size=40) | st.datetimes(min_value=datetime(1970, 1, 2)).map(str), st.none() | st.integers(-(2**62), 2**62))
def test_any_if_modified_since_is_read(header: str, modified: int | None) -> None:
    not_since(header, modified)


@given(st.integers(0, 253_402_300_799_999))
def test_a_time_that_was_sent_is_not_since_itself(modified: int) -> None:
    date = http_date(modified)
    assert parsedate_to_datetime(date).timestamp() == modified // 1000
    assert not_since(date, modified) and not not_since(date, modified + 1000)


def test_tags_are_checksums() -> None:
    assert tag_of(b"a") == tag_of(b"a") != tag_of(b"b") and re.fullmatch("[0-9a-f]{30}", tag_of(os.urandom(9)))
