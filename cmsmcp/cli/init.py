"""`cmsmcp init`: a small site to start from, copied from the template that comes with the program."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from cmsmcp.called import command as command_line
from cmsmcp.settings import SettingsError, plain_name
from cmsmcp.site.config.layers import BASE

TEMPLATE = Path(__file__).parents[1] / "site_template"


@click.command(epilog="\b\nExample:\n  cmsmcp init my-site && cmsmcp check --site my-site")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR")
def command(folder: Path) -> None:
    """Make a small site in DIR, which must be new or empty, named like it. MCP is enabled in it."""
    if folder.exists() and any(folder.iterdir()):
        raise SettingsError(f"{folder} is not empty; name a new folder, nothing was changed")
    try:
        shutil.copytree(TEMPLATE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        config = folder / BASE
        named = f"name: {plain_name(folder.resolve().name)}"  # two sites of one name share what they keep in Redis
        config.write_text(config.read_text(encoding="utf-8").replace("name: my-site", named, 1), encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written ({error.strerror})") from None
    click.echo(f"Made a site in {folder}. Next:\n\n  {command_line('check', folder)}\n  {command_line('serve', folder)}\n")
