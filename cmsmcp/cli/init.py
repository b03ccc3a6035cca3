"""`cmsmcp init`: a small site to start from, copied from the template that comes with the program."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from cmsmcp.called import command as command_line
from cmsmcp.settings import SettingsError

TEMPLATE = Path(__file__).parents[1] / "site_template"


@click.command(epilog="\b\nExample:\n  cmsmcp init my-site && cmsmcp check --site my-site")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR")
def command(folder: Path) -> None:
    """Make a small site in DIR, which must be new or empty. MCP is enabled in it."""
    if folder.exists() and any(folder.iterdir()):
        raise SettingsError(f"{folder} is not empty; name a new folder, nothing was changed")
    try:
        shutil.copytree(TEMPLATE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written ({error.strerror})") from None
    click.echo(f"Made a site in {folder}. Next:\n\n  {command_line('check', folder)}\n  {command_line('serve', folder)}\n")
