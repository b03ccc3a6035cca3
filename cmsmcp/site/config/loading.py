"""site.yaml, layered: `load_config` for the site, `load_node` for whoever checks blocks of their own (docs/rules.md, Configuration).

Light on purpose: a stdio server calls `load_node` before its first reply, so what only `load_config` needs is imported there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cmsmcp.site.config.layers import ConfigFault, read_layers
from cmsmcp.site.yaml.loader import Mapping

if TYPE_CHECKING:
    from cmsmcp.site.model import SiteConfig

__all__ = ["ConfigFault", "load_config", "load_node"]


def load_node(root: Path | str, env: str | None = None, overlays: Iterable[Path | str] = (), target: str | None = None) -> Mapping:
    """The merged tree; every node keeps its file and line. Strict: raises ConfigFault with all faults of the YAML, of any layer."""
    layers = read_layers(root, env, overlays, target)
    if layers.faults:
        raise ConfigFault(layers.faults)
    return layers.tree


def load_config(root: Path | str, env: str | None = None, overlays: Iterable[Path | str] = (), target: str | None = None) -> SiteConfig:
    """The site's configuration. Lenient: a value that cannot be taken is a diagnostic and its default stands; unknown keys are left alone.

    Raises ConfigFault only when site.yaml itself is absent or no YAML map.
    """
    from cmsmcp.site.config.build import build_config

    return build_config(Path(os.path.realpath(root)), env, read_layers(root, env, overlays, target))
