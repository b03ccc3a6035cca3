"""plugin.yaml with its defaults filled in, and the rules it must keep by itself. Other plugins and code are elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cmsmcp.site.config.reader import ConfigReader
from cmsmcp.site.manifest import Diagnostic, FieldDefinition, Manifest, diagnostic, field_definitions, flag, rows, words
from cmsmcp.site.model import ERROR, WARNING
from cmsmcp.site.paths import composed
from cmsmcp.site.plugins.permissions import broken_rules, read_permissions
from cmsmcp.site.plugins.shapes import Dependency, Runtime
from cmsmcp.site.yaml.loader import core_value, text

FILE = "plugin.yaml"
API = "v1"
PROTOCOL = "v1alpha1"
NAV_GROUPS = ("dashboard", "content", "manage", "admin")
MODES = ("in_process", "rpc")
PROFILES = ("default", "strict")
_SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^@/\s]+@)?", re.IGNORECASE)
_PAGE = ("key", "title", "route", "nav_group", "capability", "description", "module")
_WIDGET = ("key", "title", "slot", "capability", "description", "module")


@dataclass(frozen=True, slots=True)
class PluginManifest:
    """The declared part of a record, with defaults. `texts` are its plain text keys."""

    name: str
    texts: dict[str, str]
    requires: list[str]
    dependencies: list[Dependency]
    permissions: dict[str, Any]
    runtime: Runtime
    config_schema: list[FieldDefinition]
    settings: dict[str, Any]
    screenshots: list[str]
    admin: dict[str, list[dict[str, Any]]]


def plugin_manifest(opened: Manifest, folder_name: str) -> PluginManifest:
    read = opened.reader
    name = composed(words(read, "name", folder_name))
    keys = ("description", "author", "homepage", "license", "foundry_api", "min_foundry_version", "compatibility_version")
    texts = {key: words(read, key) for key in keys}
    texts |= {"title": words(read, "title", name), "version": words(read, "version", "0.0.0"), "repo": repository(words(read, "repo"))}
    return PluginManifest(
        name=name,
        texts=texts,
        requires=list(dict.fromkeys(repository(item) for item in read.texts("requires", ()))),
        dependencies=[
            {"name": repository(words(row, "name")), "version": words(row, "version"), "optional": flag(row, "optional")}
            for row in rows(read, "dependencies")
        ],
        permissions=read_permissions(read),
        runtime=_runtime(read),
        config_schema=field_definitions(read, "config_schema"),
        settings={key: core_value(node) for key, node in read.map("settings").items()},
        screenshots=[item.strip() for item in read.texts("screenshots", ())],
        admin={
            "pages": [_extension(row, _PAGE) for row in rows(read, "admin.pages")],
            "widgets": [_extension(row, _WIDGET) for row in rows(read, "admin.widgets")],
            "slots": [{"name": words(row, "name"), "description": words(row, "description")} for row in rows(read, "admin.slots")],
            "settings_sections": [_section(row) for row in rows(read, "admin.settings_sections")],
        },
    )


def repository(written: str) -> str:
    """`host/owner/name` of any spelling of a repository: a URL, `git@host:owner/name.git`, or `owner/name` on GitHub."""
    bare = _SCHEME.sub("", written.strip()).replace(":", "/", 1).strip("/").removesuffix(".git")
    return f"github.com/{bare}" if bare.count("/") == 1 and "." not in bare.split("/")[0] else bare


def check_manifest(opened: Manifest, manifest: PluginManifest, folder_name: str) -> Iterator[tuple[str, Diagnostic]]:
    """(status the fault leads to, the fault) for each rule the manifest breaks, the gravest kinds first."""
    for status, key, message in _faults(manifest, folder_name):
        yield status, diagnostic(ERROR, opened.path, opened.line(key), message)


def check_courtesy(opened: Manifest, manifest: PluginManifest) -> Iterator[Diagnostic]:
    """What a manifest should have and works without."""
    for key, present in (
        ("compatibility_version", bool(manifest.texts["compatibility_version"])),
        ("config_schema", bool(manifest.config_schema)),
        ("screenshots", bool(manifest.screenshots)),
    ):
        if not present:
            yield diagnostic(WARNING, opened.path, opened.line(key), f"{key} is not declared")


def _faults(manifest: PluginManifest, folder_name: str) -> Iterator[tuple[str, str, str]]:
    api = manifest.texts["foundry_api"]
    if not api:
        yield "api missing", "foundry_api", f"foundry_api is missing; add foundry_api: {API}"
    elif api != API:
        yield "api unsupported", "foundry_api", f"foundry_api {api!r} is not supported; it must be {API}"
    if not manifest.texts["min_foundry_version"]:
        yield "version missing", "min_foundry_version", "min_foundry_version is missing"
    for key, message in _invalid(manifest, folder_name):
        yield "metadata invalid", key, message
    if manifest.runtime["mode"] == "rpc":
        for key, message in _rpc_faults(manifest.runtime):
            yield "invalid", key, message


def _invalid(manifest: PluginManifest, folder_name: str) -> Iterator[tuple[str, str]]:
    if manifest.name != folder_name:
        yield "name", f"the name {manifest.name!r} must be that of the folder, {folder_name!r}"
    repo = manifest.texts["repo"]
    if repo and not _is_repository(repo):
        yield "repo", f"repo {repo!r} must name a repository as host/owner/name"
    for required in manifest.requires:
        if not _is_repository(required):
            yield "requires", f"requires holds {required!r}; name repositories as host/owner/name"
    for dependency in manifest.dependencies:
        if not _is_repository(dependency["name"]):
            yield "dependencies", f"the dependency {dependency['name']!r} must name a repository as host/owner/name"
    for page in manifest.admin["pages"]:
        if page["nav_group"] and page["nav_group"] not in NAV_GROUPS:
            yield "admin.pages", f"the page {page['key']!r} is in nav_group {page['nav_group']!r}; groups are {', '.join(NAV_GROUPS)}"
    for path, message in broken_rules(manifest.permissions):
        yield f"permissions.{path}", f"permissions.{path} {message}"
    runtime = manifest.runtime
    if runtime["mode"] not in MODES:
        yield "runtime.mode", f"runtime.mode {runtime['mode']!r} is unknown; modes are {', '.join(MODES)}"
    if runtime["sandbox"]["profile"] not in PROFILES:
        yield "runtime.sandbox.profile", f"the sandbox profile {runtime['sandbox']['profile']!r} is unknown; write {' or '.join(PROFILES)}"


def _rpc_faults(runtime: Runtime) -> Iterator[tuple[str, str]]:
    if not runtime["command"]:
        yield "runtime.command", "runtime.mode rpc needs a runtime.command"
    sandbox = runtime["sandbox"]
    for key, allowed in (
        ("allow_network", sandbox["allow_network"]),
        ("allow_filesystem_write", sandbox["allow_filesystem_write"]),
        ("allow_process_exec", sandbox["allow_process_exec"]),
    ):
        if allowed:
            yield f"runtime.sandbox.{key}", f"runtime.sandbox.{key} cannot be granted to an rpc plugin; set it to false"


def _runtime(read: ConfigReader) -> Runtime:
    env = {key.strip(): read.convert(text, node, f"runtime.env.{key}", "").strip() for key, node in read.map("runtime.env").items()}
    return {
        "mode": words(read, "runtime.mode", MODES[0]).lower(),
        "protocol_version": words(read, "runtime.protocol_version", PROTOCOL),
        "command": [item.strip() for item in read.texts("runtime.command", ())],
        "socket": words(read, "runtime.socket"),
        "env": env,
        "sandbox": {
            "profile": words(read, "runtime.sandbox.profile", PROFILES[0]).lower(),
            "allow_network": flag(read, "runtime.sandbox.allow_network"),
            "allow_filesystem_write": flag(read, "runtime.sandbox.allow_filesystem_write"),
            "allow_process_exec": flag(read, "runtime.sandbox.allow_process_exec"),
        },
    }


def _extension(read: ConfigReader, keys: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {key: words(read, key) for key in keys}
    if "nav_group" in found:
        found["nav_group"] = found["nav_group"].lower()
    return found | {"styles": [item.strip() for item in read.texts("styles", ())]}


def _section(read: ConfigReader) -> dict[str, Any]:
    found: dict[str, Any] = {key: words(read, key) for key in ("key", "title", "capability", "description")}
    return found | {"schema": field_definitions(read, "schema")}


def _is_repository(name: str) -> bool:
    parts = name.split("/")
    return len(parts) >= 3 and all(parts[:3]) and name.isprintable() and " " not in name
