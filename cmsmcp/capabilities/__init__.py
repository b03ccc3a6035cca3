"""What agents can call: one file per tool, resource or prompt, found by `core.registry.discover`. Files that start with `_` are shared."""
