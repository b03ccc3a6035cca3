"""The program as it was called, so that the commands which messages name can be pasted. Light: a stdio server imports it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

NAMES = ("cmsmcp", "foundry")


def program() -> str:
    """`cmsmcp` (or `foundry`) where PATH leads to this very program, else the path it was called by, quoted for a shell."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py" and called.parent.name == NAMES[0]:
        return f"{shlex.quote(sys.executable)} -m {NAMES[0]}"
    if called.name not in NAMES:
        return NAMES[0]
    from shutil import which

    found = which(called.name)
    return called.name if found and Path(found).resolve() == called.resolve() else shlex.quote(str(called))


def command(words: str, folder: Path, env: str = "", overlays: Iterable[Path] = ()) -> str:
    """A whole line to paste: the program, `words` as they stand, and the options that name the same site again."""
    options: list[str] = [] if folder == Path() else ["--site", str(folder)]
    options += ["--env", env] if env else []
    for overlay in overlays:
        options += ["--config-overlay", str(overlay)]
    return f"{program()} {words} {shlex.join(options)}".rstrip()
