"""`cmsmcp serve`: the whole host. Listens, then starts Redis (if none is given), the sidecar and gunicorn, and ends them together."""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import click

from cmsmcp.bootstrap.beside import sidecar_command
from cmsmcp.bootstrap.chosen import Chosen, choose, discover_capabilities
from cmsmcp.bootstrap.governance import connect, require_service
from cmsmcp.bootstrap.keys import make_secret_if_absent, open_tokens
from cmsmcp.bootstrap.signers import agree_on_key
from cmsmcp.cli.site_options import again, site_options
from cmsmcp.processes.listener import CannotListen, is_ready, listen
from cmsmcp.processes.private_redis import PrivateRedis, RedisUnavailable
from cmsmcp.processes.signals import ignore_meaningless
from cmsmcp.processes.supervisor import Child, Supervisor
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.settings import KEY_FILE, SettingsError, SiteChoice, environment_elsewhere

INTERRUPTED = 130
WORKER_CLASSES = ("gevent", "gthread")
THREADS = 32
CALL_CONNECTIONS = 1_000
"""Of each worker, beside those of streams: all that the site may have open can be on one."""
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
START_PATIENCE = 1.5
STOP_SECONDS = 20.0
"""gunicorn lets calls in flight end (its own limit is 15 s) before it goes; idle, it takes two or three."""


@dataclass(frozen=True, slots=True)
class Pool:
    """gunicorn's workers; `threads` of each, where it has threads."""

    workers: int
    worker_class: str
    threads: int

    @property
    def options(self) -> list[str]:
        threads = ["--threads", str(self.threads)] if self.worker_class == "gthread" else []
        return ["--workers", str(self.workers), "--worker-class", self.worker_class, *threads]


@dataclass(frozen=True, slots=True)
class Host:
    """Everything known before the first process starts."""

    chosen: Chosen
    listener: socket.socket
    pool: Pool

    @property
    def bound(self) -> str:
        """The host it listens on; 0.0.0.0 and :: stand for every address of this machine."""
        return self.listener.getsockname()[0]

    @property
    def address(self) -> str:
        """host:port to reach it from here."""
        return self._with_port(EVERYWHERE.get(self.bound, self.bound))

    @property
    def described(self) -> str:
        """Where it can be reached, for people; what keeps other machines out, if it listens to them."""
        if self.bound not in EVERYWHERE:
            return f"http://{self.address}"
        door = self.chosen.settings.door
        way_in = "" if door.public_url or door.allowed_hosts else "; others are refused until mcp.public_url or mcp.allowed_hosts is set"
        return f"{self._with_port(self.bound)} (every address), here on http://{self.address}{way_in}"

    def _with_port(self, name: str) -> str:
        port = self.listener.getsockname()[1]
        return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


@click.command(epilog="\b\nExample:\n  cmsmcp serve --site my-site --bind 127.0.0.1:8080 --workers 2")
@site_options
@click.option("--bind", default="127.0.0.1:8080", show_default=True, metavar="HOST:PORT", help="Where to listen; port 0 takes a free one.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Worker processes.")
@click.option(
    "--worker-class", type=click.Choice(WORKER_CLASSES), default=WORKER_CLASSES[0], show_default=True,
    help="How a worker serves several requests at once: gevent with a greenlet for each, gthread with a thread.",
)
@click.option(
    "--threads", type=click.IntRange(2, 1_024), metavar="N",
    help=f"Threads of a gthread worker, {THREADS} without this. Each open stream keeps one.",
)
@click.option("--demo", is_flag=True, help="When ready, print a token, a curl line and a client's configuration.")
def command(*, choice: SiteChoice, bind: str, workers: int, worker_class: str, threads: int | None, demo: bool) -> None:
    """Serve a site over HTTP: POST /mcp with a token.

    With REDIS_URL that Redis is used, else a private one is started. Without CMSMCP_SECRET_KEY a key is made and kept beside the index.
    Tokens are made out to mcp.public_url or, without it, to the site's name: change either and they are refused.
    SIGHUP reads the configuration again; one that is faulty is not taken. SIGTERM lets calls in flight end.
    """
    if threads is not None and worker_class != "gthread":
        raise click.UsageError("--threads is for --worker-class gthread")
    ignore_meaningless()  # until the supervisor listens, and can say so
    chosen = choose(choice)
    if chosen.environment.capabilities:
        discover_capabilities(chosen.environment.capabilities)
    with _listen(bind, "--bind, or another PORT: make run PORT=8081" if demo else "--bind") as listener:
        _require_tokens_in_public(chosen, listener)
        if chosen.environment.redis_url is None and make_secret_if_absent(chosen):
            _tell(f"CMSMCP_SECRET_KEY is not set; made a key in {chosen.state / KEY_FILE}")
        open_tokens(chosen)  # a weak key is told now, not by every worker
        code = _run(Host(chosen, listener, Pool(workers, worker_class, threads or THREADS)), demo)
        sys.exit(0 if demo and code == INTERRUPTED else code)  # Ctrl-C is how a demonstration ends: `make run` reports no error


def _listen(bind: str, another: str) -> socket.socket:
    try:
        return listen(bind, another)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--bind") from None
    except CannotListen as error:
        raise SettingsError(str(error)) from None


def _run(host: Host, demo: bool) -> int:
    private = None
    children = []
    url = host.chosen.environment.redis_url
    try:
        if url is None:
            private = PrivateRedis(host.chosen.state)
            private.start()
            assert private.child is not None
            url = private.url
            children.append(private.child)
        client = connect(url, START_PATIENCE)
        require_service(client, host.chosen.settings.site_name)
        for line in agree_on_key(host.chosen, client) if private is None else ():
            _tell(line)
        client.close()
        children += [_sidecar(host), _gunicorn(host)]
        return Supervisor(children, _tell, lambda: _is_sound(host)).run(lambda: is_ready(host.address), _on_ready(host, demo))
    except Unavailable:
        raise SettingsError("Redis answers but takes no writes: it is full, read-only or out of disk; nothing could be served") from None
    except RedisUnavailable as error:
        raise SettingsError(f"{error}; stop that one, or set REDIS_URL so that several servers share one Redis") from None
    finally:
        if private is not None:
            private.stop()


def _require_tokens_in_public(chosen: Chosen, listener: socket.socket) -> None:
    if chosen.settings.door.auth == "none" and not ipaddress.ip_address(listener.getsockname()[0]).is_loopback:
        raise SettingsError("mcp.auth is none, which is for loopback only; bind 127.0.0.1, or set mcp.auth: token")


def _is_sound(host: Host) -> bool:
    """Whether the configuration, as it stands now, could be started with. If not, says why."""
    try:
        _require_tokens_in_public(choose(host.chosen.choice), host.listener)
    except SettingsError as error:
        for line in (*error.lines, "the configuration of before stays in force"):
            _tell(line)
        return False
    _tell("reading the configuration again")
    return True


def _sidecar(host: Host) -> Child:
    environment = environment_elsewhere(host.chosen.environment)
    return Child("the indexer", sidecar_command(host.chosen), host.chosen.state, environment, patience=8.0, reloads=True)


def _gunicorn(host: Host) -> Child:
    """gunicorn gets the open socket."""
    overlays = [str(overlay.absolute()) for overlay in host.chosen.choice.overlays]
    named = {"env": host.chosen.choice.env, "overlays": overlays, "bind": host.bound, "supervised": True}
    app = f"cmsmcp.app:from_folder({str(host.chosen.root)!r}, {', '.join(f'{name}={value!r}' for name, value in named.items())})"
    handle = host.listener.fileno()
    command_line = [
        sys.executable, "-P", "-m", "gunicorn", "-c", "python:cmsmcp.processes.gunicorn_conf",
        "--bind", f"fd://{handle}", *host.pool.options,
        "--worker-connections", str(CALL_CONNECTIONS + host.chosen.settings.policy.max_streams), app,
    ]
    environment = environment_elsewhere(host.chosen.environment)
    return Child(
        "gunicorn", command_line, host.chosen.state, environment, vital=True, pass_fds=(handle,), patience=STOP_SECONDS, reloads=True
    )


def _on_ready(host: Host, demo: bool) -> Callable[[], None]:
    def announce() -> None:
        if demo:
            from cmsmcp.cli.demo import print_demo

            print_demo(host.chosen, host.address, host.described)
        else:
            choice = host.chosen.choice
            _tell(f"serving {host.chosen.root} on {host.described}")
            _tell(f"make a token with: {again(choice, 'tokens create --name NAME')}")

    return announce


def _tell(line: str) -> None:
    with suppress(OSError):  # whoever read standard error may be gone; the site is still served
        click.echo(f"cmsmcp: {line}", err=True)
