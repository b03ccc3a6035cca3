"""Each access type at each door, in the seed's words (P5, P6, P23, P24; C023)."""

from __future__ import annotations

from typing import Any

import pytest

ELSEWHERE = "This token cannot access this endpoint"


@pytest.mark.parametrize(
    ("access", "mcp", "api"),
    [("mcp-server", 200, 403), ("read-only", 403, 200), ("full-access", 403, 200), ("operator", 403, 403)],
)
def test_a_token_opens_its_own_door_alone(server: Any, access: str, mcp: int, api: int) -> None:
    """The seed: mcp-server tokens do not work against /api, read-only and full-access tokens do not work against /mcp."""
    token = server.token(access)
    for reply, status in ((server.ask_mcp(token), mcp), (server.get("/api/post", token), api)):
        assert reply.status == status
        if status == 403:
            assert reply.json["error"] == ELSEWHERE
            assert reply.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("authorization", "error"),
    [
        (None, "API token required"), ("", "API token required"), ("Bearer", "API token required"), ("Bearer  ", "API token required"),
        ("Basic eDp5", "API token required"), ("Bearer wrong", "Invalid API token"), ("Bearer a.b.c", "Invalid API token"),
        ("Bearer plank_" + "0" * 64, "Invalid API token"),
    ],
)  # fmt: skip
def test_without_a_token_of_ours_nothing_is_served(server: Any, authorization: str | None, error: str) -> None:
    """C023: 401 with a challenge and a JSON body. The path makes no difference, so it tells nothing."""
    given = {} if authorization is None else {"Authorization": authorization}
    for path in ("/api/post", "/api/post/budget-2027", "/api/nope", "/api"):
        reply = server.get(path, **given)
        assert (reply.status, reply.headers["Content-Type"], reply.json["error"]) == (401, "application/problem+json", error)
        assert reply.headers["WWW-Authenticate"].startswith("Bearer")
        assert (reply.json["status"], reply.json["title"]) == (401, "Unauthorized")
        assert "Authorization: Bearer" in reply.json["hint"] and "read-only or full-access" in reply.json["hint"]


def test_the_scheme_has_no_case_and_a_query_carries_no_token(server: Any) -> None:
    """C023."""
    token = server.token()
    assert server.get("/api/post", Authorization=f"bearer {token}").status == 200
    assert server.get(f"/api/post?access_token={token}").status == 401


def test_a_token_without_the_scope_is_told_which_one(server: Any) -> None:
    """docs/rules.md, Tokens and roles: enabled, held and backed, all three."""
    reply = server.get("/api/post", server.token("full-access", "--scope", "read:docs"))
    assert (reply.status, reply.json["code"], reply.json["required_scopes"]) == (403, 4030, ["read:content"])
    assert 'scope="read:content"' in reply.headers["WWW-Authenticate"]
    assert "--scope read:content" in reply.json["error"]


def test_a_revoked_token_ends_with_the_next_request(server: Any) -> None:
    """C061."""
    token = server.new_token()
    assert server.get("/api/post", token).status == 200
    server.revoke(token)
    reply = server.get("/api/post", token)
    assert reply.status == 401 and reply.json == server.get("/api/post", "wrong").json, "as one that never was"
    assert reply.json["error"] == "Invalid API token"
    assert reply.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
