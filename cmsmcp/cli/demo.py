"""What `make run` prints once the server is ready: an address, a token, a line to paste and a block for a client."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click

from cmsmcp.bootstrap.chosen import Chosen
from cmsmcp.bootstrap.governance import issue_token
from cmsmcp.identity.tokens import Grant


def print_demo(chosen: Chosen, address: str, described: str) -> None:
    """`described` is the address as people are told it. Everything printed works as printed, while this server runs (the client block:
    whenever the folder is there)."""
    choice = chosen.choice
    token = issue_token(chosen, Grant("demo", ttl=86_400)).token
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_documents", "arguments": {"limit": 3}}}
    curl = [
        "curl", "-sS", f"http://{address}/mcp", "-H", f"Authorization: Bearer {token}", "-H", "Content-Type: application/json",
        "-d", json.dumps(message, separators=(",", ":")),
    ]
    options = ["--env", choice.env] if choice.env else []
    for overlay in choice.overlays:
        options += ["--config-overlay", str(overlay.absolute())]
    block = {
        "mcpServers": {
            "foundry": {
                "command": str(Path(sys.executable).with_name("foundry")),
                "args": ["mcp", "serve", "--transport", "stdio", *options],
                "cwd": str(chosen.root),
            }
        }
    }
    click.echo(f"\nServing {choice.folder} on {described}  (Ctrl-C stops it)\n")
    click.echo(f"Token, valid for a day:\n\n{token}\n")
    click.echo(f"Try it:\n\n{shlex.join(curl)}\n")
    click.echo(f"A local client starts its own server over stdio:\n\n{json.dumps(block, indent=2)}\n")
