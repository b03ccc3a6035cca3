"""The rules, pure: who may call what, how often, what may leave, what is written down. Does no I/O."""
