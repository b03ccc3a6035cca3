"""What Go code does, and what it may (docs/rules.md, Odd places)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.site.plugins.gocode import Unreadable, read_go


def _code(imports: str, body: str) -> str:
    return f"package x\n\nimport (\n{imports}\n)\n\nfunc run() {{\n{body}\n}}\n"


@pytest.mark.parametrize(("imports", "body", "category", "evidence", "kind"), [
    ('"net/http"', 'http.Get("u")', "network.outbound", "net/http.Get", "direct"),
    ('"net/http"', "http.DefaultClient.Do(r)", "network.outbound", "net/http.DefaultClient.Do", "direct"),
    ('"net/http"', "c := &http.Client{}", "network.outbound", "net/http.Client", "heuristic"),
    ('"net"', 'net.DialTimeout("tcp", a, 0)', "network.outbound", "net.DialTimeout", "direct"),
    ('"github.com/gorilla/websocket"', "websocket.DefaultDialer.Dial(u, nil)", "network.outbound",
     "github.com/gorilla/websocket.DefaultDialer.Dial", "direct"),
    ('"nhooyr.io/websocket"', "_ = websocket.MessageText", "network.outbound", "import nhooyr.io/websocket", "heuristic"),
    ('"net/http"', 'http.HandleFunc("/", h)', "network.inbound.register_routes", "net/http.HandleFunc", "direct"),
    ('"net/http"', 'http.ListenAndServe(":1", nil)', "network.inbound.bind_external_services", "net/http.ListenAndServe", "direct"),
    ('"os/exec"', 'exec.CommandContext(c, "ls")', "process.exec", "os/exec.CommandContext", "direct"),
    ('"os/exec"', "run := exec.Command; _ = run", "process.exec", "os/exec.Command", "heuristic"),
    ('_ "os/exec"', "", "process.exec", "import os/exec", "heuristic"),
    ('. "os/exec"', 'Command("ls").Run()', "process.exec", "os/exec.Command", "direct"),
    ('run "os/exec"', 'run.Command("ls")', "process.exec", "os/exec.Command", "direct"),
    ('"syscall"', "syscall.Exec(p, nil, nil)", "process.exec", "syscall.Exec", "direct"),
    ('"os"', "os.MkdirAll(p, 0)", "filesystem.write", "os.MkdirAll", "direct"),
    ('"os"', "(os.Create)(p)", "filesystem.write", "os.Create", "direct"),
    ('"os"', "os.OpenFile(p, 0, 0)", "filesystem.write", "os.OpenFile", "direct"),
    ('"os"', "defer os.RemoveAll(p)", "filesystem.delete", "os.RemoveAll", "direct"),
    ('"os"', "os.ReadFile(p)", "filesystem.read", "os.ReadFile", "direct"),
    ('"os"', 'os.LookupEnv("A")', "environment.read", "os.LookupEnv", "direct"),
    ('"os"', 'os.Setenv("A", "b")', "environment.write", "os.Setenv", "direct"),
    ('"unsafe"', "_ = unsafe.Pointer(&x)", "capabilities.dangerous", "unsafe.Pointer", "direct"),
    ('"reflect"', "reflect.NewAt(t, p)", "capabilities.dangerous", "reflect.NewAt", "direct"),
    ('"C"', "", "capabilities.dangerous", "import C", "direct"),
    ('"plugin"', 'plugin.Open("x.so")', "capabilities.dynamic_loading", "plugin.Open", "direct"),
    ('"fmt"', 'p := "data/admin/sessions.yaml"', "secrets.path_access", "data/admin/sessions.yaml", "heuristic"),
    ('"fmt"', "p := `/home/a/.ssh/id_ed25519`", "secrets.path_access", "/home/a/.ssh/id_ed25519", "heuristic"),
])
def test_a_use_is_found_and_needs_its_permission(site, imports, body, category, evidence, kind) -> None:  # noqa: PLR0917
    """A call on the import is direct, a name or string alone heuristic; each without its permission is a mismatch."""
    site.plugin("doer", code=_code(imports, body))
    found = site.record("doer")
    assert [(one["category"], one["evidence"], one["evidence_type"], one["line"]) for one in found["security_findings"]] == [
        (category, evidence, kind, 4 if evidence.startswith("import ") else 8),
    ]
    assert found["status"] == "security mismatch" and found["health"] == "invalid"
    assert (found["risk_tier"], found["requires_approval"]) == ("medium", True)
    assert found["security_mismatches"][0]["message"].startswith(f"{category}: {evidence} ")


@pytest.mark.parametrize("code", [
    _code('"os"', "os.Exit(1); _ = os.Args; _ = os.Stdin"),
    _code('"net/url"', 'url.Parse("https://a.example")'),
    _code('"net/http"', "var w http.ResponseWriter; _ = http.StatusOK; _ = w"),
    _code('"syscall"', "_ = syscall.SIGTERM"),
    _code('"fmt"', '// os.Remove("x")\n/* exec.Command("x") */ fmt.Println("os.Remove(x)", "the session has no token")'),
    'package x\nfunc f(os files, exec runner) { os.Remove("x"); exec.Command("x") }',
    _code('"os"', 'os := files{}\nos.Remove("x")'),
    _code('"os"', 'if os := files(); os != nil { os.Remove("x") }'),
    'package x\nimport "os"\nfunc f(os files) { os.Remove("x") }\nvar _ = os.Args',
    _code('"example.org/mine/os"', 'os.Remove("x")'),
])
def test_what_only_looks_like_it_is_not_found(site, code: str) -> None:
    site.plugin("innocent", code=code)
    assert site.record("innocent")["security_findings"] == []


def test_a_name_is_hidden_only_where_go_hides_it(site) -> None:
    site.plugin("shadow", code=_code('"os"', '{\nos := files{}\nos.Remove("hidden")\n}\nos.Remove("seen")'))
    assert [one["line"] for one in site.record("shadow")["security_findings"]] == [12]


def test_a_shell_is_more_than_a_program(site) -> None:
    site.plugin("sh", code=_code('"os/exec"', 'exec.CommandContext(c, "/bin/bash", "-c", x)'))
    assert [one["category"] for one in site.record("sh")["security_findings"]] == ["process.exec", "process.shell"]


@pytest.mark.parametrize(("permissions", "left"), [
    ("{process: {exec: {allowed: true}}, capabilities: {requires_admin_approval: true}}", []),
    ("{process: {shell: {allowed: true}}, capabilities: {requires_admin_approval: true}}", ["process.exec"]),
])
def test_a_declared_permission_settles_its_findings_alone(site, permissions: str, left: list[str]) -> None:
    site.plugin("ok", more=f"permissions: {permissions}\n", code=_code('"os/exec"', 'exec.Command("ls")'))
    assert [one["message"].split(":")[0] for one in site.record("ok")["security_mismatches"]] == left


def test_hooks_need_their_permissions(site) -> None:
    hooks = ("OnContext", "OnAssets", "OnHTMLSlots", "OnAfterRender", "OnRoutesAssigned", "OnGraphBuilt", "OnTaxonomyBuilt",
             "OnDocumentParsed", "OnServerStarted", "RegisterRoutes")
    site.plugin("hooks", code="package x\n" + "".join(f"func (p *P) {hook}() {{}}\n" for hook in hooks) + "func OnContext() {}\n")
    found = site.record("hooks")
    assert {one["evidence"] for one in found["security_findings"]} == set(hooks)
    assert len(found["security_mismatches"]) == len(hooks)


def test_admin_extensions_need_their_permission(site) -> None:
    site.plugin("pages", more="admin: {pages: [{key: a}], widgets: [{key: b}]}\npermissions: {admin: {extensions: {pages: true}}}\n")
    found = site.record("pages")["security_mismatches"]
    assert [(one["path"], one["line"]) for one in found] == [("plugins/pages/plugin.yaml", 10)]
    assert "admin.extensions.widgets" in found[0]["message"]


def test_tests_and_vendored_code_are_left_aside(site) -> None:
    """As in Foundry's analyser."""
    bad = _code('"os"', "os.Remove(p)")
    for place in ("plugin_test.go", "vendor/x/x.go", "node_modules/x/x.go", ".git/x.go"):
        site.write(f"plugins/right/{place}", bad)
    site.write("plugins/right/internal/deep/x.go", bad)
    assert [one["path"] for one in site.record("right")["security_findings"]] == ["plugins/right/internal/deep/x.go"]


def test_broken_code_is_still_looked_into(site) -> None:
    site.plugin("torn", code=_code('"os"', 'os.Remove("a")\nif {{{ (\n'))
    found = site.record("torn")
    assert [one["evidence"] for one in found["security_findings"]] == ["os.Remove"]
    assert any("syntax error" in one["message"] and one["severity"] == "warning" for one in found["diagnostics"])


@pytest.mark.parametrize("source", [b"{" * 99_999, b"package a\nvar x = a" + b".A" * 99_999, b"package a\nvar x = " + b"!" * 90000 + b"a"])
def test_code_made_to_be_slow_is_refused_fast(source: bytes) -> None:
    """A query's cost explodes with depth; nobody writes such code by hand."""
    started = time.process_time()
    with pytest.raises(Unreadable):
        read_go(source)
    assert time.process_time() - started < 5


def test_code_that_cannot_be_looked_into_is_an_error(site) -> None:
    """Closed when in doubt: what was not read is not called safe."""
    site.plugin("huge", code="package x\n" + "// filler\n" * 40_000)
    assert site.record("huge")["health"] == "invalid" and "not looked into" in site.errors("huge")[0][2]


WORDS = ["package x\n", 'import "os"\n', "func f() {", "}", "os", ".", "Remove", "(", ")", '"a"', "`", "\n", ":=", "\0", "\xff", "/*"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_no_source_makes_it_raise(parts: list[str]) -> None:
    source = "".join(parts)
    found = read_go(source.encode("latin-1"))
    assert all(1 <= use.line <= source.count("\n") + 1 for use in found.uses)
