"""`/api`: published entries for programs, read-only, over plain HTTP. Governed by the same code as `/mcp`."""
