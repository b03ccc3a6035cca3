"""For plain gunicorn: `CMSMCP_SITE=/path/to/site gunicorn -c config/gunicorn.conf.py wsgi:app` (docs/operations.md).

`cmsmcp serve` uses the same values, and runs a private Redis where there is no REDIS_URL.
"""

from cmsmcp.processes.gunicorn_conf import *  # noqa: F403

bind = "127.0.0.1:8080"
workers = 2
