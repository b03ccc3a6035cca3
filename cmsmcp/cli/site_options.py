"""The options every command on a site takes, and the site they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from cmsmcp.called import command
from cmsmcp.settings import SiteChoice, overlooked

PATH: click.Path = click.Path(path_type=Path)


def site_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--site`, `--env`, `--config-overlay`, handed over as one `choice`."""

    @click.option("--site", "folder", type=PATH, default=Path(), show_default="the current folder", help="The site's folder.")
    @click.option("--env", default="", help="Also read content/config/site.ENV.yaml.")
    @click.option("--config-overlay", "overlays", type=PATH, multiple=True, help="Also read this file; may be repeated.")
    @click.pass_context
    def wrapped(ctx: click.Context, folder: Path, env: str, overlays: tuple[Path, ...], **rest: Any) -> Any:
        choice = SiteChoice(folder, env, overlays)
        for line in overlooked(choice):
            click.echo(f"cmsmcp: warning: {line}", err=True)
        return ctx.invoke(function, choice=choice, **rest)

    wrapped.__name__ = function.__name__
    wrapped.__doc__ = function.__doc__
    wrapped.__click_params__ = getattr(function, "__click_params__", []) + wrapped.__click_params__  # type: ignore[attr-defined]
    return wrapped


def again(choice: SiteChoice, words: str) -> str:
    """Another command on the same site, to paste."""
    return command(words, choice.folder, choice.env, choice.overlays)
