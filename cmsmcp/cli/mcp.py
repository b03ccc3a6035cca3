"""`cmsmcp mcp serve`: MCP on standard input and output, for a client that starts this process in the site's folder."""

from __future__ import annotations

import sys

import click

from cmsmcp.cli.site_options import site_options
from cmsmcp.settings import SiteChoice


@click.group(epilog="\b\nExample:\n  cmsmcp mcp serve --transport stdio --site my-site")
def command() -> None:
    """Speak MCP to a local client."""


@command.command(epilog="\b\nExample:\n  cmsmcp mcp serve --transport stdio --site my-site --env production")
@click.option("--transport", type=click.Choice(["stdio"]), default="stdio", help="stdio; HTTP is served by: cmsmcp serve")
@site_options
def serve(choice: SiteChoice, transport: str) -> None:
    """Read JSON-RPC lines on standard input, answer on standard output, until the input ends.

    Refuses to start (code 2) unless the site says `mcp: {enabled: true}`.
    """
    from cmsmcp.bootstrap.stdio import serve_stdio

    sys.exit(serve_stdio(choice))
