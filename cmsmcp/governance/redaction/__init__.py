"""Redaction: secrets taken out of JSON values and of texts (docs/rules.md, Redaction).

`trees` goes through a value, by the names of keys (`names`, `vocabulary`); `texts` through a string, where secrets are known by a shape
of their own (`shapes`), by their place (`places`), or by the name they are assigned to (`assignments`, `syntax`, judged by `values`).
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cmsmcp.governance.redaction.trees import MARK, PAIR_NAMES, PAIR_VALUES, redact

__all__ = ["MARK", "PAIR_NAMES", "PAIR_VALUES", "REDACTION", "redact"]


class _Rules:
    """`core.ports.Redaction`."""

    @property
    def version(self) -> str:
        return _version()

    def __call__(self, value: Any) -> Any:
        return redact(value)


@lru_cache(maxsize=1)
def _version() -> str:
    """Of what the rules are made of, so that no change of them can be forgotten."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return blake2b(b"".join(source.read_bytes() for source in sources), digest_size=8).hexdigest()


REDACTION = _Rules()
