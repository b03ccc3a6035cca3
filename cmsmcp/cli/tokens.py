"""`cmsmcp tokens`: make, list and revoke. A token is printed once, alone on standard output, and is nowhere kept."""

from __future__ import annotations

from typing import Any

import click

from cmsmcp.cli.site_options import SiteChoice, site_options
from cmsmcp.settings import SettingsError
from cmsmcp.settings_kinds import Fault, parse_duration

ACCESS = ("mcp-server", "read-only", "full-access", "operator")


class Duration(click.ParamType):
    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return parse_duration(value)
        except Fault as fault:
            self.fail(fault.message, param, ctx)


@click.group(epilog="\b\nExample:\n  cmsmcp tokens create --site my-site --name my-agent --access mcp-server")
def command() -> None:
    """Make, list and revoke tokens."""


@command.command(epilog="\b\nExample:\n  TOKEN=$(cmsmcp tokens create --site my-site --name my-agent --access mcp-server --ttl 30d)")
@site_options
@click.option("--name", required=True, help="What it is for; shown in lists and in the audit.")
@click.option("--access", type=click.Choice(ACCESS), default="mcp-server", show_default=True, help="Which door it opens.")
@click.option("--scope", "scopes", multiple=True, help="May be repeated. Without it: every read scope of the door.")
@click.option("--role", "roles", multiple=True, help="A CMS role whose rights it has; without it, the rights its scopes need.")
@click.option("--subject", help="The person it stands for; roles that see only their own documents need it.")
@click.option("--ttl", type=Duration(), default="90d", show_default=True, help="How long it is valid: 12h, 90d.")
def create(choice: SiteChoice, **wanted: Any) -> None:
    """Print a new token, and nothing else, on standard output."""
    from cmsmcp.bootstrap import NewToken, create_token

    try:
        token = create_token(choice.folder, choice.env, choice.overlays, NewToken(**wanted))
    except ValueError as error:
        raise SettingsError(str(error)) from None
    click.echo(token.text)
    click.echo(f"cmsmcp: token {token.id} for {wanted['name']}; revoke it with: cmsmcp tokens revoke {token.id}", err=True)
