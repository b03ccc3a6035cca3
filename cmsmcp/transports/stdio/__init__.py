"""The stdio door: `claim_streams`, then `serve`."""

from cmsmcp.transports.stdio.door import serve
from cmsmcp.transports.stdio.streams import StreamsClosed, claim_streams, read_lines

__all__ = ["StreamsClosed", "claim_streams", "read_lines", "serve"]
