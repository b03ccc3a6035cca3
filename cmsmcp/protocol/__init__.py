"""MCP on the wire, pure: bytes and values in, values and bytes out. Knows no site, no Redis, no Flask, no clock."""
