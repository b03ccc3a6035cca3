"""The WSGI application: blueprints, probes, and JSON for whatever no blueprint answers. Knows Flask and no rule of any room."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from flask import Blueprint, Flask, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException, NotFound

from cmsmcp.bootstrap.http import open_doors
from cmsmcp.disk_faults import describe
from cmsmcp.settings import SettingsError, SiteChoice, read_environment

APP_LOAD_ERROR = 4
"""gunicorn's code for an application that cannot be loaded: it then stops instead of starting workers for ever."""


def from_folder(
    site: str = ".", *, env: str = "", overlays: Sequence[str] = (), bind: str = "", supervised: bool = False,
    named_by: str = "from_folder(DIR)",
) -> Flask:  # fmt: skip
    """The application that serves the site in a folder. `bind` is the address it listens on, whose host is then a known one. Unless it is
    `supervised` it has the sidecar run itself; with the hooks of `processes.gunicorn_conf` it says what it serves and what is missing.

    A faulty configuration ends the process with its faults on standard error, which name `named_by` as the way to name a site.
    """
    try:
        doors = open_doors(SiteChoice(Path(site), env, tuple(map(Path, overlays)), named_by), bind, supervised=supervised)
    except SettingsError as error:
        _stop(error)
    except OSError as error:
        _stop(SettingsError(describe(error) or str(error)))
    app = create_app(doors.blueprints, doors.missing)
    app.extensions["cmsmcp-tasks"] = doors.finish
    if doors.tell_start is not None:
        app.extensions["cmsmcp-start"] = doors.tell_start
    return app


def from_environment() -> Flask:
    """The application that serves the site named by `CMSMCP_SITE`, else the one in the current folder."""
    try:
        site = read_environment().site
    except SettingsError as error:
        _stop(error)
    return from_folder(str(site or Path()), named_by="CMSMCP_SITE=DIR")


def _stop(error: SettingsError) -> NoReturn:
    for line in error.lines:
        print(f"cmsmcp: {line}", file=sys.stderr)
    sys.exit(APP_LOAD_ERROR)


def create_app(blueprints: Sequence[Blueprint], missing: Callable[[], Mapping[str, str]]) -> Flask:
    """`missing` names what keeps the server from serving (`redis`, `index`, …), each with its reason or a blank; empty when it can."""
    app = Flask("cmsmcp", static_folder=None)
    app.url_map.merge_slashes = False  # `//mcp` is another path, not a redirect
    app.json.sort_keys = False  # type: ignore[attr-defined]
    for blueprint in blueprints:
        app.register_blueprint(blueprint)

    @app.get("/healthz")
    def healthz() -> ResponseReturnValue:
        """The process lives. Depends on nothing else, or a Redis outage would have healthy workers killed."""
        return jsonify(status="alive")

    @app.get("/readyz")
    def readyz() -> ResponseReturnValue:
        lacking = missing()
        if not lacking:
            return jsonify(status="ready", missing=[])
        return jsonify(status="waiting", missing=list(lacking), reasons={name: why for name, why in lacking.items() if why}), 503

    app.before_request(_one_spelling)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _crash)
    app.after_request(_harden)
    return app


def _one_spelling() -> None:
    """Werkzeug routes `//mcp` as `/mcp`; a proxy that guards paths may not, so it is another path here (C018)."""
    if request.environ.get("PATH_INFO", "").startswith("//"):
        raise NotFound


def _http_error(error: HTTPException) -> ResponseReturnValue:
    names = {404: "Not found", 405: "Method not allowed"}
    response = jsonify(error=names.get(error.code or 500, error.name))
    response.status_code = error.code or 500
    allowed = getattr(error, "valid_methods", None)
    if allowed:
        response.headers["Allow"] = ", ".join(sorted(allowed))
    return response


def _crash(error: Exception) -> ResponseReturnValue:
    from flask import current_app

    current_app.logger.error("a request failed", exc_info=error)
    return jsonify(error="Internal server error"), 500


def _harden(response: Any) -> Any:
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
