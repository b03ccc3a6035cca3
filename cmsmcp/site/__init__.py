"""The CMS on disk: reads a site folder, never writes to it. Knows no MCP, no HTTP, no Redis."""
