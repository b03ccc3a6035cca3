"""The managed policy of site.yaml, `foundry.managed`: which plugins a managed site may run. A plugin cannot approve itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.folder import Folder, Kept, scan
from cmsmcp.site.paths import PathFault, read_bounded
from cmsmcp.site.plugins.manifest import PluginManifest

_NO_ARTIFACT = frozenset({".git", ".rollback", "node_modules"})
MAX_FILE = 64 * 1024 * 1024
SELF_MANAGED, APPROVED, BLOCKED = "self-managed", "approved", "blocked"


@dataclass(frozen=True, slots=True)
class Policy:
    """`approved` holds (name, version, SHA-256 in lower case); an empty one approves nothing. Licences are lower case."""

    managed: bool
    approved: frozenset[tuple[str, str, str]] = frozenset()
    licenses: frozenset[str] = frozenset()
    strict: bool = False


def read_policy(values: Mapping[str, Any]) -> Policy:
    """Of the merged configuration. Anything that is not as it should be is taken at its strictest."""
    managed = _map(_map(values, "foundry"), "managed")
    if managed.get("enabled") not in (True, "true", "yes", "on"):
        return Policy(False)
    policy = _map(managed, "plugin_policy")
    approved = policy.get("approved")
    rows = [row for row in approved if isinstance(row, Mapping)] if isinstance(approved, list) else []
    licenses = policy.get("allowed_licenses")
    return Policy(
        True,
        frozenset((_text(row, "name"), _text(row, "version"), _text(row, "sha256").lower()) for row in rows),
        frozenset(str(item).strip().lower() for item in licenses) if isinstance(licenses, list) else frozenset(),
        policy.get("require_strict_sandbox") not in (None, False, "false", "no", "off"),
    )


def refusal(policy: Policy, manifest: PluginManifest, digest: str | None) -> str | None:
    """Why the managed policy blocks this plugin, or None. `digest` is None when the artifact could not be read."""
    runtime, license_ = manifest.runtime, manifest.texts["license"]
    if policy.strict and (runtime["mode"] != "rpc" or runtime["sandbox"]["profile"] != "strict"):
        return "the managed policy wants runtime.mode rpc with the strict sandbox"
    if policy.licenses and license_.lower() not in policy.licenses:
        return f"the managed policy does not allow the licence {license_!r}"
    version = manifest.texts["version"]
    digests = {approved for name, number, approved in policy.approved if (name, number) == (manifest.name, version)}
    if not digests:
        return f"the managed policy does not approve {manifest.name} {version}"
    if digest not in digests:
        return f"the files of {manifest.name} {version} are not those the managed policy approved"
    return None


def artifact_digest(root: Path, path: str, kept: Kept, deadline: Deadline) -> str | None:
    """Foundry's digest of the plugin at the site path `path`; None when some of its files cannot be read."""
    folder = scan(root, path, _NO_ARTIFACT, deadline)
    return kept.get("digest", folder, lambda: _digest(root, folder, deadline))


def _digest(root: Path, folder: Folder, deadline: Deadline) -> str | None:
    """SHA-256 over each regular file's path within the plugin, its bytes and line ends, in path order. Links are no part of it."""
    whole = hashlib.sha256()
    if folder.outside or folder.truncated:
        return None
    for path in folder.files:
        if (root / path).is_symlink():
            continue
        deadline.check()
        try:
            data = read_bounded(root, path, MAX_FILE)
        except PathFault:
            return None
        whole.update(path[len(folder.path) + 1 :].encode() + b"\n" + data + b"\n")
    return whole.hexdigest()


def _map(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key)
    return found if isinstance(found, Mapping) else {}


def _text(row: Mapping[str, Any], key: str) -> str:
    return str(row.get(key, "")).strip()
