"""For `gunicorn wsgi:app` in a site's folder. `cmsmcp serve` uses the same values and also runs the indexer and a private Redis."""

from cmsmcp.processes.gunicorn_conf import *  # noqa: F403

bind = "127.0.0.1:8080"
workers = 2
