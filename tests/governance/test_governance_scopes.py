"""Who may use what, and which documents one may see (F5, F6, F14, F37, F38; docs/rules.md, Tokens and roles)."""

from __future__ import annotations

import pytest

from cmsmcp.core.ports import STATUSES, Caller, Visibility
from cmsmcp.governance.policy import Policy
from cmsmcp.governance.scopes import (
    CAPABILITY_OF,
    MUTATING_SCOPES,
    READ_SCOPES,
    ROLES,
    allowed,
    missing,
    require,
    token_rights,
    visibility,
)
from cmsmcp.protocol.errors import InvalidArguments, ScopeRefused

EVERY_READ = READ_SCOPES | {"read:unpublished"}
EVERYTHING = Policy(enabled=True, scopes=frozenset(CAPABILITY_OF))


def caller(*capabilities: str, scopes: frozenset[str] = EVERY_READ, subject: str | None = None) -> Caller:
    return Caller("c", scopes, frozenset(capabilities), subject=subject)


def test_the_table_is_the_seeds() -> None:
    """F37, row by row."""
    assert {scope: CAPABILITY_OF[scope] for scope in CAPABILITY_OF if scope not in ("read:schema", "read:unpublished")} == {
        "read:content": "documents.read", "read:docs": "dashboard.read", "read:themes": "themes.manage", "read:plugins": "plugins.manage",
        "read:ops": "dashboard.read", "write:content": "documents.write", "publish:content": "documents.publish",
        "manage:plugins": "plugins.manage", "manage:themes": "themes.manage",
    }


@pytest.mark.parametrize("scope", sorted(READ_SCOPES))
def test_a_read_scope_needs_the_configuration_the_token_and_the_capability(scope: str) -> None:
    """F38: each of the three alone refuses."""
    capability = CAPABILITY_OF[scope]
    assert allowed(EVERYTHING, caller(capability), scope)
    assert allowed(EVERYTHING, caller("*"), scope)
    assert allowed(EVERYTHING, caller(f"{capability}.own"), scope), "loose at the gate"
    assert "not enabled" in str(missing(Policy(scopes=EVERY_READ - {scope}), caller("*"), scope))
    assert f"--scope {scope}" in str(missing(EVERYTHING, caller("*", scopes=EVERY_READ - {scope}), scope))
    assert capability in str(missing(EVERYTHING, caller("media.read"), scope))


def test_read_content_implies_read_schema_wherever_scopes_are_listed() -> None:
    """P2: the schemas can be had without the entries, and with them; the right behind both is one."""
    wide, narrow = frozenset({"read:content"}), frozenset({"read:schema"})
    for configured in (wide, narrow):
        for held in (wide, narrow):
            assert allowed(Policy(scopes=configured), caller("documents.read", scopes=held), "read:schema")
            assert allowed(Policy(scopes=configured), caller("documents.read", scopes=held), "read:content") is (configured == held == wide)
    assert CAPABILITY_OF["read:schema"] == "documents.read"
    assert "documents.read" in str(missing(EVERYTHING, caller("dashboard.read"), "read:schema"))
    assert "--scope read:schema" in str(missing(EVERYTHING, caller("*", scopes=frozenset({"read:docs"})), "read:schema"))
    assert "not enabled" in str(missing(Policy(scopes=frozenset({"read:docs"})), caller("*"), "read:schema"))
    rights = token_rights("mcp-server", ["read:schema"])
    assert (rights.scopes, rights.capabilities) == ({"read:schema"}, {"documents.read"})


@pytest.mark.parametrize("scope", sorted(MUTATING_SCOPES))
def test_a_mutating_scope_opens_nothing_whatever_is_configured(scope: str) -> None:
    """F6: the scopes are reserved, whatever read_only says (tests/settings)."""
    assert "reserved" in str(missing(EVERYTHING, caller("*", scopes=frozenset(CAPABILITY_OF)), scope))


def test_a_refusal_names_the_scope_it_needs() -> None:
    with pytest.raises(ScopeRefused) as refused:
        require(EVERYTHING, caller("*", scopes=frozenset()), "read:docs")
    assert refused.value.scopes == ("read:docs",)
    assert not allowed(EVERYTHING, caller("*"), "read:everything")


@pytest.mark.parametrize("status", [None, "published"])
def test_published_needs_nothing_more(status: str | None) -> None:
    assert visibility(EVERYTHING, caller(scopes=frozenset()), status) == Visibility()


@pytest.mark.parametrize("status", ["draft", "in_review", "scheduled", "archived", "all"])
def test_unpublished_needs_the_scope_and_the_capability(status: str) -> None:
    """F14; docs/rules.md, Unpublished documents: three things, or nothing is shown."""
    expected = frozenset(STATUSES) if status == "all" else frozenset({status})
    assert visibility(EVERYTHING, caller("documents.read"), status) == Visibility(expected)
    assert visibility(EVERYTHING, caller("*"), status).owner is None
    for policy, asking in (
        (EVERYTHING, caller("*", scopes=READ_SCOPES)),
        (Policy(scopes=READ_SCOPES), caller("*")),
        (EVERYTHING, caller("dashboard.read")),
        (EVERYTHING, caller("documents.read.own")),
    ):
        with pytest.raises(ScopeRefused):
            visibility(policy, asking, status)


def test_an_author_sees_unpublished_documents_of_their_own() -> None:
    """F38: `.own` is loose at the gate, exact at the row."""
    author = caller(*ROLES["author"], subject="ana")
    assert visibility(EVERYTHING, author, "draft") == Visibility(frozenset({"draft"}), owner="ana")
    assert visibility(EVERYTHING, author, "all") == Visibility(frozenset(STATUSES), owner="ana")


def test_an_unknown_status_lists_those_that_exist() -> None:
    with pytest.raises(InvalidArguments, match="draft, in_review, scheduled, published, archived, all") as refused:
        visibility(EVERYTHING, caller("*"), "hidden" * 100)
    assert refused.value.data == {"argument": "status"}
    assert len(refused.value.message) < 200


def test_a_token_holds_read_unpublished_only_by_name() -> None:
    """docs/rules.md, Tokens and roles: without --scope every read scope of the seed; without --role what those map to."""
    rights = token_rights("mcp-server")
    assert rights.scopes == READ_SCOPES
    assert rights.capabilities == {"documents.read", "dashboard.read", "themes.manage", "plugins.manage"}
    named = token_rights("mcp-server", ["read:content", "read:unpublished"])
    assert named.scopes == {"read:content", "read:unpublished"}
    assert named.capabilities == {"documents.read"}


def test_a_role_narrows_what_the_scopes_would_give() -> None:
    rights = token_rights("mcp-server", roles=["author"])
    author = Caller("c", rights.scopes, rights.capabilities)
    assert allowed(EVERYTHING, author, "read:content")
    assert not allowed(EVERYTHING, author, "read:themes")


@pytest.mark.parametrize(("access", "scopes", "roles", "words"), [
    ("mcp-server", ["read:all"], [], "'read:all' does not exist"),
    ("mcp-server", ["write:content"], [], "'write:content' is reserved"),
    ("mcp-server", ["audit:read"], [], "'audit:read' does not exist"),
    ("operator", ["read:content"], [], "audit:read, read:ops, tokens:revoke"),
    ("mcp-server", None, ["owner"], "no role 'owner'"),
])
def test_a_token_with_unknown_rights_is_not_made(access: str, scopes: list[str] | None, roles: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        token_rights(access, scopes, roles)
