"""Two stdio servers of one site, without Redis: one keeps the index, both tell their clients (docs/rules.md, Changes)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CMSMCP = Path(sys.executable).with_name("cmsmcp")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "site"
PAGE = "foundry://content/pages/about"


@contextmanager
def listening(site: Path, state: Path) -> Iterator[Any]:
    """The messages of a client that subscribed to PAGE, after the acknowledgment."""
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    command = [CMSMCP, "mcp", "serve", "--transport", "stdio", "--site", site]
    environment = {**kept, "CMSMCP_STATE_DIR": str(state)}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin and process.stdout
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
        params = {"notifications": {"resourceSubscriptions": [PAGE]}, "_meta": meta}
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).encode() + b"\n")
        process.stdin.flush()
        messages = map(json.loads, process.stdout)
        assert next(messages)["params"]["notifications"] == {"resourceSubscriptions": [PAGE]}
        yield messages
        process.stdin.close()


def test_a_server_beside_the_one_that_keeps_the_index_tells_its_client_too(tmp_path: Path) -> None:
    site = Path(shutil.copytree(EXAMPLE, tmp_path / "site", symlinks=True))
    page = site / "content/pages/about.md"
    with listening(site, tmp_path / "state") as first, listening(site, tmp_path / "state") as second:
        for number in range(3):  # one notice may be of the time before they began to look, which counts as changed
            page.write_text(f"{page.read_text(encoding='utf-8')}\nLine {number}.\n", encoding="utf-8")
            for messages in (first, second):
                notice = next(messages)
                assert (notice["method"], notice["params"]["uri"]) == ("notifications/resources/updated", PAGE)
