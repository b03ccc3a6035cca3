"""One content file becomes one entry of the catalog. Also the whole life of a process that does nothing else."""

from __future__ import annotations

import gc
import os
import stat
import unicodedata
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import NamedTuple

from cmsmcp.site.catalog.entry import Entry, FileState, searchable_of, served_entry, unserved_entry
from cmsmcp.site.definitions import Definitions
from cmsmcp.site.documents.frontmatter import MAX_DOCUMENT_BYTES
from cmsmcp.site.documents.parse import parse_document
from cmsmcp.site.entries.columns import columns_by_type
from cmsmcp.site.entries.filling import typed_row
from cmsmcp.site.markdown.links import scan
from cmsmcp.site.model import ERROR, Diagnostic, ParsedDocument
from cmsmcp.site.paths import ABSENT, PathFault, inside, read_bounded
from cmsmcp.site.search.document import SearchEntry, field_words, search_entry

_SHOWN = ("title", "summary", "author", "last_editor", "fields", "params", "body")


class Gone(NamedTuple):
    """A file that was there when the folder was walked, and is not any more."""

    path: str


class Read(NamedTuple):
    """A file for the catalog, and for the search index unless it cannot be served."""

    entry: Entry
    search: SearchEntry | None


class Parser:
    """Reads and parses files as `definitions` say. For one build: it remembers which folders lie inside the site."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._columns = columns_by_type(definitions.types)
        self._inside: dict[str, bool] = {}

    def read(self, path: str, state: FileState) -> Read | Gone:
        """`state` is what the file looked like before: if it changes meanwhile, the next walk reads it again."""
        config = self._definitions.config
        try:
            raw = self._read_plain(path) or read_bounded(config.root, path, MAX_DOCUMENT_BYTES)
            return self._parse(path, state, raw)
        except PathFault as fault:
            if fault.reason == ABSENT:
                return Gone(path)
            return Read(unserved_entry(path, state, (Diagnostic(ERROR, "unreadable", path, fault.message),)), None)
        except Exception as fault:
            # One document must not take down a site, whatever it holds (C039).
            message = f"the document cannot be read, through a fault of cmsmcp ({type(fault).__name__}); please report it"
            return Read(unserved_entry(path, state, (Diagnostic(ERROR, "unreadable", path, message),)), None)

    def _parse(self, path: str, state: FileState, raw: bytes) -> Read:
        result = parse_document(path, raw, self._definitions.config, self._definitions.types)
        document = result.document
        if document is None:
            return Read(unserved_entry(path, state, result.diagnostics), None)
        written, document = document, self._shown(document)
        found = scan(document.body, document.body_line)
        if document.body.count("\n") != written.body.count("\n"):
            # Where links stand is told of the file as it is written.
            found = replace(found, links=scan(written.body, written.body_line).links)
        if not found.text.isascii():
            # Snippets are cut from this text: composed characters cannot be cut in two.
            found = replace(found, text=unicodedata.normalize("NFC", found.text))
        kind = self._definitions.types.by_slug[document.type]
        words = field_words(kind, document.fields)
        typed = typed_row(kind, self._columns[document.type], document)
        entry = served_entry(state, document, found, words, diagnostics=result.diagnostics, typed=typed)
        return Read(entry, search_entry(searchable_of(document, found, words)))

    def _shown(self, document: ParsedDocument) -> ParsedDocument:
        """As readers get it: what is searched, filtered and sorted is what they see. Id, slug, URL and path stay, for look-up."""
        redact = self._definitions.redaction
        if redact is None:
            return document
        values = {name: getattr(document, name) for name in _SHOWN}
        terms = {name: list(found) for name, found in document.taxonomies.items()}
        # Each on its own: a field is no secret for what the title is.
        changed = {name: clean for name, value in values.items() if value and (clean := redact(value)) != value}
        if (clean := redact(terms)) != terms:
            changed["taxonomies"] = {name: tuple(found) for name, found in clean.items()}
        return replace(document, **changed) if changed else document

    def _read_plain(self, path: str) -> bytes | None:
        """The bytes of a plain file in a folder that lies inside the site; None for all else, which takes a closer look.

        Resolving every part of every path costs as much as parsing its front matter.
        """
        root = self._definitions.config.root
        folder = path.rpartition("/")[0]
        if folder not in self._inside:
            self._inside[folder] = inside(root, root / folder)
        if not self._inside[folder]:
            return None
        try:
            handle = os.open(f"{root}/{path}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        except (OSError, ValueError):
            return None
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_DOCUMENT_BYTES:
                return None
            raw = os.read(handle, found.st_size + 1)
            return raw if len(raw) == found.st_size else None
        except OSError:
            return None
        finally:
            os.close(handle)


def serve(handle: int) -> None:
    """Answer chunks of (path, state) with their entries over the socket `handle`, until the other side is gone."""
    connection = Connection(handle)
    # Nothing here lives longer than a chunk: collecting as often as usual is a tenth of the work.
    gc.freeze()
    gc.set_threshold(50_000)
    try:
        parser = Parser(connection.recv())
        while True:
            connection.send([parser.read(path, state) for path, state in connection.recv()])
    except (EOFError, OSError):
        return
