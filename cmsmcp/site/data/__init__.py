"""The two files of `data/` that are read: navigation and redirects."""
