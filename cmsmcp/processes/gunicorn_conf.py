"""How gunicorn runs our app: `cmsmcp serve` and `config/gunicorn.conf.py` share these values. Reasons beside each; nothing else here."""

from __future__ import annotations

worker_class = "gevent"  # a slow client or an open stream costs a greenlet, not a thread
worker_connections = 1_000
keepalive = 5
timeout = 60
graceful_timeout = 15  # a call may run 10 s (the default deadline); it ends by itself before this
backlog = 1_024

# The control socket is a second way in that nothing here needs.
control_socket_disable = True

# Headers: refuse what proxies and gunicorn could read differently; names with underscores would pass for ours in WSGI.
header_map = "drop"
forwarder_headers = ""
forwarded_allow_ips = ""
limit_request_line = 4_094
limit_request_fields = 64
limit_request_field_size = 16_384  # a token may have 8 KiB

# A request line holds no body, but it may hold a token that a client wrongly put there: no access log.
accesslog = None
errorlog = "-"
loglevel = "warning"
proc_name = "cmsmcp"
