"""The rules Foundry's own validation has for site.yaml (docs/rules.md, Configuration), all of them reported, none fatal."""

from __future__ import annotations

import posixpath
import re
from difflib import get_close_matches

from cmsmcp.site.config.reader import ConfigReader, is_component
from cmsmcp.site.model import WARNING, Diagnostic
from cmsmcp.site.yaml.loader import Scalar, is_null

# Folders and themes are not here: reading them as such refuses a blank.
_REQUIRED = (
    "default_lang", "environment", "backup.dir", "content.default_layout_page", "content.default_layout_post",
    "server.addr", "server.live_reload_mode",
    "feed.rss_path", "feed.sitemap_path", "admin.users_file", "admin.session_store_file", "admin.lock_file", "admin.totp_issuer",
)
# The least value that works. 0 is left out where Foundry takes it for "use the default".
_FLOORS = {
    "content.max_versions_per_file": 1, "backup.debounce_seconds": 1, "backup.retention_count": 0, "backup.min_free_mb": 0,
    "backup.headroom_percent": 100, "admin.session_ttl_minutes": 1, "admin.session_idle_timeout_minutes": 0,
    "admin.session_max_age_minutes": 0, "admin.password_min_length": 8, "admin.password_reset_ttl_minutes": 1, "feed.rss_limit": 1,
}
_SEGMENT = re.compile(r"[a-zA-Z0-9._-]+\Z")
_RELOAD_MODES = ("stream", "poll")
OUR_BLOCKS = ("mcp", "api", "governance", "ops", "locales")
_FOUNDRY_BLOCKS = frozenset(
    {"admin", "backup", "build", "cache", "content", "deploy", "feed", "fields", "foundry", "menus", "params", "permalinks", "plugins",
     "security", "seo", "server", "taxonomies"}
)  # fmt: skip


def check_config(read: ConfigReader) -> None:
    """Add a diagnostic to `read.faults` for every rule that is broken."""
    for path in _REQUIRED:
        node = read.node(path)
        if isinstance(node, Scalar) and node.text and not node.text.strip():
            read.fault(node, f"`{path}` must not be blank")
    for path, floor in _FLOORS.items():
        value, node = read.integer(path), read.node(path)
        if value is not None and node is not None and value < floor and value != 0:
            read.fault(node, f"`{path}` is {value}; {floor} is the least")
    _check_blocks(read)
    _check_feeds(read)
    _check_admin(read)
    _check_targets(read)
    _check_mode(read, "server.live_reload_mode")
    node = read.node("default_lang")
    if isinstance(node, Scalar) and "/" in node.text:
        read.fault(node, "`default_lang` must not contain a slash")
    remote, branch = read.text("backup.git_remote_url", ""), read.node("backup.git_branch")
    if remote and isinstance(branch, Scalar) and branch.text and not branch.text.strip():
        read.fault(branch, "`backup.git_branch` must not be blank when `backup.git_remote_url` is set")


def _check_blocks(read: ConfigReader) -> None:
    """Unknown keys are left alone, but what is nearly the name of a block of ours was meant to be one. Without any `mcp` nothing is served,
    which is told with its own question."""
    ours = [block for block in OUR_BLOCKS if block != "mcp" or block in read.tree.entries]
    for name, node in read.tree.entries.items():
        if name not in OUR_BLOCKS and name not in _FOUNDRY_BLOCKS and not (isinstance(node, Scalar) and not is_null(node)):
            near = get_close_matches(name.lower(), ours, n=1, cutoff=0.6 if len(name) < 5 else 0.75)
            if near:
                message = f'the key "{name[:60]}" is unknown. Did you mean "{near[0]}"?'
                read.faults.append(Diagnostic(WARNING, "config", node.file, message, read.tree.key_lines.get(name, node.line)))


def _check_feeds(read: ConfigReader) -> None:
    paths = ("feed.rss_path", "feed.sitemap_path")
    values = [read.text("feed.rss_path", "/rss.xml"), read.text("feed.sitemap_path", "/sitemap.xml")]
    for path, value in zip(paths, values, strict=True):
        node = read.node(path)
        if node is not None and value.strip() and not value.startswith("/"):
            read.fault(node, f"`{path}` must start with a slash")
    node = read.node(paths[1]) or read.node(paths[0])
    if values[0] == values[1] and node is not None:
        read.fault(node, "`feed.rss_path` and `feed.sitemap_path` must differ")


def _check_mode(read: ConfigReader, path: str) -> None:
    node = read.node(path)
    if isinstance(node, Scalar) and node.text.strip() and node.text.strip().lower() not in _RELOAD_MODES:
        read.fault(node, f"`{read.prefix}{path}` must be stream or poll")


def _check_admin(read: ConfigReader) -> None:
    read.component("admin.theme", "default")
    node = read.node("admin.path")
    if not isinstance(node, Scalar) or not node.text.strip():
        return
    path = "/" + node.text.strip().replace("\\", "/").lstrip("/")
    if path == "/":
        read.fault(node, "`admin.path` must not be the root")
    elif posixpath.normpath(path) != path.rstrip("/"):
        read.fault(node, "`admin.path` must be a plain path, without `.`, `..` or doubled slashes")
    elif not all(_SEGMENT.match(part) for part in path.strip("/").split("/")):
        read.fault(node, "`admin.path` may hold letters, digits, `.`, `_` and `-` between its slashes")


def _check_targets(read: ConfigReader) -> None:
    for name, node in read.map("deploy.targets").items():
        if not is_component(name):
            read.fault(node, "a name in `deploy.targets` must be a single folder name")
            continue
        target = read.below(node, f"deploy.targets.{name}.")
        target.component("theme", "default")
        _check_mode(target, "live_reload_mode")
        environment = target.node("environment")
        if isinstance(environment, Scalar) and "/" in environment.text:
            read.fault(environment, f"`deploy.targets.{name}.environment` must not contain a slash")
