"""Plugins on disk: what they declare, what their Go code does, how they stand. `shapes` has the results."""

from cmsmcp.site.plugins.reports import PluginReports

__all__ = ["PluginReports"]
