"""The official Python SDK: stateless, JSON replies, no governance. `python sdk_server.py PORT WORKERS`."""

import sys

import uvicorn
from mcp.server.mcpserver import MCPServer
from tools import TOOLS

server = MCPServer(name="sdk")

for tool in TOOLS:
    server.tool()(tool)

app = server.streamable_http_app(stateless_http=True, json_response=True)

if __name__ == "__main__":
    uvicorn.run("sdk_server:app", host="127.0.0.1", port=int(sys.argv[1]), workers=int(sys.argv[2]), log_level="error")
