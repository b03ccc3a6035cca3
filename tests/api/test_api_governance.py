"""`/api` under the governance of `/mcp`: its own rate, the site's permits, the audit, sizes (docs/rules.md, Governance order)."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from cmsmcp.protocol import errors

BURST = 7
PERMITS = "cmsmcp:{falkenried}:permits"
OVERLAY = f"api:\n  rate_limit: {{requests_per_minute: 1, burst: {BURST}}}\n"
FILES = {
    "content/sky_objects/huge.md": "---\ntitle: Huge\nfields: {designation: X}\n---\n" + "words " * 50_000,
    **{
        f"content/instruments/large-{number}.md": f"---\ntitle: Large {number}\nfields: {{kind: large, operational: true}}\n---\n"
        + "words " * 15_000
        for number in range(5)
    },
    "content/types/vault.yaml": (
        "name: Vaults\nslug: vault\ntableName: vaults\nfields:\n  - {name: title, type: string}\n  - {name: slug, type: uid}\n"
        "  - {name: note, type: string}\n"
    ),
    **{
        f"content/vaults/{name}.md": f"---\ntitle: Connect {name}\nfields: {{note: 'postgres://cms:hunter2hunter2@{name}.example/site'}}\n---\n"
        for name in "ab"
    },
    "content/posts/leak.md": "---\ntitle: Leak\n---\nConnect to postgres://cms:hunter2hunter2@db.example/site today.\n",
}


@pytest.fixture(scope="module")
def strict(start: Callable[..., Any]) -> Any:
    """A server whose every client may ask seven times."""
    return start(OVERLAY, FILES)


def test_the_burst_is_exact_across_workers_and_costs_every_answer(strict: Any) -> None:
    """Seven of whatever outcome, then 429 with the wait; other tokens and the other door go on."""
    token = strict.new_token()
    paths = ["post", "post/dome-reopens", "nope", "post?sort=x", "post/budget-2027", "site-settings", "page"]
    assert [strict.get(f"/api/{path}", token).status for path in paths] == [200, 200, 404, 400, 404, 200, 200]
    refused = [strict.get("/api/post", token) for _ in range(5)]
    for reply in refused:
        assert (reply.status, reply.headers["Content-Type"]) == (429, "application/problem+json")
        assert (reply.json["code"], reply.json["title"]) == (4290, "Too Many Requests")
        assert 1 <= int(reply.headers["Retry-After"]) == reply.json["retry_after"] <= 60
    assert strict.get("/api/post", strict.new_token("full-access")).status == 200
    assert strict.ask_mcp(strict.new_token("mcp-server")).status == 200


def test_a_question_leaves_an_intent_and_an_outcome(strict: Any) -> None:
    """docs/rules.md, Audit: what was asked, by name and type, and how it ended. A refusal names its reason."""
    token = strict.new_token()
    sizes = [len(strict.get(path, token).body) for path in ("/api/post?limit=2", "/api/post/dome-reopens?locale=de")]
    strict.get("/api/post/budget-2027", token)
    strict.get("/api/post?nope=1", token)
    for _ in range(BURST - 4 + 1):
        strict.get("/api/nope", token)
    records = strict.records(token)
    assert [record["phase"] for record in records] == ["intent", "outcome"] * BURST + ["refusal"]
    by_event: dict[str, list[Any]] = {}
    for record in records:
        by_event.setdefault(record["event"], []).append(record)
    (listing, listed), (reading, read), (_, hidden), (_, mistaken), *_, (refusal,) = by_event.values()
    assert (listing["method"], listing["capability"], listing["scope"], listing["category"]) == (
        "GET /api/{type}", "entries", "read:content", "content.list",
    )  # fmt: skip
    assert json.loads(listing["arguments"]) == {"type": "string(4)", "limit": "string(1)"}
    assert (listed["result_bytes"], listed["decision"], listed.get("reason")) == (str(sizes[0]), "allowed", None)
    assert (reading["method"], reading["capability"], reading["category"]) == ("GET /api/{type}/{entry}", "entry", "content.read")
    assert float(read["duration_ms"]) > 0 and read["result_bytes"] == str(sizes[1])
    assert (hidden["reason"], mistaken["reason"]) == ("not found", "arguments")
    assert (refusal["reason"], refusal["decision"], refusal["method"]) == ("rate", "refused", "GET /api/{type}")
    assert refusal["code"] == str(errors.RATE_LIMITED) and [hidden["code"], mistaken["code"]] == [str(errors.INVALID_PARAMS)] * 2


def test_a_scope_refusal_is_on_record_and_free(strict: Any) -> None:
    token = strict.new_token("read-only", "--scope", "read:docs")
    assert {strict.get("/api/post", token).status for _ in range(BURST + 2)} == {403}
    assert {(record["phase"], record["reason"]) for record in strict.records(token)} == {("refusal", "scope")}


def test_permits_are_the_sites_not_the_doors(strict: Any) -> None:
    """docs/rules.md, Limits: concurrency counts for the whole site; what fails to get in is refused, and nothing stays held."""
    token, store = strict.new_token(), strict.redis
    store.zadd(PERMITS, {f"busy{number}": time.time() * 1000 + 60_000 for number in range(16)})
    try:
        reply = strict.get("/api/post", token)
        assert (reply.status, reply.json["code"], reply.headers["Retry-After"]) == (429, 4291, "1")
        assert reply.json["error"].startswith("This site has 16 calls of all its clients running")
        assert strict.ask_mcp(strict.new_token("mcp-server")).status == 429
    finally:
        store.delete(PERMITS)
    assert strict.get("/api/post", token).status == 200
    assert store.zcard(PERMITS) == 0


def test_a_client_with_its_share_running_is_told_so_and_the_others_are_served(strict: Any) -> None:
    """docs/rules.md, Limits: three quarters of the site's sixteen, here taken by work under way elsewhere."""
    greedy, modest, store = strict.new_token(), strict.new_token(), strict.redis
    jti = json.loads(base64.urlsafe_b64decode(greedy.split(".")[1] + "=="))["jti"]
    share = f"{PERMITS}-of:token:{jti}"
    store.zadd(share, {f"mine{number}": time.time() * 1000 + 60_000 for number in range(12)})
    reply = strict.get("/api/post", greedy)
    assert (reply.status, reply.json["code"], reply.headers["Retry-After"]) == (429, 4291, "1")
    assert reply.json["error"] == "This client has 12 calls running, the most that one client may have. Try again in 1 s."
    assert strict.get("/api/post", modest).status == 200
    store.zrem(share, "mine0")
    assert strict.get("/api/post", greedy).status == 200
    assert store.zcard(share) == 11 and 0 < store.ttl(share) <= 86_400
    [refusal] = [record for record in strict.records(greedy) if record["phase"] == "refusal"]
    assert (refusal["reason"], refusal["code"]) == ("concurrency", "4291")


def test_what_is_too_large_is_said_with_both_sizes(strict: Any) -> None:
    """docs/errors.md, 4130: nothing is cut. One entry that is too large by itself is named with the field to leave out, or no page that
    it is on could ever be read."""
    token = strict.new_token()
    entry, listing = strict.get("/api/sky-object/huge", token), strict.get("/api/sky-object", token)
    for reply in (entry, listing):
        assert (reply.status, reply.json["code"], reply.json["limit"]) == (413, 4130, 262_144)
        assert reply.json["size"] > 300_000
        assert "'en:sky-object:huge'" in reply.json["error"] and "exclude=description" in reply.json["error"]
    chosen = strict.get("/api/sky-object?fields=title,description", token)
    assert chosen.status == 413 and "(description)" in chosen.json["error"]
    assert strict.get("/api/sky-object?exclude=description", token).status == 200
    outcomes = [record.get("reason") for record in strict.records(token) if record["phase"] == "outcome"]
    assert outcomes == ["size", "size", "size", None]


def test_a_page_of_many_that_is_too_large_says_how_to_ask_for_less(strict: Any) -> None:
    """docs/errors.md, 4130."""
    reply = strict.get("/api/instrument", strict.new_token())
    assert reply.status == 413 and "Lower limit, or name the fields you need in fields." in reply.json["error"]
    assert strict.get("/api/instrument?limit=1", strict.new_token()).status == 200


def test_each_route_is_on_record_under_its_own_name(strict: Any) -> None:
    """docs/rules.md, Audit. The tag of an answer that was not sent again makes no difference but to its size."""
    asked = {
        "search?q=secret%20words": ("GET /api/search", "search", "content.search"),
        "authors/ada-okafor": ("GET /api/authors/{slug}", "author", "content.read"),
        "content-types": ("GET /api/content-types", "content_types", "schema.read"),
        "content-types/post": ("GET /api/content-types/{slug}", "content_type", "schema.read"),
        "locales": ("GET /api/locales", "locales", "schema.read"),
        "navigation": ("GET /api/navigation", "navigation", "content.navigation"),
    }
    token = strict.new_token()
    for path in asked:
        assert strict.get(f"/api/{path}", token).status == 200
    assert strict.get("/api/locales", token, If_None_Match="*").status == 304
    records = strict.records(token)
    intents = [record for record in records if record["phase"] == "intent"]
    expected = [*asked.values(), asked["locales"]]
    assert [(record["method"], record["capability"], record["category"]) for record in intents] == expected
    assert json.loads(intents[0]["arguments"]) == {"q": "string(12)"} and "secret words" not in str(records)
    assert [record for record in records if record["phase"] == "outcome"][-1]["result_bytes"] == "0"


def test_secrets_are_taken_out(strict: Any) -> None:
    """docs/rules.md, Redaction."""
    reply = strict.get("/api/post/leak", strict.new_token())
    assert reply.status == 200 and b"hunter2" not in reply.body and b"db.example" in reply.body


def test_a_cursor_tells_nothing_that_the_reply_does_not(strict: Any) -> None:
    """docs/rules.md, Redaction. The place after a page holds the values it was sorted by, as they were written."""
    for path in ("/api/vault?sort=note&limit=1", "/api/search?q=connect&limit=1"):
        reply = strict.get(path, strict.new_token())
        cursor = reply.json["next_cursor"]
        assert cursor is not None and b"hunter2" not in reply.body
        sealed = cursor.rpartition(".")[2]
        raw = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
        assert not any(word in raw for word in (b"hunter2", b"postgres", b"Connect", b"vault"))
        again = strict.get(path, strict.new_token())
        assert (again.body, again.headers["ETag"]) == (reply.body, reply.headers["ETag"])
        assert strict.get(f"{path}&cursor={cursor}", strict.new_token()).status == 200


def test_a_flood_without_a_token_draws_on_its_address_at_this_door(strict: Any) -> None:
    """docs/rules.md, HTTP order of checks. The address has another budget at `/mcp`, and good tokens are not touched."""
    token = strict.new_token()
    assert [strict.get("/api/post").status for _ in range(BURST)] == [401] * BURST
    reply = strict.get("/api/post")
    assert (reply.status, reply.json["code"]) == (429, 4290)
    assert int(reply.headers["Retry-After"]) >= 1
    assert strict.ask_mcp(None).status == 401
    assert strict.get("/api/post", token).status == 200


def test_switched_off_there_is_nothing(start: Callable[..., Any]) -> None:
    """docs/configuration.md, api.enabled."""
    off = start("api: {enabled: false}\n")
    for path in ("/api", "/api/post", "/api/post/dome-reopens"):
        reply = off.get(path, off.token())
        assert (reply.status, reply.json) == (404, {"error": "Not found"})
    assert off.ask_mcp(off.token("mcp-server")).status == 200


def test_without_redis_nothing_is_served(start: Callable[..., Any]) -> None:
    """docs/rules.md, Redis: closed, with the moment to come back. What needs no store is still said."""
    server = start()
    token = server.token()
    assert server.get("/api/post", token).status == 200
    server.store.stop()
    reply = server.get("/api/post", token)
    assert (reply.status, reply.headers["Content-Type"], reply.json["code"]) == (503, "application/problem+json", 5030)
    assert int(reply.headers["Retry-After"]) >= 1
    assert server.get("/api/post").status == 401
