"""`cmsmcp index`: bring the index up to the files now, instead of when a server starts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from cmsmcp.bootstrap.chosen import choose
from cmsmcp.bootstrap.index import Progress, open_indexed
from cmsmcp.cli.site_options import site_options
from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.settings import SiteChoice

SECONDS = 60.0
EVERYTHING = Visibility(frozenset(STATUSES))


@click.command(epilog="\b\nExample:\n  cmsmcp index --site my-site")
@site_options
def command(choice: SiteChoice) -> None:
    """Build the search index of a site, or bring it up to date."""
    choose(choice, enabled=False)  # says what is wrong with our blocks
    began = time.monotonic()
    with shown_progress() as progress, open_indexed(choice, progress) as opened:
        found = opened.site.content.list_documents(
            type=None, lang=None, taxonomy={}, visibility=EVERYTHING, updated_after=None, updated_before=None, limit=1, cursor=None,
            deadline=Deadline(SECONDS),
        )
        unclaimed = opened.noted("unclaimed_files")
    click.echo(f"{choice.folder}: {found.total} documents, up to date after {time.monotonic() - began:.1f} s")
    for path, message in unclaimed:
        click.echo(f"{path}: {message}", err=True)


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """A bar on a terminal; plain lines, at most one a second, elsewhere. Both on standard error."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    with Bar(TextColumn("indexing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("indexing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)


def _lines() -> Progress:
    last = time.monotonic()

    def note(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= 1:
            last = time.monotonic()
            click.echo(f"indexing: {done} of {total} documents", err=True)

    return note
