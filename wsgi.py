"""For any WSGI server: `CMSMCP_SITE=/path/to/site gunicorn -c config/gunicorn.conf.py wsgi:app` (docs/operations.md)."""

from cmsmcp.app import from_environment

app = from_environment()
