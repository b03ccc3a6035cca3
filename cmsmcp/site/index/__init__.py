"""Keeps catalog and search up to the files: the one writer of a host, and its watcher."""
