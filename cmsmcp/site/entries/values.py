"""A field's value as it leaves: what the store hands over for each field of an entry, at every depth."""

from __future__ import annotations

from typing import Any

from cmsmcp.site.model import SiteConfig
from cmsmcp.site.types.fields import Field


def render(field: Field, value: Any, config: SiteConfig, *, html: bool) -> Any:
    """`value` as `entry_values` gives it, never that of a relation. `html`: richtext is wanted as HTML."""
    return value
