"""Both sites, opened in this process behind the real doors: Flask, governance, redaction; only Redis is left out."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

import cmsmcp.capabilities
from cmsmcp.api import door as api_door
from cmsmcp.api.fields import Fields, fields_of
from cmsmcp.api.reading import Reading
from cmsmcp.bootstrap.sharing import share_in_process
from cmsmcp.core.ports import Caller
from cmsmcp.core.registry import discover
from cmsmcp.core.service import Service
from cmsmcp.governance.policy import Policy, Rate
from cmsmcp.governance.scopes import READ_SCOPES, READ_UNPUBLISHED
from cmsmcp.identity.cursors import PURPOSE, CursorSeal
from cmsmcp.identity.gate import Gate
from cmsmcp.identity.keys import Keyring
from cmsmcp.identity.peers import Peers
from cmsmcp.site.definitions import load_definitions
from cmsmcp.site.index.indexer import Indexer
from cmsmcp.site.open import index_folder, open_site
from cmsmcp.state.memory.admission import MemoryAdmission
from cmsmcp.transports.http import Entrance, blueprint
from tests.worlds import sites

MODERN = "2026-07-28"
_META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientInfo": {"name": "worlds", "version": "1"},
         "io.modelcontextprotocol/clientCapabilities": {}}  # fmt: skip
_OF_THE_MOMENT = re.compile(r'(\\?"(?:generated_at|uptime_seconds)\\?":\s*)(\\?"[^"\\]*\\?"|[0-9.]+)')
"""What tells the time, in a body and in a text inside one."""


class Silent:
    def append(self, record: Mapping[str, str]) -> None:
        return None


class World:
    """One site, served. A caller is named by the scopes it holds."""

    def __init__(self, folder: Path, *, haunted: bool) -> None:
        self.root = sites.make(folder, haunted=haunted)
        self.indexer = Indexer(index_folder(folder / "state"), lambda: load_definitions(self.root))
        self.indexer.build()
        self.opened = open_site(self.root, folder / "state", write=False, anew=False)
        rate = Rate(60_000_000, 60_000_000)
        policy = Policy(enabled=True, scopes=READ_SCOPES | {READ_UNPUBLISHED}, rate=rate)
        admission, shared = MemoryAdmission(policy, Silent()), share_in_process()
        self.registry = discover(cmsmcp.capabilities)
        service = Service(
            policy, lambda: self.registry, lambda: self.opened.site, lambda: admission, "1.0", site_name="worlds", shared=lambda: shared
        )
        seal = CursorSeal(Keyring([b"k" * 32], PURPOSE))
        gate = Gate(Peers(), lambda header: _caller(header or ""), admission, policy.max_request_bytes)
        app = Flask(__name__)
        app.register_blueprint(blueprint(service, Entrance(gate)))
        app.register_blueprint(api_door.blueprint(Reading(service.ports, lambda: seal, "/"), gate))
        self._client = app.test_client()

    def kinds(self) -> dict[str, Fields]:
        every = self.opened.site.types.all()
        return {kind["slug"]: fields_of(kind, every) for kind in every}

    def ask(self, scopes: str, method: str, params: Mapping[str, Any], revision: str = MODERN) -> Any:
        """Status, headers and body as they leave, without what tells the time."""
        self.indexer.attest()
        modern = revision == MODERN
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": _META} if modern else params}
        headers = {"MCP-Protocol-Version": revision, "Accept": "application/json, text/event-stream", "Authorization": scopes}
        headers |= {"Mcp-Method": method} if modern else {}
        name = params.get("name") or params.get("uri") or params.get("ref", {}).get("name")
        if modern and method in ("tools/call", "prompts/get", "resources/read"):
            headers["Mcp-Name"] = _header(str(name))
        return _bare(self._client.post("/mcp", data=json.dumps(message), content_type="application/json", headers=headers))

    def get(self, scopes: str, path: str) -> Any:
        self.indexer.attest()
        return _bare(self._client.get(path, headers={"Authorization": scopes}))

    def edit(self, path: str, text: str | None) -> None:
        if text is None:
            (self.root / path).unlink()
        else:
            (self.root / path).write_text(text, encoding="utf-8")
        self.indexer.build()
        self.opened._reader.forget_meta()

    def close(self) -> None:
        self.opened.close()
        self.indexer.close()


def _caller(header: str) -> Caller:
    return Caller(f"client {header}", frozenset(header.split()))


def _header(text: str) -> str:
    plain = text.isascii() and text.isprintable() and text == text.strip()
    return text if plain else f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def _bare(reply: Any) -> Any:
    said = reply.get_data(as_text=True)
    body = _OF_THE_MOMENT.sub(r"\1", said)
    left_out = {"Date", "RateLimit"} | ({"Content-Length"} if body != said else set())
    return reply.status_code, sorted((name, value) for name, value in reply.headers if name not in left_out), body


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, World]]:
    """With the hidden documents, and without."""
    both = tuple(World(tmp_path_factory.mktemp("world"), haunted=haunted) for haunted in (True, False))
    yield both
    for one in both:
        one.close()


@pytest.fixture(scope="module")
def values(worlds: tuple[World, World]) -> dict[str, list[str]]:
    return sites.values_of(worlds[0].root)
