"""The command line. `main` is the entry point of `cmsmcp` and `foundry`; the commands are modules of this folder.

The command that a local client starts (`mcp serve`) is recognised here without click, whose import costs a tenth of the time to its
first reply; whatever is not exactly that command goes to click.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

EXIT_REFUSED = 2
STDIO = ["mcp", "serve"]


def main() -> None:
    """Exit codes: 0 done (`mcp serve` and `serve --demo`: ended by Ctrl-C too), 1 faults found or a process ended, 2 refused or misused,
    130 interrupted."""
    from cmsmcp.settings import SettingsError, SiteChoice, overlooked

    stdio = read_stdio_options(sys.argv[1:])
    try:
        if stdio is not None:
            from cmsmcp.bootstrap.stdio import serve_stdio

            choice = SiteChoice(**stdio)
            for line in overlooked(choice):
                _say(f"warning: {line}")
            sys.exit(serve_stdio(choice))
        from cmsmcp.cli.root import run

        sys.exit(run())
    except SettingsError as error:
        for line in error.lines:
            _say(line)
        sys.exit(EXIT_REFUSED)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        from cmsmcp.disk_faults import describe

        why = describe(error)
        if why is None:
            raise
        _say(why)
        sys.exit(EXIT_REFUSED)


def _say(line: str) -> None:
    """On standard error. Where there is none, `print` would take standard output, which is the client's."""
    if sys.stderr is not None:
        with suppress(OSError):  # nobody reads it, or its disk is full
            print(f"cmsmcp: {line}", file=sys.stderr)


def read_stdio_options(words: Sequence[str]) -> dict[str, Any] | None:
    """The fields of SiteChoice for a plain `mcp serve`; None for anything else, help and mistakes included."""
    if list(words[:2]) != STDIO:
        return None
    found: dict[str, list[str]] = {"--transport": ["stdio"], "--site": ["."], "--env": [""], "--config-overlay": []}
    rest = list(words[2:])
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name not in found or not (value := value or (rest.pop(0) if rest else "")) or value.startswith("-"):
            return None
        found[name].append(value)
    if found["--transport"][-1] != "stdio":
        return None
    return {"folder": Path(found["--site"][-1]), "env": found["--env"][-1], "overlays": tuple(map(Path, found["--config-overlay"]))}
