"""The catalog's tables, as text. A change here takes a new `SCHEMA_VERSION`: old catalogs are then thrown away and rebuilt."""

from __future__ import annotations

SCHEMA_VERSION = 7
"""Part of the file's name too, so that two releases never share a catalog."""

FOREVER = 2**62
"""Milliseconds. Stands for "no end" in `unpublish_at`, so that a comparison needs no NULL case."""

OPEN_SQL = f"twin IS NULL AND status = 'published' AND publish_at = 0 AND unpublish_at = {FOREVER}"
"""Published without bounds or rivals, so public at any time: nearly every document. Typed tables keep it as the column `open`, in most
indexes."""

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- Two versions (site/catalog/versions.py). Of the whole: no two catalogs share `born`, and every write of documents counts `edition` up.
-- Of what is public: `public`, the sum of the digests in `public_rows`, as of the moment `settled` (ms).
INSERT INTO meta VALUES ('born', hex(randomblob(8))), ('edition', 0), ('public', ''), ('settled', 0);

CREATE TABLE files (
  path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL
) WITHOUT ROWID;

-- `row` is never used twice: the search index refers to it. `twin` is the row again where another document has the URL or the id, else
-- NULL: who of them is served follows from the moment and the reader (site/catalog/visibility.py). `digest` is of all that readers see.
-- `publish_at` is 0 and `unpublish_at` is 2**62 where a document has no bound; `moment` is updated_at, else date, in ms.
CREATE TABLE documents (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE, id TEXT NOT NULL, type TEXT NOT NULL, lang TEXT NOT NULL, slug TEXT NOT NULL,
  url TEXT NOT NULL, key TEXT NOT NULL, title TEXT NOT NULL,
  twin INTEGER, status TEXT NOT NULL,
  publish_at INTEGER NOT NULL, unpublish_at INTEGER NOT NULL, owner TEXT NOT NULL, moment INTEGER,
  layout TEXT NOT NULL, summary TEXT NOT NULL, author TEXT NOT NULL, last_editor TEXT NOT NULL,
  date TEXT, created_at TEXT, updated_at TEXT,
  taxonomies TEXT NOT NULL, fields TEXT NOT NULL, params TEXT NOT NULL, digest BLOB NOT NULL
);

-- The documents that are public, as of the moment `settled`.
CREATE TABLE public_rows (row INTEGER PRIMARY KEY, digest BLOB NOT NULL);

-- Apart from `documents`, so that lists do not page through bodies. `text` and `words` (of its fields) are what search finds it by.
CREATE TABLE bodies (
  row INTEGER PRIMARY KEY, body TEXT NOT NULL, body_line INTEGER NOT NULL, text TEXT NOT NULL, headings TEXT NOT NULL, words TEXT NOT NULL
);

CREATE TABLE terms (
  taxonomy TEXT NOT NULL, term TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (taxonomy, term, row)
) WITHOUT ROWID;
CREATE TABLE links (row INTEGER NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL, line INTEGER NOT NULL);
CREATE TABLE anchors (row INTEGER NOT NULL, anchor TEXT NOT NULL);

-- `origin` is "file" (found while reading that document), "config", "folders" (files and folders among the documents)
-- or "scan" (types, menus, redirects, media).
CREATE TABLE diagnostics (
  origin TEXT NOT NULL, path TEXT NOT NULL, severity TEXT NOT NULL, "check" TEXT NOT NULL, line INTEGER, message TEXT NOT NULL
);

CREATE INDEX diagnostics_by_path ON diagnostics (path);

-- Documents whose entry in the search index is out of date: filled with every change, emptied after the index's commit.
-- What is left after a crash is redone at the next start.
CREATE TABLE unsearched (row INTEGER PRIMARY KEY);

-- Where the last commit of the search indexes left each document's entry: in that of what is public, or in that of what is not.
CREATE TABLE searched (row INTEGER PRIMARY KEY, public INTEGER NOT NULL);

-- One row for each typed table (site/entries/tables.py): `shape` is JSON of its columns; `live` is 0 while a build fills it.
CREATE TABLE types (number INTEGER PRIMARY KEY AUTOINCREMENT, slug TEXT NOT NULL, shape TEXT NOT NULL, live INTEGER NOT NULL);

-- Media files (site/catalog/media.py). No times of reading: what has the same state was read before.
CREATE TABLE media (
  key TEXT PRIMARY KEY, state TEXT NOT NULL, alt TEXT, figcaption TEXT, width INTEGER, height INTEGER,
  fault TEXT, fault_path TEXT, fault_line INTEGER
) WITHOUT ROWID;

-- The last things that readers see differently, as JSON of `core.sharing.Change`: for processes beside the writer.
CREATE TABLE changes (number INTEGER PRIMARY KEY AUTOINCREMENT, change TEXT NOT NULL);
"""

INDEXES = """
CREATE INDEX IF NOT EXISTS documents_by_url ON documents (url, id);
CREATE INDEX IF NOT EXISTS documents_by_type ON documents (type, url, id);
CREATE INDEX IF NOT EXISTS documents_by_lang ON documents (lang, url, id);
CREATE INDEX IF NOT EXISTS documents_by_id ON documents (id);
CREATE INDEX IF NOT EXISTS documents_by_slug ON documents (slug);
CREATE INDEX IF NOT EXISTS documents_by_key ON documents (key);
CREATE INDEX IF NOT EXISTS documents_by_author ON documents (author);
CREATE INDEX IF NOT EXISTS documents_twins ON documents (twin) WHERE twin IS NOT NULL;
CREATE INDEX IF NOT EXISTS documents_by_begin ON documents (publish_at) WHERE publish_at > 0;
CREATE INDEX IF NOT EXISTS documents_by_end ON documents (unpublish_at) WHERE unpublish_at < 4611686018427387904;
CREATE INDEX IF NOT EXISTS terms_by_row ON terms (row);
CREATE INDEX IF NOT EXISTS links_by_row ON links (row);
CREATE INDEX IF NOT EXISTS anchors_by_row ON anchors (row);
"""
"""Made after the first build: filling them row by row costs a third of its time."""
