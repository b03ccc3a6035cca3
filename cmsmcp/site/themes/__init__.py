"""Themes on disk: what they declare, what they reach for, whether they hold together. `shapes` has the results."""

from cmsmcp.site.themes.reports import ThemeReports

__all__ = ["ThemeReports"]
