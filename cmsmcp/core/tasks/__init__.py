"""Calls that go on after they were answered: the extension `io.modelcontextprotocol/tasks` of 2026-07-28."""
