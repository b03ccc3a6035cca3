"""Capabilities that say something before they reply, for the tests of event streams."""
