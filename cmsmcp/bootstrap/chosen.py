"""The site a command or a server was started for, its settings and its folders, and the things made from them."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from cmsmcp import __version__
from cmsmcp.settings import Environment, Settings, SettingsError, SiteChoice, find_site, load_settings, read_environment, state_folder

if TYPE_CHECKING:
    from cmsmcp.core.registry import Registry
    from cmsmcp.core.sharing import Change
    from cmsmcp.site.open import OpenSite

T = TypeVar("T")


class Once(Generic[T]):
    """Makes a thing when it is first asked for, once, whichever threads ask."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]

    def made(self) -> T | None:
        return self._made[0] if self._made else None


class Sought(Generic[T]):
    """Looks for a thing, each time it is asked for, until it is there; from then on that is it. What cannot be used is not there yet."""

    def __init__(self, find: Callable[[], T | None]) -> None:
        self._find = find
        self._found: T | None = None

    def __call__(self) -> T | None:
        if self._found is None:
            with suppress(SettingsError):
                self._found = self._find()
        return self._found


class Recent(Generic[T]):
    """Makes a thing anew when the last one is older than `seconds`."""

    def __init__(self, make: Callable[[], T], seconds: float) -> None:
        self._make = make
        self._seconds = seconds
        self._lock = threading.Lock()
        self._made: list[tuple[float, T]] = []

    def __call__(self) -> T:
        with self._lock:
            if not self._made or time.monotonic() - self._made[0][0] > self._seconds:
                self._made = [(time.monotonic(), self._make())]
            return self._made[0][1]


@dataclass(frozen=True, slots=True)
class Chosen:
    """`root` is the site's real path, `state` its folder for derived data."""

    choice: SiteChoice
    environment: Environment
    root: Path
    settings: Settings
    state: Path

    @property
    def audience(self) -> str:
        """What tokens for this site are made out to (docs/rules.md, Tokens and roles)."""
        return self.settings.door.public_url or f"urn:cmsmcp:{self.settings.site_name}"


def choose(choice: SiteChoice, *, enabled: bool = True) -> Chosen:
    """Read everything that could stop a start. Raises SettingsError; also when MCP is off, unless `enabled` is False, and when a shared
    Redis would hold what is the site's under a name that other sites may have (docs/rules.md, Tokens and roles)."""
    environment = read_environment()
    _require_packages(environment.capabilities)
    root = find_site(choice.folder, choice.named_by)
    settings = load_settings(root, choice.env, choice.overlays)
    if enabled and settings.refusal:
        raise SettingsError(settings.refusal)
    if environment.redis_url is not None and settings.name_fault is not None:
        raise SettingsError(settings.name_fault)
    return Chosen(choice, environment, root, settings, state_folder(root, environment))


def open_chosen(
    chosen: Chosen, *, write: bool, on_change: Callable[[Change], None] | None = None, follow: bool = False
) -> OpenSite:  # fmt: skip
    """`write`: index it and watch it from now on, or as soon as another process lets go of it. The rest is for `OpenSite.start`."""
    from cmsmcp.governance.redaction import REDACTION
    from cmsmcp.site.open import open_site

    choice = chosen.choice
    opened = open_site(
        chosen.root, chosen.state, env=choice.env, overlays=choice.overlays, write=write, version=__version__, redaction=REDACTION
    )
    opened.start(on_change, follow=follow)
    return opened


def discover_capabilities(named: Sequence[str]) -> Registry:
    """Ours, and those of the packages that the operator names. SettingsError names the file of one that cannot be served.

    Theirs are code that no test of ours has seen: whoever serves calls this before the start, so that a fault stops that and no call.
    """
    import cmsmcp.capabilities
    from cmsmcp.core.registry import RegistrationError, discover, reason_of

    if not named:
        return discover(cmsmcp.capabilities)
    _require_packages(named)
    try:
        return discover(cmsmcp.capabilities, *map(importlib.import_module, named))
    except RegistrationError as error:
        raise SettingsError(f"CMSMCP_CAPABILITIES: {error}") from None
    except (Exception, SystemExit) as error:
        raise SettingsError(f"CMSMCP_CAPABILITIES: {', '.join(named)} cannot be imported ({reason_of(error)})") from error


def _require_packages(names: Sequence[str]) -> None:
    """A name that stands for nothing stops every command; their code is run by those that serve, when it is first needed."""
    for name in names:
        try:
            found = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            found = None
        if found is None or found.submodule_search_locations is None:
            raise SettingsError(f"CMSMCP_CAPABILITIES: no package {name!r} is installed here; install it, or put its folder on PYTHONPATH")
