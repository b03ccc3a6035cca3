"""Plugin records: status, health, shape, and that no plugin fails the list (docs/rules.md, Plugins; F22, F23; C036, C039)."""

from __future__ import annotations

import hashlib
import json

import pytest

from cmsmcp.protocol.errors import NotFound
from cmsmcp.site.plugins.shapes import PluginRecord


def test_a_right_plugin(site) -> None:
    found = site.record("right")
    assert list(found) == list(PluginRecord.__annotations__)
    assert (found["status"], found["health"], found["enabled"], found["installed"]) == ("enabled", "enabled", True, True)
    assert (found["risk_tier"], found["requires_approval"], found["review_status"]) == ("low", False, "self-managed")
    assert found["repo"] == "github.com/acme/right"
    assert found["diagnostics"] == found["security_findings"] == found["security_mismatches"] == []
    json.dumps(found)


@pytest.mark.parametrize(("change", "status", "said"), [
    (("foundry_api: v1\n", ""), "api missing", "foundry_api is missing"),
    (("foundry_api: v1", "foundry_api: v2"), "api unsupported", "'v2' is not supported"),
    (("min_foundry_version: 1.0.0\n", ""), "version missing", "min_foundry_version is missing"),
    (("name: bent", "name: other"), "metadata invalid", "must be that of the folder"),
    (("repo: https://github.com/acme/bent.git", "repo: bent"), "metadata invalid", "host/owner/name"),
    (("screenshots: [a.png]", "requires: [nobody]"), "metadata invalid", "requires holds 'nobody'"),
    (("screenshots: [a.png]", "admin: {pages: [{key: a, nav_group: attic}]}"), "metadata invalid", "nav_group 'attic'"),
    (("screenshots: [a.png]", "runtime: {mode: remote}"), "metadata invalid", "runtime.mode 'remote'"),
    (("screenshots: [a.png]", "runtime: {mode: rpc}"), "invalid", "needs a runtime.command"),
    (("screenshots: [a.png]", "runtime: {mode: rpc, command: [x], sandbox: {allow_network: true}}"), "invalid", "allow_network"),
    (("screenshots: [a.png]", "permissions: {process: {exec: {commands: [ls]}}}"), "metadata invalid", "exec.allowed must be true"),
    (("screenshots: [a.png]", "permissions: {environment: {read: {variables: [A]}}}"), "metadata invalid", "read.allowed must be true"),
    (("screenshots: [a.png]", "permissions: {secrets: {access: {admin_tokens: true}}}"), "metadata invalid", "admin_tokens is granted"),
    (("screenshots: [a.png]", "permissions: {network: {outbound: {methods: [BREW]}}}"), "metadata invalid", "holds BREW"),
    (("screenshots: [a.png]", "permissions: {graph: {read: perhaps}}"), "metadata error", "true or false"),
    (("name: bent", "name: [open"), "metadata error", "not closed"),
])
def test_status_of_a_manifest_that_breaks_a_rule(site, change: tuple[str, str], status: str, said: str) -> None:
    """docs/rules.md, Plugins: status and health, for a plugin that is enabled and for one that is not."""
    site.plugin("bent", change=change)
    found = site.record("bent")
    assert (found["status"], found["health"]) == (status, "invalid")
    assert [said in message for _, _, message in site.errors("bent")] == [True]
    site.enable("bent")
    assert (site.record("bent")["status"], site.record("bent")["health"]) == (status, "degraded")


def test_folders_that_are_no_plugins_yet(site) -> None:
    """docs/rules.md, Odd places: no plugin.yaml, no code, no folder; dot folders are ignored."""
    site.write("plugins/empty/README.md", "x")
    site.write("plugins/codeless/plugin.yaml", "name: codeless\nfoundry_api: v1\nmin_foundry_version: 1.0.0\n")
    site.write("plugins/codeless/plugin_test.go", "package codeless")
    site.write("plugins/.rollback/right/20260101/plugin.yaml", "name: right")
    site.write("plugins/notes.txt", "x")
    site.enable("right", "absent")
    found = site.records()
    assert {name: one["status"] for name, one in found.items()} == {
        "absent": "not installed", "codeless": "code missing", "empty": "metadata missing", "right": "enabled",
    }
    assert not found["absent"]["installed"] and found["absent"]["health"] == "degraded"
    assert found["right"]["can_rollback"] and not found["empty"]["can_rollback"]


@pytest.mark.parametrize("source", [
    b"- a\n- b\n", b"just text", b"? [a, b]\n: complex", b"name: Caf\xe9", b"name: N\x00L", b"a: 1\na: 2", b"name: T\n\ttags: [x]",
    b"x: !!python/object/apply:os.getcwd []", b"x: " + b"[" * 3000, b"permissions: [a]", b"config_schema: {a: b}", b"requires: solo",
    b"runtime: 3", b"admin: {pages: x}", b"x" * 600_000,
    b"a: &a [1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n"
    b"e: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]",
])
def test_a_broken_manifest_never_fails_the_list(site, source: bytes) -> None:
    """C036, C039, F22: in Foundry one bad plugin.yaml fails the listing."""
    site.write("plugins/broken/plugin.yaml", source)
    site.write("plugins/broken/plugin.go", "package broken")
    found = site.records()
    assert found["right"]["status"] == "enabled"
    assert found["broken"]["status"] in ("metadata error", "api missing") and found["broken"]["health"] == "invalid"
    assert any(one["severity"] == "error" for one in found["broken"]["diagnostics"])


def test_odd_keys_become_text(site) -> None:
    """C036: every key of a result is a string."""
    site.plugin("odd", more='settings: {1: one, 2024-01-01: day, ~: nothing, on: x, true: y, "": z, no: 12:30}\n')
    assert site.record("odd")["settings"] == {
        "1": "one", "2024-01-01": "day", "~": "nothing", "on": "x", "true": "y", "": "z", "no": "12:30",
    }


def test_permission_leaves_stay_booleans(site) -> None:
    """F40 trap: `password_hashes` and its like are switches, not secrets."""
    site.plugin("risky", more="""\
permissions:
  secrets: {access: {password_hashes: yes, totp_secrets: true}}
  capabilities: {requires_admin_approval: true}
""")
    found = site.record("risky")
    assert found["permissions"]["secrets"]["access"] == {
        "admin_tokens": False, "session_store": False, "password_hashes": True, "totp_secrets": True, "env_secrets": False,
        "deploy_keys": False, "update_credentials": False,
    }
    assert (found["risk_tier"], found["requires_approval"]) == ("high", True)
    assert found["permissions"]["network"]["outbound"]["methods"] == ["GET"]


def test_a_misspelt_permission_is_a_warning(site) -> None:
    site.plugin("typo", more="permissions: {network: {outbound: {htpps: true}}}\n")
    found = site.record("typo")
    assert found["status"] == "installed" and "htpps" in found["diagnostics"][0]["message"]


def test_what_a_manifest_should_have_is_a_warning(site) -> None:
    """docs/rules.md, Plugins: compatibility_version, config_schema, screenshots."""
    site.write("plugins/terse/plugin.yaml", "name: terse\nfoundry_api: v1\nmin_foundry_version: 1.0.0\n")
    site.write("plugins/terse/plugin.go", "package terse")
    found = site.record("terse")
    assert [one["severity"] for one in found["diagnostics"]] == ["warning"] * 3 and found["health"] == "installed"


def test_dependencies_are_met_by_enabled_plugins(site) -> None:
    """docs/rules.md, Plugins: repos another *enabled* plugin must declare."""
    site.plugin("needy", more="requires: [acme/base]\ndependencies: [{name: 'git@github.com:acme/extra.git', optional: true}]\n")
    site.plugin("base")
    assert site.record("needy")["status"] == "installed"
    site.enable("needy")
    assert site.record("needy")["status"] == "invalid" and "github.com/acme/base" in site.errors("needy")[0][2]
    site.enable("needy", "base")
    assert (site.record("needy")["status"], site.errors("needy")) == ("enabled", [])


@pytest.mark.parametrize("name", ["nothing", "..", "../right", "right/plugin.go", "", ".rollback", "/etc"])
def test_an_unknown_name_is_not_found(site, name: str) -> None:
    with pytest.raises(NotFound, match="Plugins: right"):
        site.record(name)


def test_links_that_leave_are_errors_and_are_not_read(site, tmp_path_factory) -> None:
    """docs/rules.md, Odd places."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "plugin.yaml").write_text("title: SECRET")
    (outside / "evil.go").write_text('package x\nimport "os/exec"\nfunc f() { exec.Command("x") }')
    (site.root / "plugins/linked").symlink_to(outside)
    site.plugin("partly")
    (site.root / "plugins/partly/evil.go").symlink_to(outside / "evil.go")
    found = site.records()
    assert (found["linked"]["status"], found["linked"]["title"]) == ("metadata error", "linked")
    assert (found["partly"]["status"], found["partly"]["security_findings"]) == ("invalid", [])
    assert site.errors("partly")[0][0] == "evil.go"
    assert str(outside) not in repr(found) and str(site.root) not in repr(found)


def test_records_follow_the_files(site) -> None:
    assert site.record("right")["title"] == "Right"
    site.plugin("right", change=("title: Right", "title: Changed"))
    assert site.record("right")["title"] == "Changed"


MANAGED = """\
foundry:
  managed:
    enabled: true
    plugin_policy:
      allowed_licenses: [MIT]
      approved: [{name: right, version: 1.2.0, sha256: %s}]
"""


def test_managed_policy(site) -> None:
    """docs/rules.md, Plugins: name, version and SHA-256, licence; a plugin cannot approve itself."""
    site.enable("right", more=MANAGED % ("0" * 64))
    assert (site.record("right")["review_status"], site.record("right")["health"]) == ("blocked", "blocked")
    site.plugin("right", more="license: mit\n")
    site.write("plugins/right/vendor/a.txt", "vendored files count")
    site.write("plugins/right/.git/config", "repositories do not")
    digest = _foundry_digest(site.root / "plugins/right")
    site.enable("right", more=MANAGED % digest.upper())
    assert (site.record("right")["review_status"], site.record("right")["health"]) == ("approved", "enabled")
    site.write("plugins/right/extra.txt", "one byte more")
    assert site.record("right")["review_status"] == "blocked"


def _foundry_digest(folder) -> str:
    """Path, line end, bytes, line end of each file in path order."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        whole.update(path.relative_to(folder).as_posix().encode() + b"\n" + path.read_bytes() + b"\n")
    return whole.hexdigest()
