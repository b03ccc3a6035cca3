"""Which uses of which packages need which permission (docs/rules.md, Odd places). Tables, and how to ask them.

A category is named as Foundry names it; `needs` says which permission leaves satisfy it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "powershell", "pwsh"})


@dataclass(frozen=True, slots=True)
class Rule:
    """Names of a package (a regular expression, matched as a whole) that need the permission `category`."""

    names: re.Pattern[str]
    category: str
    message: str


def _rule(names: str, category: str, message: str) -> Rule:
    return Rule(re.compile(names), category, message)


_READ, _WRITE, _DELETE = "filesystem.read", "filesystem.write", "filesystem.delete"
_OUT, _ROUTES, _BIND = "network.outbound", "network.inbound.register_routes", "network.inbound.bind_external_services"
_ENV, _EXEC, _DANGEROUS = "environment.read", "process.exec", "capabilities.dangerous"
_LOADING = "capabilities.dynamic_loading"
_SYSTEM = (
    _rule("Exec|ForkExec|StartProcess|PosixSpawn", _EXEC, "starts a process"),
    _rule("(Raw)?Syscall\\d*|Mmap|Mprotect|Ptrace\\w*|(New)?LazyDLL|LoadDLL|LoadLibrary", _DANGEROUS, "makes raw system calls"),
    _rule("Getenv|Environ", _ENV, "reads environment variables"),
    _rule("Setenv|Unsetenv|Clearenv", "environment.write", "changes environment variables"),
    _rule("Unlink(at)?|Rmdir", _DELETE, "deletes files"),
)

PACKAGES: dict[str, tuple[Rule, ...]] = {
    "os": (
        _rule("ReadFile|Open|ReadDir|DirFS|OpenRoot|OpenInRoot", _READ, "reads files"),
        _rule("Create(Temp)?|WriteFile|OpenFile|Rename|Mkdir\\w*|Symlink|Link|CopyFS", _WRITE, "writes files"),
        _rule("Truncate|L?[Cc]hown|Chmod|Chtimes", _WRITE, "changes files"),
        _rule("Remove\\w*", _DELETE, "deletes files"),
        _rule("Getenv|LookupEnv|Environ|ExpandEnv", _ENV, "reads environment variables"),
        _rule("Setenv|Unsetenv|Clearenv", "environment.write", "changes environment variables"),
        _rule("StartProcess", _EXEC, "starts a process"),
    ),
    "io/ioutil": (
        _rule("ReadFile|ReadDir", _READ, "reads files"),
        _rule("WriteFile|TempFile|TempDir", _WRITE, "writes files"),
    ),
    "path/filepath": (_rule("Walk|WalkDir|Glob", _READ, "reads folders"),),
    "os/exec": (_rule(".+", _EXEC, "runs programs"),),
    "syscall": _SYSTEM,
    "golang.org/x/sys/unix": _SYSTEM,
    "golang.org/x/sys/windows": _SYSTEM,
    "net/http": (
        _rule("Handle(Func)?|NewServeMux|ServeMux|DefaultServeMux\\.Handle(Func)?", _ROUTES, "registers routes"),
        _rule("ListenAndServe(TLS)?|Serve(TLS)?|Server", _BIND, "serves a port of its own"),
        _rule(
            "Get|Head|Post|PostForm|NewRequest(WithContext)?|Client|Transport|DefaultClient(\\.\\w+)?|DefaultTransport(\\.\\w+)?", _OUT,
            "makes requests over the network",
        ),
    ),
    "net": (
        _rule("Dial\\w*|Dialer", _OUT, "opens network connections"),
        _rule("Listen\\w*|FileListener", _BIND, "listens on a port of its own"),
    ),
    "crypto/tls": (
        _rule("Dial\\w*|Dialer|Client", _OUT, "opens network connections"),
        _rule("Listen", _BIND, "listens on a port of its own"),
    ),
    "net/rpc": (_rule("Dial\\w*", _OUT, "opens network connections"),),
    "net/rpc/jsonrpc": (_rule("Dial\\w*", _OUT, "opens network connections"),),
    "net/smtp": (_rule("SendMail|Dial|NewClient", _OUT, "sends mail"),),
    "unsafe": (_rule(".+", _DANGEROUS, "goes around Go's memory safety"),),
    "reflect": (_rule("NewAt", _DANGEROUS, "goes around Go's memory safety"),),
    "C": (_rule(".+", _DANGEROUS, "calls C code (cgo)"),),
    "plugin": (_rule(".+", _LOADING, "loads code at run time"),),
}
# Packages known by a part of their path.
_FAMILIES: tuple[tuple[re.Pattern[str], tuple[Rule, ...]], ...] = (
    (re.compile(r"(^|/)websocket($|/)"), (_rule("(Default)?Dial\\w*(\\.\\w+)?|NewClient", _OUT, "opens websocket connections"),)),
    (re.compile(r"(^|/)grpc($|/)"), (_rule("Dial\\w*|NewClient", _OUT, "opens gRPC connections"),)),
    (re.compile(r"/internal/backup($|/)"), (_rule(".+", "admin.operations.backups", "uses Foundry's backups"),)),
    (re.compile(r"/internal/updater($|/)"), (_rule(".+", "admin.operations.updates", "uses Foundry's updater"),)),
    (re.compile(r"/internal/admin/audit($|/)"), (_rule(".+", "admin.audit.read", "uses the admin's audit log"),)),
    (
        re.compile(r"/internal/admin/users($|/)"),
        (_rule("Save", "admin.users.write", "changes admin users"), _rule(".+", "admin.users.read", "reads admin users")),
    ),
    (
        re.compile(r"/internal/admin/auth($|/)"),
        (
            _rule("(Start|Complete)PasswordReset", "admin.users.reset_passwords", "resets passwords of admins"),
            _rule("Revoke(All)?Sessions", "admin.users.revoke_sessions", "ends sessions of admins"),
        ),
    ),
)
# An import of these alone tells something, even when nothing of it is seen in use.
IMPORTS: dict[str, tuple[str, str]] = {
    "os/exec": (_EXEC, "imports the package that runs programs"),
    "unsafe": (_DANGEROUS, "imports unsafe"),
    "C": (_DANGEROUS, "is built with C code (cgo)"),
    "plugin": (_LOADING, "imports the package that loads code at run time"),
}
_IMPORT_FAMILIES: tuple[tuple[re.Pattern[str], tuple[str, str]], ...] = (
    (re.compile(r"(^|/)websocket($|/)"), (_OUT, "imports a websocket package")),
    (re.compile(r"(^|/)google\.golang\.org/grpc$"), (_OUT, "imports gRPC")),
    (re.compile(r"/internal/backup$"), ("admin.operations.backups", "imports Foundry's backups")),
    (re.compile(r"/internal/updater$"), ("admin.operations.updates", "imports Foundry's updater")),
    (re.compile(r"/internal/admin/audit$"), ("admin.audit.read", "imports the admin's audit log")),
    (re.compile(r"/internal/admin/users$"), ("admin.users.read", "imports the admin's users")),
)
HOOKS: dict[str, tuple[str, str]] = {
    "RegisterRoutes": (_ROUTES, "registers routes"),
    "OnContext": ("render.context", "reads or changes the render context"),
    "OnAssets": ("render.assets", "adds assets to pages"),
    "OnHTMLSlots": ("render.html_slots", "puts HTML into the theme's slots"),
    "OnAfterRender": ("render.after_render", "changes finished HTML"),
    "OnRoutesAssigned": ("graph.mutate", "sees or changes the routes of documents"),
    "OnGraphBuilding": ("graph.read", "sees the site graph"),
    "OnGraphBuilt": ("graph.read", "sees the site graph"),
    "OnTaxonomyBuilt": ("graph.taxonomies.inspect", "sees the taxonomies"),
    "OnDocumentParsed": ("content.documents.read", "reads documents"),
    "OnFrontmatterParsed": ("content.documents.read", "reads documents"),
    "OnMarkdownRendered": ("content.documents.read", "reads documents"),
    "OnServerStarted": ("runtime.server.on_started", "runs when the server starts"),
}
_ADMIN_PATHS: tuple[tuple[str, str, str], ...] = (
    ("/api/backups", "admin.operations.backups", "names the admin's backup interface"),
    ("/api/update", "admin.operations.updates", "names the admin's update interface"),
    ("/api/operations/rebuild", "admin.operations.rebuild", "names the admin's rebuild interface"),
    ("/api/operations/cache/clear", "admin.operations.clear_cache", "names the admin's cache interface"),
    ("/api/audit", "admin.audit.read", "names the admin's audit interface"),
    ("/api/users", "admin.users.read", "names the admin's user interface"),
)
_SECRETS = "secrets.path_access"
_SECRET_FILE = re.compile(
    r"(?:.*[/\\])?(?:\.env(?:\.[\w-]+)*|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.pgpass|\.htpasswd|passwd|shadow|[\w.-]*private[_-]key[\w.-]*"
    r"|(?:credentials|secrets?|sessions?|tokens?|admin-users)\.[a-z0-9]{1,6})",
    re.IGNORECASE,
)

_FIXED = ("content", "data", "public", "cache", "backups", "custom")
NEEDS: dict[str, tuple[str, ...]] = {
    _READ: tuple(f"filesystem.read.{leaf}" for leaf in ("content", "data", "public", "themes", "plugins", "config", "custom")),
    _WRITE: tuple(f"filesystem.write.{leaf}" for leaf in _FIXED),
    _DELETE: tuple(f"filesystem.delete.{leaf}" for leaf in _FIXED),
    _ENV: ("environment.read.allowed",),
    "environment.write": ("environment.read.allowed",),
    _OUT: tuple(f"network.outbound.{leaf}" for leaf in ("http", "https", "websocket", "grpc", "custom_schemes")),
    _ROUTES: (_ROUTES,),
    _BIND: (_BIND,),
    _EXEC: ("process.exec.allowed",),
    "process.shell": ("process.shell.allowed",),
    "render.context": ("render.context.read", "render.context.write"),
    "render.assets": tuple(f"render.assets.{leaf}" for leaf in ("inject_css", "inject_js", "inject_remote_assets")),
    "render.html_slots": ("render.html_slots.inject",),
    "render.after_render": ("render.after_render.mutate_html",),
    "graph.read": ("graph.read", "graph.mutate"),
    "graph.mutate": ("graph.mutate", "graph.routes.mutate"),
    "graph.taxonomies.inspect": ("graph.taxonomies.inspect", "graph.read"),
    _DANGEROUS: (_DANGEROUS,),
    _LOADING: (_DANGEROUS,),
    _SECRETS: tuple(
        f"secrets.access.{leaf}"
        for leaf in ("admin_tokens", "session_store", "password_hashes", "totp_secrets", "env_secrets", "deploy_keys", "update_credentials")
    ),
}


def rules_for(package: str) -> Iterator[Rule]:
    """The rules of an import path, its own and its family's."""
    yield from PACKAGES.get(package, ())
    for pattern, rules in _FAMILIES:
        if pattern.search(package):
            yield from rules


def import_rule(package: str) -> tuple[str, str] | None:
    """(category, message) of an import that tells something by itself."""
    return IMPORTS.get(package) or next((rule for pattern, rule in _IMPORT_FAMILIES if pattern.search(package)), None)


def text_rules(text: str) -> Iterator[tuple[str, str]]:
    """(category, message) for a string literal: a path of a secret file, or of the admin's interface."""
    if len(text) <= 300 and _SECRET_FILE.fullmatch(text):
        yield _SECRETS, "names a file that usually holds secrets"
    for path, category, message in _ADMIN_PATHS:
        if path in text:
            yield category, message


def needs(category: str) -> tuple[str, ...]:
    """The permission leaves of which one must be declared."""
    return NEEDS.get(category, (category,))
