"""The permission tree of plugin.yaml: every leaf with its default, the rules it must keep, and what it adds up to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cmsmcp.site.config.reader import ConfigReader
from cmsmcp.site.manifest import flag
from cmsmcp.site.model import WARNING
from cmsmcp.site.yaml.loader import Mapping as YamlMapping

_READ_WRITE = {"read": False, "write": False}
_STORES = {"content": False, "data": False, "public": False, "cache": False, "backups": False, "custom": []}
TREE: Mapping[str, Any] = {
    "filesystem": {
        "read": {"content": False, "data": False, "public": False, "themes": False, "plugins": False, "config": False, "custom": []},
        "write": _STORES,
        "delete": _STORES,
    },
    "network": {
        "outbound": {
            "http": False, "https": False, "websocket": False, "grpc": False, "custom_schemes": [], "domains": [], "methods": ["GET"],
        },
        "inbound": {"register_routes": False, "admin_routes": False, "public_routes": False, "bind_external_services": False},
    },
    "process": {"exec": {"allowed": False, "commands": []}, "shell": {"allowed": False}, "spawn_background": {"allowed": False}},
    "environment": {"read": {"allowed": False, "variables": []}},
    "config": {
        "read": {"site": False, "plugin_config": False, "theme_manifest": False, "raw_files": False},
        "write": {"site": False, "plugin_config": False, "theme_manifest": False},
    },
    "content": {
        "documents": {"read": False, "write": False, "delete": False, "workflow": False, "versions": False},
        "media": {"read": False, "write": False, "delete": False, "metadata": False, "versions": False},
        "taxonomies": _READ_WRITE,
        "shared_fields": _READ_WRITE,
    },
    "render": {
        "context": _READ_WRITE,
        "html_slots": {"inject": False},
        "assets": {"inject_css": False, "inject_js": False, "inject_remote_assets": False},
        "after_render": {"mutate_html": False},
    },
    "graph": {
        "read": False, "mutate": False, "routes": {"inspect": False, "mutate": False}, "taxonomies": {"inspect": False, "mutate": False},
    },
    "admin": {
        "extensions": {"pages": False, "widgets": False, "settings_sections": False, "slots": False},
        "users": {"read": False, "write": False, "revoke_sessions": False, "reset_passwords": False},
        "audit": {"read": False},
        "diagnostics": {"read": False, "validate": False},
        "operations": {"rebuild": False, "clear_cache": False, "backups": False, "updates": False},
    },
    "runtime": {"server": {"on_started": False, "register_routes": False}, "metrics": {"read": False}, "logs": {"read": False}},
    "secrets": {
        "access": {
            "admin_tokens": False, "session_store": False, "password_hashes": False, "totp_secrets": False, "env_secrets": False,
            "deploy_keys": False, "update_credentials": False,
        },
    },
    "capabilities": {"dangerous": False, "requires_admin_approval": False},
}
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_OUTBOUND = tuple(f"network.outbound.{leaf}" for leaf in ("http", "https", "websocket", "grpc"))
_ROUTES = tuple(f"network.inbound.{leaf}" for leaf in ("register_routes", "admin_routes", "public_routes"))
_PROCESS = ("process.exec.allowed", "process.shell.allowed", "process.spawn_background.allowed")
_SECRETS = tuple(f"secrets.access.{leaf}" for leaf in TREE["secrets"]["access"])
_WRITES = tuple(f"filesystem.{verb}.{leaf}" for verb in ("write", "delete") for leaf in _STORES if leaf != "custom")
HIGH = (
    "capabilities.dangerous", "capabilities.requires_admin_approval", *_PROCESS, *_SECRETS, "admin.operations.updates",
    "admin.users.write", "admin.users.reset_passwords", "admin.users.revoke_sessions",
)
MEDIUM = (
    *_OUTBOUND, *_ROUTES, *_WRITES, "content.documents.write", "content.documents.delete", "content.documents.workflow",
    "content.media.write", "content.media.delete", "content.media.metadata",
    "config.write.site", "config.write.plugin_config", "config.write.theme_manifest",
    "admin.operations.backups", "admin.operations.rebuild", "admin.operations.clear_cache",
)
_SUMMARY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("reads files", tuple(f"filesystem.read.{leaf}" for leaf in TREE["filesystem"]["read"])),
    ("writes or deletes files", (*_WRITES, "filesystem.write.custom", "filesystem.delete.custom")),
    ("makes network requests", (*_OUTBOUND, "network.outbound.custom_schemes")),
    ("opens routes or ports", (*_ROUTES, "network.inbound.bind_external_services", "runtime.server.register_routes")),
    ("runs programs", _PROCESS),
    ("reads environment variables", ("environment.read.allowed",)),
    ("reads configuration", tuple(f"config.read.{leaf}" for leaf in TREE["config"]["read"])),
    ("changes configuration", tuple(f"config.write.{leaf}" for leaf in TREE["config"]["write"])),
    ("reads documents", ("content.documents.read", "content.documents.versions")),
    ("changes documents", ("content.documents.write", "content.documents.delete", "content.documents.workflow")),
    ("reads media", ("content.media.read", "content.media.versions")),
    ("changes media", ("content.media.write", "content.media.delete", "content.media.metadata")),
    ("changes taxonomies or shared fields", ("content.taxonomies.write", "content.shared_fields.write")),
    ("changes what pages are rendered from", ("render.context.write",)),
    ("puts HTML into pages", ("render.html_slots.inject", "render.after_render.mutate_html")),
    ("adds assets to pages", tuple(f"render.assets.{leaf}" for leaf in TREE["render"]["assets"])),
    ("sees the site graph", ("graph.read", "graph.routes.inspect", "graph.taxonomies.inspect")),
    ("changes the site graph", ("graph.mutate", "graph.routes.mutate", "graph.taxonomies.mutate")),
    ("extends the admin", tuple(f"admin.extensions.{leaf}" for leaf in TREE["admin"]["extensions"])),
    ("manages admin users", tuple(f"admin.users.{leaf}" for leaf in TREE["admin"]["users"])),
    ("reads audit, metrics or logs", ("admin.audit.read", "runtime.metrics.read", "runtime.logs.read", "admin.diagnostics.read")),
    ("runs admin operations", tuple(f"admin.operations.{leaf}" for leaf in TREE["admin"]["operations"])),
    ("reaches secrets", _SECRETS),
    ("is marked dangerous", ("capabilities.dangerous",)),
    ("asks for an admin's approval", ("capabilities.requires_admin_approval",)),
)


def read_permissions(read: ConfigReader) -> dict[str, Any]:
    """The whole tree, every leaf present. A key that is no permission is a warning: it grants nothing."""
    return _branch(read, "permissions", TREE)


def _branch(read: ConfigReader, path: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    node = read.node(path)
    if isinstance(node, YamlMapping):
        for key, value in node.entries.items():
            if key not in spec:
                read.fault(value, f"`{path}.{key}` is no permission and grants nothing; check its spelling", WARNING)
    elif node is not None:
        read.map(path)  # says what was found there instead
    return {key: _leaf(read, f"{path}.{key}", default) for key, default in spec.items()}


def _leaf(read: ConfigReader, path: str, default: Any) -> Any:
    if isinstance(default, dict):
        return _branch(read, path, default)
    if isinstance(default, bool):
        return flag(read, path)
    items = {item.strip() for item in read.texts(path, ())}
    if path.endswith(".methods"):
        items = {item.upper() for item in items}
    return sorted(items) or list(default)


def granted(permissions: Mapping[str, Any], leaf: str) -> bool:
    """Whether the leaf at a dotted path is true, or a list with something in it."""
    value: Any = permissions
    for part in leaf.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return bool(value) and not isinstance(value, Mapping)


def any_granted(permissions: Mapping[str, Any], leaves: tuple[str, ...]) -> bool:
    return any(granted(permissions, leaf) for leaf in leaves)


def broken_rules(permissions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(dotted path below `permissions`, what must change) for each rule the declaration breaks."""
    unknown = sorted(set(permissions["network"]["outbound"]["methods"]) - METHODS)
    if unknown:
        yield "network.outbound.methods", f"holds {', '.join(unknown)}; methods are {', '.join(sorted(METHODS))}"
    if permissions["process"]["exec"]["commands"] and not permissions["process"]["exec"]["allowed"]:
        yield "process.exec.allowed", "must be true, since commands are listed"
    if permissions["environment"]["read"]["variables"] and not permissions["environment"]["read"]["allowed"]:
        yield "environment.read.allowed", "must be true, since variables are listed"
    risky = ("capabilities.dangerous", *_PROCESS, *_SECRETS)
    if any_granted(permissions, risky) and not permissions["capabilities"]["requires_admin_approval"]:
        first = next(leaf for leaf in risky if granted(permissions, leaf))
        yield "capabilities.requires_admin_approval", f"must be true, since {first} is granted"


def risk_tier(permissions: Mapping[str, Any]) -> str:
    if any_granted(permissions, HIGH):
        return "high"
    return "medium" if any_granted(permissions, MEDIUM) else "low"


def summary(permissions: Mapping[str, Any]) -> list[str]:
    """What the plugin may do, in a few words each; one line says so when it may do nothing of note."""
    return [words for words, leaves in _SUMMARY if any_granted(permissions, leaves)] or ["nothing beyond running"]
