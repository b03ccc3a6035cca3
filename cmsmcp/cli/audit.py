"""`cmsmcp audit`: the audit for people (`tail`) and for other programs (`export`), from the stream or the file that holds it."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from cmsmcp.bootstrap.audit import SOURCES, choose_source, open_trail, stream_key
from cmsmcp.bootstrap.chosen import Chosen, choose
from cmsmcp.bootstrap.governance import connect, find_redis
from cmsmcp.cli.site_options import site_options
from cmsmcp.governance.audit import FIELDS
from cmsmcp.governance.trail import Entry, Trail
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.settings import SettingsError, SiteChoice
from cmsmcp.settings_kinds import Fault, parse_duration

FOLLOW_SECONDS = 0.5
FORMULA = ("=", "+", "-", "@")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
COLUMNS = ("id", "time", *(name for name, _ in FIELDS))
source_option = click.option(
    "--source", type=click.Choice(SOURCES), help="stream: Redis. file: what a stdio server without Redis wrote. Without it: what there is.",
)


class Moment(click.ParamType):
    """A duration back from now, or a date or time in UTC; milliseconds since the epoch."""

    name = "moment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return int((time.time() - parse_duration(value)) * 1000)
        except Fault:
            pass
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is neither a duration such as 24h nor a time such as 2026-11-30 or 2026-11-30T08:00:00Z", param, ctx)
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


@click.group(epilog="\b\nExample:\n  cmsmcp audit tail --site my-site --follow")
def command() -> None:
    """Read who asked for what, when, and how it ended (docs/audit.md)."""


@command.command(epilog="\b\nExample:\n  cmsmcp audit tail --site my-site --follow -n 50")
@site_options
@click.option("-n", "count", type=click.IntRange(0, 10_000), default=20, show_default=True, help="How many of the last records.")
@click.option("--follow", is_flag=True, help="Go on with new ones until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@source_option
def tail(choice: SiteChoice, count: int, follow: bool, as_json: bool, source: str | None) -> None:
    """Print the last records, oldest first."""
    chosen = choose(choice, enabled=False)
    show = _json if as_json else _line
    source = _told(chosen, source)
    if follow and source == "stream" and find_redis(chosen) is None:
        raise SettingsError("no server runs for this site, so nothing new would come; start it, or leave --follow out")
    with open_trail(chosen, source) as trail:
        position = trail.end()
        for entry in trail.latest(count) if count else ():
            click.echo(show(entry.record))
            position = entry.position
        if follow:
            _follow(trail, position, show)


@command.command(epilog="\b\nExample:\n  cmsmcp audit export --site my-site --since 24h --format csv > audit.csv")
@site_options
@click.option("--since", type=Moment(), required=True, help="24h, 2026-11-30 or 2026-11-30T08:00:00Z.")
@click.option("--format", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True, help="How to write them.")
@source_option
def export(choice: SiteChoice, since: int, form: str, source: str | None) -> None:
    """Print every record from a moment on, oldest first."""
    chosen = choose(choice, enabled=False)
    with open_trail(chosen, _told(chosen, source)) as trail:
        for line in _csv(trail.since(since)) if form == "csv" else (_json(entry.record) for entry in trail.since(since)):
            click.echo(line)


@command.command(epilog="\b\nExample:\n  redis-cli XREVRANGE \"$(cmsmcp audit key --site my-site)\" + - COUNT 5")
@site_options
def key(choice: SiteChoice) -> None:
    """Print the name of the stream in Redis, for dashboards."""
    click.echo(stream_key(choose(choice, enabled=False)))


@command.command(epilog="\b\nExample:\n  cmsmcp audit address --site my-site")
@site_options
def address(choice: SiteChoice) -> None:
    """Print the URL of the Redis that holds the stream, without a password, for dashboards.

    Without REDIS_URL it is the private one of a running server: the socket moves whenever that starts, so ask again then.
    """
    url = find_redis(choose(choice, enabled=False))
    if url is None:
        raise SettingsError("no Redis serves this site now: REDIS_URL is not set, and no cmsmcp serve runs; start one, or set it")
    click.echo(connect(url).address.shown)


def _told(chosen: Chosen, source: str | None) -> str:
    """The source, and which it is on standard error, so that an empty answer cannot be taken for the other one's."""
    found = source or choose_source(chosen)
    click.echo(f"cmsmcp: reading the audit {found}" + (f" {stream_key(chosen)}" if found == "stream" else ""), err=True)
    return found


def _follow(trail: Trail, position: Any, show: Callable[[Mapping[str, str]], str]) -> None:
    """Until Ctrl-C. What is written while Redis is away from us is shown once it is back."""
    away = False
    while True:
        try:
            entries: Sequence[Entry] = trail.after(position)
            away = False
        except Unavailable as error:
            if not away:
                click.echo(f"cmsmcp: {error.message}", err=True)
            away, entries = True, ()
        for entry in entries:
            click.echo(show(entry.record))
            position = entry.position
        if not entries:
            time.sleep(FOLLOW_SECONDS)


def _json(record: Mapping[str, str]) -> str:
    return json.dumps(record)


def _line(record: Mapping[str, str]) -> str:
    """Time, phase, who, what, and how it ended, in that order. Records hold nothing that could steer a terminal."""
    who = record.get("subject") or record.get("client", "")
    end = " ".join(filter(None, (record.get("reason"), record.get("code"))))
    took = f"{record['duration_ms']} ms" if "duration_ms" in record else ""
    parts = (record["time"], record.get("phase", "").ljust(7), who, record.get("method"), record.get("capability"), took, end)
    return "  ".join(part for part in parts if part)


def _csv(entries: Iterable[Entry]) -> Iterable[str]:
    """A header and one line each. What a spreadsheet would take for a formula gets a quote in front."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="")
    rows = ([entry.record.get(name, "") for name in COLUMNS] for entry in entries)
    for row in (row for part in ([list(COLUMNS)], rows) for row in part):
        writer.writerow([f"'{value}" if value[:1] in FORMULA and not NUMBER.fullmatch(value) else value for value in row])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
