"""What the reading of documents depends on besides the documents: configuration, content types, the rule of redaction; with a fingerprint.

A document's URL, language, fields and what of it is shown follow from these. When the fingerprint changes, every document is derived anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cmsmcp import __version__
from cmsmcp.core.ports import Redaction
from cmsmcp.site.config.loading import ConfigFault, load_config
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.types.registry import TypeRegistry, load_types

_READ_AT_INDEXING = ("content", "fields", "taxonomies", "permalinks")


@dataclass(frozen=True, slots=True)
class Definitions:
    """`type_names` are the slugs that `type` may name, sorted. Without `redaction` documents are kept as they are written."""

    config: SiteConfig
    types: TypeRegistry
    type_names: tuple[str, ...]
    fingerprint: str
    redaction: Redaction | None = None


def load_definitions(
    root: Path, env: str | None = None, overlays: Iterable[Path | str] = (), redaction: Redaction | None = None
) -> Definitions:
    """Read configuration and types from disk. Raises ConfigFault as `load_config` does."""
    config = load_config(root, env, tuple(overlays))
    types = load_types(config)
    return Definitions(config, types, tuple(sorted(types.names())), _fingerprint(config, types, redaction), redaction)


class CurrentDefinitions:
    """Definitions for readers: loaded when first asked for, and again when the indexer has noted other ones (`newest`)."""

    def __init__(self, load: Callable[[], Definitions], newest: Callable[[], Any]) -> None:
        self._load = load
        self._newest = newest
        self._loaded: Definitions | None = None
        self._seen: Any = None

    def __call__(self) -> Definitions:
        newest = self._newest()
        if self._loaded is None or newest != self._seen:
            try:
                self._loaded = self._load()
            except ConfigFault:
                # A broken site.yaml is the indexer's to report; what was read last still describes the catalog.
                if self._loaded is None:
                    raise
            self._seen = newest
        return self._loaded


def _fingerprint(config: SiteConfig, types: TypeRegistry, redaction: Redaction | None) -> str:
    parts = [
        __version__, config.default_lang, config.content_dir, sorted(config.content_dirs.items()), sorted(config.default_layouts.items()),
        config.locales.codes, config.locales.declared, {name: config.values.get(name) for name in _READ_AT_INDEXING},
        config.theme, list(types.all()), redaction.version if redaction is not None else "",
    ]  # fmt: skip
    return blake2b(json.dumps(parts, sort_keys=True, default=str).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
