"""What a bare `gunicorn wsgi:app` reads where it is started (docs/operations.md): the values of config/gunicorn.conf.py.

But for the address and the number of workers, which stay gunicorn's own: 127.0.0.1:8000, one; `PORT` and `WEB_CONCURRENCY` change them.
"""

from cmsmcp.processes.gunicorn_conf import *  # noqa: F403
