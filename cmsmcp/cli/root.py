"""Which commands exist. Each is a module of this folder, imported when it is called."""

from __future__ import annotations

import importlib
from typing import Any

import click

from cmsmcp import __version__

COMMANDS = {
    "mcp": ("cmsmcp.cli.mcp", "Speak MCP to a local client."),
    "serve": ("cmsmcp.cli.serve", "Serve a site over HTTP."),
    "tokens": ("cmsmcp.cli.tokens", "Make, list and revoke tokens; rotate their key."),
    "audit": ("cmsmcp.cli.audit", "Read who asked for what, and how it ended."),
    "check": ("cmsmcp.cli.check", "Say what is wrong with a site."),
    "schema": ("cmsmcp.cli.schema", "Export the content types; say what a change of them breaks."),
    "index": ("cmsmcp.cli.index", "Build the search index of a site."),
    "init": ("cmsmcp.cli.init", "Make a small site to start from."),
}


class LazyGroup(click.Group):
    """Lists commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return importlib.import_module(COMMANDS[cmd_name][0]).command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"No command named {args[0]!r}." + (f" Did you mean {near[0]!r}?" if near else " See cmsmcp --help."))
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, epilog="\b\nExample:\n  cmsmcp init my-site && cmsmcp check --site my-site && cmsmcp serve --site my-site")
@click.version_option(__version__, prog_name="cmsmcp")
def command() -> None:
    """A governed MCP server for file-based CMS sites."""


def run() -> int:
    """Run the command the arguments name; its exit code."""
    try:
        command.main(standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        return 1
    return 0
