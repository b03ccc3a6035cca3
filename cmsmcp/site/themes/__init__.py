"""Themes on disk: what they declare, what they reach for, whether they hold together. `shapes` has the results."""
