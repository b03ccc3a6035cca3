"""What commands print for programs."""

from __future__ import annotations

from typing import Any

import click

from cmsmcp.core.governed import encode


def print_json(value: Any) -> None:
    """Indented, on standard output."""
    click.echo(encode(value, indent=True).decode())
