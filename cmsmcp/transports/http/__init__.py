"""The HTTP door: `/mcp` as a Flask blueprint."""

from cmsmcp.transports.http.door import Entrance, blueprint

__all__ = ["Entrance", "blueprint"]
