"""What agents can call: one file per tool or resource, found by `core.registry.discover`. Files that start with `_` are shared schemas."""
