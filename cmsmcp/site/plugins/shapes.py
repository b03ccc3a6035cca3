"""The exact result of a plugin record, as it goes out. Plain data: no reading, no rules.

Keys stand in the order they are written in. Every path is relative to the site folder. `line` counts from 1, None where
a fault has no line. Severity is "error" or "warning".
"""

from __future__ import annotations

from typing import Any, TypedDict

from cmsmcp.site.manifest import Diagnostic, FieldDefinition


class Dependency(TypedDict):
    """`name` is a repository, `github.com/<owner>/<name>`; an enabled plugin must declare it unless `optional`."""

    name: str
    version: str
    optional: bool


class Sandbox(TypedDict):
    profile: str
    allow_network: bool
    allow_filesystem_write: bool
    allow_process_exec: bool


class Runtime(TypedDict):
    """`mode` is "in_process" or "rpc"; `env` maps a variable's name to its value, both text."""

    mode: str
    protocol_version: str
    command: list[str]
    socket: str
    env: dict[str, str]
    sandbox: Sandbox


class Finding(TypedDict):
    """Something the plugin's Go code does. `category` names the permission it needs (`network.outbound`, say).

    `evidence_type` is "direct" for a call on the import, "heuristic" for a name or a string alone.
    """

    category: str
    evidence: str
    evidence_type: str
    path: str
    line: int
    message: str


class PluginRecord(TypedDict):
    """One plugin folder, or one name in `plugins.enabled` without a folder.

    `name` is the folder. `status` is the first of these that applies: "not installed", "metadata missing", "metadata error",
    "api missing", "api unsupported", "version missing", "metadata invalid", "code missing", "invalid", "security mismatch",
    else "enabled" or "installed". `health` is "enabled", "degraded" (enabled, with an error), "installed" or "invalid"
    (not enabled, with an error), or "blocked" (by the managed policy). `review_status` is "self-managed", "approved" or "blocked".

    `permissions` is the whole tree (`permissions.TREE`), every leaf present: booleans, or lists of strings.
    `admin` is `{"pages","widgets","slots","settings_sections"}`, lists of plain objects as declared.
    `settings` is the manifest's own `settings:` block, empty if there is none. `risk_tier` is "low", "medium" or "high".
    """

    name: str
    title: str
    version: str
    description: str
    author: str
    homepage: str
    license: str
    repo: str
    requires: list[str]
    dependencies: list[Dependency]
    foundry_api: str
    min_foundry_version: str
    compatibility_version: str
    enabled: bool
    installed: bool
    status: str
    health: str
    can_rollback: bool
    review_status: str
    permissions: dict[str, Any]
    permission_summary: list[str]
    risk_tier: str
    requires_approval: bool
    runtime: Runtime
    config_schema: list[FieldDefinition]
    settings: dict[str, Any]
    screenshots: list[str]
    admin: dict[str, list[dict[str, Any]]]
    security_findings: list[Finding]
    security_mismatches: list[Diagnostic]
    diagnostics: list[Diagnostic]
