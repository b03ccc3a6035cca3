"""cmsmcp: a governed MCP server for file-based CMS sites."""

__version__ = "0.1.0"
