"""`cmsmcp tokens`: make, list, revoke, and rotate the key. A token is printed once, alone on standard output, and kept nowhere."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import click

from cmsmcp.bootstrap.chosen import choose
from cmsmcp.bootstrap.governance import issue_token, list_tokens, revoke_token, rotate_signing_key
from cmsmcp.cli.output import print_json
from cmsmcp.cli.site_options import again, site_options
from cmsmcp.identity.tokens import ACCESS, Grant
from cmsmcp.settings import SiteChoice
from cmsmcp.settings_kinds import Fault, parse_duration
from cmsmcp.state.redis.tokens import TokenRecord

DOORS_HELP = (
    "Which door it opens. mcp-server: /mcp. read-only and full-access: /api, published entries, to read (full-access opens no more than "
    "that today). operator: reserved for /ops, which is not served yet."
)


class Duration(click.ParamType):
    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return value if isinstance(value, int) else parse_duration(value)
        except Fault as fault:
            self.fail(fault.message, param, ctx)


@click.group(epilog="\b\nExample:\n  cmsmcp tokens create --site my-site --name my-agent --access mcp-server")
def command() -> None:
    """Make, list and revoke tokens, and rotate the key that signs them."""


@command.command(epilog="\b\nExample:\n  TOKEN=$(cmsmcp tokens create --site my-site --name my-agent --access mcp-server --ttl 30d)")
@site_options
@click.option("--name", required=True, help="What it is for; shown in lists and in the audit.")
@click.option("--access", type=click.Choice(ACCESS), default="mcp-server", show_default=True, help=DOORS_HELP)
@click.option("--scope", "scopes", multiple=True, help="May be repeated. Without it: the five read scopes, which show no drafts.")
@click.option("--role", "roles", multiple=True, help="A CMS role whose rights it has; without it, the rights its scopes need.")
@click.option("--subject", help="The person it stands for; roles that see only their own documents need it.")
@click.option("--ttl", type=Duration(), default="90d", show_default=True, help="How long it is valid: 12h, 90d.")
def create(choice: SiteChoice, scopes: tuple[str, ...], **wanted: Any) -> None:
    """Print a new token, and nothing else, on standard output.

    It is made out to mcp.public_url or, without it, to the site's name: change either and it is refused.
    """
    issued = issue_token(choose(choice, enabled=False), Grant(scopes=scopes or None, **wanted))
    click.echo(issued.token)
    click.echo(f"cmsmcp: valid until {_moment(issued.expires)}; revoke it with: {again(choice, f'tokens revoke {issued.jti}')}", err=True)


@command.command("list", epilog="\b\nExample:\n  cmsmcp tokens list --site my-site --json")
@site_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array; times in epoch seconds, null for never.")
def list_command(choice: SiteChoice, as_json: bool) -> None:
    """List the tokens of a site, those that expire last first, with their times in UTC.

    A server accepts a token up to 10 s after its end, because clocks differ. An expired one is listed for 30 days more.
    """
    records = list_tokens(choose(choice, enabled=False))
    if as_json:
        print_json(list(map(_described, records)))
        return
    for record in records:
        state = _state(record, int(time.time()))
        click.echo(f"{record.jti}  {record.access:<11}  until {_moment(record.expires)}  {state:<29}  {record.name}  [{record.scope}]")


@command.command(epilog="\b\nExample:\n  cmsmcp tokens revoke --site my-site my-agent")
@site_options
@click.argument("named", metavar="ID_OR_NAME")
def revoke(choice: SiteChoice, named: str) -> None:
    """Revoke a token by its id, or by its name if no other has it: from the next request on, everywhere."""
    record = revoke_token(choose(choice, enabled=False), named)
    click.echo(f"revoked {record.jti} ({record.name})")


@command.command("rotate-key", epilog="\b\nExample:\n  cmsmcp tokens rotate-key --site my-site --keep 90d")
@site_options
@click.option("--keep", type=Duration(), default="90d", show_default=True, help="How long tokens of the replaced key stay good: 12h, 90d.")
def rotate(choice: SiteChoice, keep: int) -> None:
    """Sign with a new key from now on. Running servers follow within a second and refuse no good token.

    After a leak use --keep 1s: every token made before ends. Keys in CMSMCP_SECRET_KEY are yours to change; this says how.
    """
    beside = rotate_signing_key(choose(choice, enabled=False), keep)
    click.echo(f"a new key signs from now on; older keys that verify: {beside}, the replaced one until {_moment(int(time.time()) + keep)}")


def _described(record: TokenRecord) -> dict[str, Any]:
    now = time.time()
    state = "revoked" if record.revoked is not None else "good" if record.is_alive(now) else "expired"
    scopes = record.scope.split()
    return {
        "id": record.jti, "name": record.name, "access": record.access, "scopes": scopes, "state": state,
        "created": record.created, "expires": record.expires, "used": record.used, "revoked": record.revoked,
    }  # fmt: skip


def _state(record: TokenRecord, now: int) -> str:
    if record.revoked:
        return f"revoked {_moment(record.revoked)}"
    if record.expires <= now:
        return "expired"
    return f"used {_moment(record.used)}" if record.used else "never used"


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
