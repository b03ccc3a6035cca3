"""What redaction takes out can be neither searched, filtered nor sorted by, on any door (docs/rules.md, Redaction)."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

FILES = {
    "content/types/vault.yaml": (
        "name: Vaults\nslug: vault\ntableName: vaults\nfields:\n  - {name: title, type: string}\n  - {name: slug, type: uid}\n"
        "  - {name: note, type: string}\n  - {name: body, type: richtext}\n"
    ),
    "content/vaults/one.md": "---\ntitle: First\nslug: one\n"
                             "fields: {note: 'API_KEY=zebra77x', api_key: walrus88y, aside: {token: lynx66q}}\n---\n"
                             "Set DB_PASSWORD=bilby9 here.\n",
    "content/vaults/two.md": "---\ntitle: Second\nslug: two\nfields: {note: 'API_KEY=aardvark5z'}\n---\nNothing to see, a quokka.\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def vault(start: Callable[..., Any]) -> Any:
    return start("", FILES)


def ask(server: Any, path: str) -> Any:
    reply = server.get(path, server.token())
    assert reply.status == 200, reply.body
    return reply.json


def test_a_filter_answers_by_what_is_shown(vault: Any) -> None:
    """A word that is served as a mark cannot be had letter by letter."""
    def slugs(query: str) -> list[str]:
        return [item["slug"] for item in ask(vault, f"/api/vault?{query}")["data"]]

    assert "[redacted]" in ask(vault, "/api/vault/one")["body"]
    for letter in string.ascii_lowercase:
        assert slugs(f"filters[body][contains]={quote('DB_PASSWORD=' + letter)}") == []
        assert slugs(f"filters[note][contains]={quote('API_KEY=' + letter)}") == []
    assert slugs(f"filters[body][contains]={quote('DB_PASSWORD=[redacted]')}") == ["one"]
    assert slugs("filters[body][contains]=quokka") == ["two"]
    assert slugs("filters[note][gt]=API_KEY%3Db") == [], "nor by what is greater"


def test_a_search_finds_no_secret(vault: Any) -> None:
    """Of bodies, declared fields and others."""
    for secret in ("bilby9", "zebra77x", "walrus88y", "lynx66q", "aardvark5z"):
        assert ask(vault, f"/api/search?q={secret}")["data"] == [], secret
    assert [hit["slug"] for hit in ask(vault, "/api/search?q=quokka")["data"]] == ["two"]


def test_an_order_tells_nothing_of_what_is_taken_out(vault: Any) -> None:
    """By their secrets `two` would be first; what is shown is alike, and ties are by URL."""
    assert [item["slug"] for item in ask(vault, "/api/vault?sort=note")["data"]] == ["one", "two"]


def test_no_problem_gives_a_secret_back(vault: Any) -> None:
    """A parameter, a field, a value, a slug that is a token comes back as a mark."""
    token = "ghp_" + "a1B2" * 9
    for path in (f"vault?sort={token}", f"vault?filters[{token}][eq]=1", f"vault?{token}=1", f"vault?page={token}", f"vault/{token}", token,
                 f"vault?status={token}", f"vault?locale={token}", f"vault?cursor={token}"):  # fmt: skip
        reply = vault.get(f"/api/{path}", vault.token())
        assert reply.status in (400, 404), path
        assert token not in reply.body.decode(), path
