"""Markdown bodies, read for what they refer to and for their plain text."""
