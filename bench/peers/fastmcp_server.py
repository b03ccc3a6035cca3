"""FastMCP: stateless, JSON replies, no governance. `python fastmcp_server.py PORT WORKERS`."""

import sys

import uvicorn
from fastmcp import FastMCP
from tools import TOOLS

server = FastMCP("fastmcp")

for tool in TOOLS:
    server.tool(tool)

app = server.http_app(stateless_http=True, json_response=True)

if __name__ == "__main__":
    uvicorn.run("fastmcp_server:app", host="127.0.0.1", port=int(sys.argv[1]), workers=int(sys.argv[2]), log_level="error")
