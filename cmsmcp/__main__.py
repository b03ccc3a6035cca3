"""`python -m cmsmcp` is the command line."""

from cmsmcp.cli import main

main()
