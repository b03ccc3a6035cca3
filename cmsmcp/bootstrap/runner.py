"""The children in which work that may be long is done: how a process starts them, and what they are made of.

A child has the site's files and its index to read, and neither the keys of the server nor its Redis: it answers its parent alone.
"""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cmsmcp.bootstrap.chosen import Chosen, Once
from cmsmcp.core.placing import perform
from cmsmcp.runner.pool import Pool
from cmsmcp.settings import environment_elsewhere

_SECRETS = ("CMSMCP_SECRET_KEY", "REDIS_URL")


def open_runner(chosen: Chosen) -> Pool:
    """Nothing is started yet."""
    environment = {name: value for name, value in environment_elsewhere(chosen.environment).items() if name not in _SECRETS}
    overlays = [str(path.resolve()) for path in chosen.choice.overlays]
    packages = " ".join(chosen.environment.capabilities)
    arguments = [str(chosen.root), str(chosen.state), chosen.choice.env, packages, str(time.monotonic()), *overlays]
    return Pool("cmsmcp.bootstrap.runner:prepare", arguments, environment)


def prepare(arguments: Sequence[str]) -> Callable[[bytes, float, Callable[[bytes], None]], bytes]:
    """What the children do, with everything loaded and nothing opened."""
    import cmsmcp.api.reading
    import cmsmcp.capabilities
    import cmsmcp.core
    import cmsmcp.site
    from cmsmcp.core.registry import discover
    from cmsmcp.site.open import OpenSite, open_site

    root, state, env, packages, started, *overlays = arguments
    registry = discover(cmsmcp.capabilities, *map(importlib.import_module, packages.split()))
    for room in (cmsmcp.core, cmsmcp.site):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)

    def open_it() -> OpenSite:
        files = [Path(path) for path in overlays]
        return open_site(Path(root), Path(state), env=env, overlays=files, write=False, started=float(started), anew=False)

    site = Once(open_it)
    return lambda task, seconds, note: perform(task, seconds, note, lambda: site().site, registry)
