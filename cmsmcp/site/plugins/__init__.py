"""Plugins on disk: what they declare, what their Go code does, how they stand. `shapes` has the results."""
