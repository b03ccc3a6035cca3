"""Ranked full-text search over the catalog's documents."""
