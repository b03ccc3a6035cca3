"""Which adapter stands behind which port: the one place that knows. One function per door.

Everything a stdio server does not need for its first reply is made when it is first asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from cmsmcp import __version__
from cmsmcp.core.ports import Admission, Caller
from cmsmcp.core.service import Service
from cmsmcp.settings import Environment, Settings, SettingsError, find_site, load_settings, read_environment, state_folder

if TYPE_CHECKING:
    from cmsmcp.core.registry import Registry
    from cmsmcp.site.open import OpenSite

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Called with the documents done and the documents to do."""
INDEX_PROCESSES = 2
WARM_UP_SECONDS = 0.3
"""When a stdio server opens its site if nobody has asked for it yet: after the handshake, which must not compete with it."""


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


def serve_stdio(folder: Path, env: str, overlays: Sequence[Path]) -> int:
    """Serve one local client until its input ends; the exit code. Raises SettingsError before a byte is written."""
    from cmsmcp.transports.stdio import claim_streams, serve

    environment, root, settings = _load(folder, env, overlays)
    state = state_folder(root, environment)
    incoming, outgoing = claim_streams()
    site = Once(lambda: _open_site(root, state, env, overlays))
    admission = Once(lambda: _local_admission(settings, environment, state))
    service = Service(settings.policy, Once(_discover), lambda: site().site, admission, __version__, site_name=settings.site_name)
    warm_up = threading.Timer(WARM_UP_SECONDS, site)
    warm_up.daemon = True
    warm_up.start()
    try:
        return serve(service, local_caller(settings), incoming, outgoing, max_line=settings.policy.max_request_bytes)
    finally:
        warm_up.cancel()
        opened = site.made()
        if opened is not None:
            opened.close()


def local_caller(settings: Settings) -> Caller:
    """Whoever started the process: every scope the configuration enables, no token (seed F38, F39)."""
    return Caller(client="local", scopes=settings.policy.scopes, name="local")


def open_for_writing(folder: Path, env: str, overlays: Sequence[Path]) -> OpenSite:
    """The site, indexed and watched by this process from now on, or as soon as another one lets go of it."""
    environment, root, _ = _load(folder, env, overlays)
    return _open_site(root, state_folder(root, environment), env, overlays)


@contextmanager
def open_indexed(folder: Path, env: str, overlays: Sequence[Path], progress: Progress) -> Iterator[OpenSite]:
    """The site with an index that is up to date: built here, or by the server that is running."""
    from cmsmcp.site.definitions import load_definitions
    from cmsmcp.site.indexer import Indexer
    from cmsmcp.site.open import INDEX_FOLDER, open_site
    from cmsmcp.site.writer_lock import WriterLock

    root = find_site(folder)
    state = state_folder(root, read_environment())
    lock = WriterLock(state / INDEX_FOLDER)
    if lock.acquire():
        try:
            load = partial(load_definitions, root, env, overlays)
            with closing(Indexer(state / INDEX_FOLDER, load, progress=progress, processes=INDEX_PROCESSES)) as indexer:
                indexer.build()
        finally:
            lock.release()
    opened = open_site(root, state, env=env, overlays=overlays, write=False, version=__version__)
    try:
        yield opened
    finally:
        opened.close()


def _load(folder: Path, env: str, overlays: Sequence[Path]) -> tuple[Environment, Path, Settings]:
    environment = read_environment()
    root = find_site(folder)
    settings = load_settings(root, env, overlays)
    if settings.refusal:
        raise SettingsError(settings.refusal)
    return environment, root, settings


def _open_site(root: Path, state: Path, env: str, overlays: Sequence[Path], *, write: bool = True) -> OpenSite:
    from cmsmcp.site.open import open_site

    opened = open_site(root, state, env=env, overlays=overlays, write=write, version=__version__)
    opened.start()
    return opened


def _discover() -> Registry:
    import cmsmcp.capabilities
    from cmsmcp.core.registry import discover

    return discover(cmsmcp.capabilities)


def _local_admission(settings: Settings, environment: Environment, state: Path) -> Admission:
    """With `REDIS_URL` the limits are shared with everyone on that Redis; without, this process has its own, and an audit file."""
    if environment.redis_url is not None:
        return _redis_admission(settings, environment.redis_url)
    from cmsmcp.state.auditfile import AuditFile
    from cmsmcp.state.memory import MemoryAdmission

    return MemoryAdmission(settings.policy, AuditFile(state / "audit.jsonl"))


def _redis_admission(settings: Settings, url: str) -> Admission:
    raise NotImplementedError
