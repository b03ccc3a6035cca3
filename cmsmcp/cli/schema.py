"""`cmsmcp schema`: the content types for other programs (`export`), what a change of them breaks (`diff`), if they changed (`hash`)."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from cmsmcp import __version__
from cmsmcp.cli.output import print_json
from cmsmcp.cli.site_options import PATH, site_options
from cmsmcp.protocol.errors import InvalidArguments
from cmsmcp.schema.catalog import Catalog, catalog_of
from cmsmcp.schema.diff import NoSchema, changes
from cmsmcp.schema.exports import FORMATS, export
from cmsmcp.settings import SettingsError, SiteChoice, find_site
from cmsmcp.site.config.layers import ConfigFault
from cmsmcp.site.definitions import load_definitions

BREAKING = 1
MAX_BYTES = 64 * 1024 * 1024


@click.group(epilog="\b\nExample:\n  cmsmcp schema export --site my-site --format typescript --output entries.ts")
def command() -> None:
    """Export the content types, and say what a change of them breaks (docs/schema.md)."""


@command.command("export", epilog="\b\nExample:\n  cmsmcp schema export --site my-site --format json-schema --type post")
@site_options
@click.option("--format", "format_", type=click.Choice(FORMATS), required=True, help="What to write.")
@click.option("--type", "slug", help="One content type, and what it leads to; else all.")
@click.option("--server", default="/", show_default=True, help="The URL that /api stands behind, for openapi.")
@click.option("--output", type=PATH, help="Write to this file instead of standard output.")
def write(choice: SiteChoice, format_: str, slug: str | None, server: str, output: Path | None) -> None:
    """Write the content types in a format that other programs read."""
    try:
        text = export(_catalog(choice), format_, slug, __version__, server=server)
    except InvalidArguments as error:
        raise SettingsError(error.message) from None
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{output} cannot be written ({error.strerror})") from None


@command.command("hash", epilog="\b\nExample:\n  cmsmcp schema hash --site my-site")
@site_options
def digest(choice: SiteChoice) -> None:
    """Print a digest that changes when readers get other fields or locales, and only then."""
    click.echo(_catalog(choice).digest)


@command.command(epilog="\b\nExample:\n  cmsmcp schema diff old.json new.json\n  cmsmcp schema diff old.json my-site")
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
def diff(old: Path, new: Path, as_json: bool) -> None:
    """Say what changed from OLD to NEW, a line each, what breaks readers first.

    Each is a file that `schema export` wrote (json-schema or openapi), or the folder of a site. Exit code 1: something breaks readers;
    2: a file cannot be read.
    """
    before, after = _read(old), _read(new)
    try:
        found = changes(before, after)
    except NoSchema as fault:
        raise SettingsError(f"{old} or {new} is no exported schema: {fault}") from None
    if as_json:
        rows = [{"where": one.where, "change": one.what, "breaking": one.breaking} for one in found]
        print_json(rows)
    else:
        for one in found:
            click.echo(f"{'breaking' if one.breaking else 'compatible'}: {one.where}: {one.what}")
    sys.exit(BREAKING if any(one.breaking for one in found) else 0)


def _catalog(choice: SiteChoice) -> Catalog:
    """Types with a fault in them are not served, so they are in no schema; that is said."""
    try:
        definitions = load_definitions(find_site(choice.folder), choice.env, choice.overlays)
    except ConfigFault as fault:
        raise SettingsError(str(fault)) from None
    for one in definitions.types.diagnostics:
        if one.severity == "error":
            click.echo(f"cmsmcp: warning: {one.path}:{one.line}: {one.message}", err=True)
    return catalog_of(definitions.types)


def _read(path: Path) -> Mapping[str, Any]:
    if path.is_dir():
        from cmsmcp.schema.json_schema import json_schema

        return json_schema(_catalog(SiteChoice(path)))
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SettingsError(f"{path} is larger than {MAX_BYTES} bytes; export the schema anew")
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise SettingsError(f"{path} is no JSON; give a file that cmsmcp schema export wrote, or the folder of a site") from None
    if not isinstance(found, dict):
        raise SettingsError(f"{path} is no exported schema; give a file that cmsmcp schema export wrote, or the folder of a site")
    return found
