"""`GET /api/openapi.json`: this door described for other programs, of exactly the site's types as they are now."""

from __future__ import annotations

from functools import lru_cache

from cmsmcp.api.answer import JSON, Answer, Asked
from cmsmcp.api.query import Given
from cmsmcp.core.governed import encode, within
from cmsmcp.governance.redaction import redact
from cmsmcp.schema.catalog import Catalog, catalog_of
from cmsmcp.schema.openapi import openapi

MAX_DOCUMENT = 8 * 1024 * 1024
"""Bytes. A type of twenty fields takes some twelve thousand."""
INSTEAD = "Take it from cmsmcp schema export --format openapi."


def read_openapi(asked: Asked) -> Answer:
    """The document, made once for each state of the types."""
    Given(asked.pairs, ())
    asked.call.deadline.check()
    text = _written(catalog_of(asked.call.site.types), asked.release, asked.server)
    return within(Answer(text, JSON, len(text.encode())), MAX_DOCUMENT, INSTEAD)


@lru_cache(maxsize=2)
def _written(catalog: Catalog, release: str, server: str) -> str:
    return encode(redact(openapi(catalog, release, server=server))).decode()
