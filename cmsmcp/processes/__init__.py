"""The processes of one host: the supervisor of `cmsmcp serve`, and the private Redis. Knows command lines and signals; no MCP, no site."""
