"""The `Plugins` port: one record for each plugin folder and each enabled name. `shapes` has the exact result.

What one folder says by itself is kept until something in it changes; how it stands among the others is computed at each call.
Records are shared, so callers must not alter them. No plugin, however broken, makes the list fail.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import NotFound
from cmsmcp.site.folder import Folder, Kept, names_in, scan
from cmsmcp.site.manifest import MISSING, UNREADABLE, Diagnostic, Manifest, diagnostic, open_manifest, ordered
from cmsmcp.site.model import ERROR, SiteConfig
from cmsmcp.site.paths import composed
from cmsmcp.site.plugins import permissions as permission_tree
from cmsmcp.site.plugins.findings import SKIPPED, CodeReport, analyse
from cmsmcp.site.plugins.manifest import FILE, PluginManifest, check_courtesy, check_manifest, plugin_manifest
from cmsmcp.site.plugins.mismatches import mismatches
from cmsmcp.site.plugins.policy import APPROVED, BLOCKED, SELF_MANAGED, artifact_digest, read_policy, refusal
from cmsmcp.site.plugins.shapes import PluginRecord

ROLLBACK = ".rollback"
NOT_INSTALLED = "not installed"
MAX_NAMES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _Plugin:
    """What one folder says by itself. `status` is the first thing wrong with it, or None."""

    name: str
    manifest: PluginManifest
    code: CodeReport
    mismatches: tuple[Diagnostic, ...]
    diagnostics: tuple[Diagnostic, ...]
    status: str | None


class PluginReports:
    """Plugins of one configuration: folders of `plugins_dir`, without dot folders, and names in `plugins.enabled`."""

    def __init__(self, config: SiteConfig) -> None:
        self._config = config
        self._policy = read_policy(config.values)
        self._kept = Kept()

    def names(self) -> list[str]:
        return sorted({*self._folders(), *self._config.plugins_enabled})

    def records(self, deadline: Deadline) -> list[PluginRecord]:
        """Every plugin, sorted by name."""
        present = set(self._folders())
        return [self._record(name, present, deadline) for name in self.names()]

    def record(self, name: str, deadline: Deadline) -> PluginRecord:
        name, names = composed(name), self.names()
        if name not in names:
            shown = ", ".join(names[:MAX_NAMES_SHOWN]) + (", …" if len(names) > MAX_NAMES_SHOWN else "")
            raise NotFound("plugin", name, known=names, hint=f"Plugins: {shown}." if names else "The site has no plugins.")
        return self._record(name, set(self._folders()), deadline)

    def _folders(self) -> list[str]:
        return names_in(self._config.root, self._config.plugins_dir)

    def _record(self, name: str, present: set[str], deadline: Deadline) -> PluginRecord:
        plugin, folder = self._plugin(name, present, deadline)
        enabled = name in self._config.plugins_enabled
        diagnostics, status = list(plugin.diagnostics), plugin.status
        if enabled:
            unmet = list(self._unmet(plugin, present, deadline))
            diagnostics += [diagnostic(ERROR, f"{folder.path}/{FILE}", None, message) for message in unmet]
            status = status or ("invalid" if unmet else None)
        review, refused = self._review(plugin, folder, name in present, deadline)
        if refused:
            diagnostics.append(diagnostic(ERROR, self._config.files[0] if self._config.files else folder.path, None, refused))
        return self._shape(plugin, diagnostics, enabled, name in present, (status, review))

    def _plugin(self, name: str, present: set[str], deadline: Deadline) -> tuple[_Plugin, Folder]:
        path = f"{self._config.plugins_dir}/{name}"
        if name not in present:
            return _absent(name, path), Folder(path, (), (), False, b"")
        folder = scan(self._config.root, path, SKIPPED, deadline)
        return self._kept.get("plugin", folder, lambda: self._read(name, folder, deadline)), folder

    def _read(self, name: str, folder: Folder, deadline: Deadline) -> _Plugin:
        opened = open_manifest(self._config.root, folder, FILE)
        manifest = plugin_manifest(opened, name)
        code = analyse(self._config.root, folder, deadline)
        undeclared = tuple(mismatches(opened, manifest, code))
        faults = list(_faults(name, folder, opened, (manifest, code)))
        status = next((status for status, _ in faults if status), "security mismatch" if undeclared else None)
        said = opened.diagnostics() if opened.state not in (MISSING, UNREADABLE) else []
        courtesies = check_courtesy(opened, manifest) if opened.state not in (MISSING, UNREADABLE) else ()
        if not status and any(one["severity"] == ERROR for one in said):
            status = "metadata error"
        diagnostics = ordered([*said, *(fault for _, fault in faults), *courtesies, *code.faults])
        return _Plugin(name, manifest, code, tuple(ordered(undeclared)), tuple(diagnostics), status)

    def _unmet(self, plugin: _Plugin, present: set[str], deadline: Deadline) -> Iterable[str]:
        """Repositories the plugin needs and no enabled plugin declares."""
        wanted = [*plugin.manifest.requires, *(one["name"] for one in plugin.manifest.dependencies if not one["optional"])]
        if not wanted:
            return
        enabled = [self._plugin(name, present, deadline)[0] for name in self._config.plugins_enabled if name in present]
        declared = {other.manifest.texts["repo"] for other in enabled}
        for repository in dict.fromkeys(wanted):
            if repository not in declared:
                yield f"it needs {repository}, which no enabled plugin declares as its repo"

    def _review(self, plugin: _Plugin, folder: Folder, installed: bool, deadline: Deadline) -> tuple[str, str | None]:
        if not self._policy.managed:
            return SELF_MANAGED, None
        if not installed or plugin.status:
            return BLOCKED, "the managed policy runs no plugin that has faults" if installed else None
        digest = artifact_digest(self._config.root, folder.path, self._kept, deadline)
        refused = refusal(self._policy, plugin.manifest, digest)
        return (BLOCKED, refused) if refused else (APPROVED, None)

    def _shape(
        self, plugin: _Plugin, diagnostics: list[Diagnostic], enabled: bool, installed: bool, standing: tuple[str | None, str],
    ) -> PluginRecord:
        manifest, (status, review) = plugin.manifest, standing
        texts, tree = manifest.texts, manifest.permissions
        faulty = bool(plugin.mismatches) or any(one["severity"] == ERROR for one in diagnostics)
        raised = bool(plugin.mismatches) or manifest.runtime["mode"] == "rpc"
        tier = permission_tree.risk_tier(tree)
        health = ("degraded" if enabled else "invalid") if faulty else ("enabled" if enabled else "installed")
        return {
            "name": plugin.name,
            "title": texts["title"],
            "version": texts["version"],
            "description": texts["description"],
            "author": texts["author"],
            "homepage": texts["homepage"],
            "license": texts["license"],
            "repo": texts["repo"],
            "requires": manifest.requires,
            "dependencies": manifest.dependencies,
            "foundry_api": texts["foundry_api"],
            "min_foundry_version": texts["min_foundry_version"],
            "compatibility_version": texts["compatibility_version"],
            "enabled": enabled,
            "installed": installed,
            "status": status or ("enabled" if enabled else "installed"),
            "health": BLOCKED if review == BLOCKED else health,
            "can_rollback": bool(self._rollbacks(plugin.name)),
            "review_status": review,
            "permissions": tree,
            "permission_summary": permission_tree.summary(tree),
            "risk_tier": "medium" if tier == "low" and raised else tier,
            "requires_approval": raised or tree["capabilities"]["requires_admin_approval"],
            "runtime": manifest.runtime,
            "config_schema": manifest.config_schema,
            "settings": manifest.settings,
            "screenshots": manifest.screenshots,
            "admin": manifest.admin,
            "security_findings": list(plugin.code.findings),
            "security_mismatches": list(plugin.mismatches),
            "diagnostics": ordered(diagnostics),
        }

    def _rollbacks(self, name: str) -> list[str]:
        return names_in(self._config.root, f"{self._config.plugins_dir}/{ROLLBACK}/{name}")


def _absent(name: str, path: str) -> _Plugin:
    opened = Manifest.empty(f"{path}/{FILE}")
    fault = diagnostic(ERROR, path, None, "the plugin is enabled but has no folder; install it, or take it out of plugins.enabled")
    return _Plugin(name, plugin_manifest(opened, name), CodeReport((), (), False), (), (fault,), NOT_INSTALLED)


def _faults(
    name: str, folder: Folder, opened: Manifest, parts: tuple[PluginManifest, CodeReport],
) -> Iterable[tuple[str | None, Diagnostic]]:
    """(status it leads to, fault), in the order in which statuses take precedence."""
    manifest, code = parts
    if opened.state == MISSING:
        yield from (("metadata missing", fault) for fault in opened.opening)
    elif opened.state == UNREADABLE:
        yield from (("metadata error", fault) for fault in opened.opening)
    else:
        yield from check_manifest(opened, manifest, name)
        if not code.has_code and manifest.runtime["mode"] != "rpc":
            yield "code missing", diagnostic(ERROR, folder.path, None, "the plugin has no .go file")
    if not folder.outside:
        for path in folder.escapes:
            yield "invalid", diagnostic(ERROR, path, None, "this link leaves the site folder; put the file itself here")
