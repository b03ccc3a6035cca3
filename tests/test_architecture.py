"""The rooms and what each may import. A new import that is not in the table is a decision: change the table in the same commit."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "cmsmcp"

# room -> what it may import beside the standard library and itself
MAY_IMPORT = {
    "protocol": {"orjson"},
    "governance": {"marshmallow", "cmsmcp.protocol.errors", "cmsmcp.core.ports"},
    "core": {"cmsmcp.protocol", "cmsmcp.governance", "marshmallow", "apispec", "orjson"},
    "capabilities": {
        "cmsmcp.core.capability", "cmsmcp.core.ports", "cmsmcp.core.deadline", "cmsmcp.protocol.cursor", "cmsmcp.protocol.errors",
        "marshmallow",
    },
    "site": {
        "cmsmcp.core.ports", "cmsmcp.core.deadline", "cmsmcp.protocol.cursor", "cmsmcp.protocol.errors", "cmsmcp.__version__",
        "yaml", "tantivy", "markdown_it", "tree_sitter", "tree_sitter_go", "watchfiles",
    },
    "state/redis": {"cmsmcp.core.ports", "cmsmcp.governance", "cmsmcp.protocol.errors", "redis", "hiredis"},
    "state": {"cmsmcp.core.ports", "cmsmcp.governance", "cmsmcp.protocol.errors"},
    "identity": {"jwt", "cryptography", "cmsmcp.core.ports", "cmsmcp.governance.scopes", "cmsmcp.protocol.errors"},
    "api": {"cmsmcp.core", "cmsmcp.protocol", "cmsmcp.governance", "cmsmcp.identity", "flask", "werkzeug"},
    "transports": {"cmsmcp.core", "cmsmcp.protocol", "cmsmcp.governance", "cmsmcp.identity", "flask", "werkzeug"},
}

# what only one place may import, or do
ONLY_IN = {"redis": {"state/redis"}, "yaml": {"site"}, "tantivy": {"site"}, "sqlite3": {"site"}}
COMPOSITION = {"cmsmcp.bootstrap", "cmsmcp.sidecar"}
MAY_COMPOSE = {"app", "cli", "bootstrap", "sidecar"}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "site_template" not in path.parts)


def room_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if parts[:2] == ("state", "redis"):
        return "state/redis"
    return parts[0] if len(parts) > 1 or (PACKAGE / parts[0]).is_dir() else f"top:{parts[0]}"


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


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_room_may(path: Path) -> None:
    """MAY_IMPORT, row by row."""
    room = room_of(path)
    for name in imports_of(path):
        top = name.split(".")[0]
        for library, rooms in ONLY_IN.items():
            if top == library:
                assert room in rooms, f"only {', '.join(sorted(rooms))} may import {library}"
        if any(within(name, composed) for composed in COMPOSITION):
            assert room.removeprefix("top:") in MAY_COMPOSE, f"{name} is for app, cli and tests"
        if room.startswith("top:") or room not in MAY_IMPORT or top in sys.stdlib_module_names:
            continue
        own = "cmsmcp." + room.replace("/", ".")
        allowed = MAY_IMPORT[room]
        assert within(name, own) or any(within(name, entry) for entry in allowed), f"{room} may not import {name}"


def test_the_transports_never_import_each_other() -> None:
    for path in (PACKAGE / "transports").glob("*.py"):
        others = {f"cmsmcp.transports.{other.stem}" for other in (PACKAGE / "transports").glob("*.py") if other != path}
        assert not imports_of(path) & others, path.name


def test_stdio_knows_no_flask() -> None:
    assert not {name for name in imports_of(PACKAGE / "transports" / "stdio.py") if name.split(".")[0] in ("flask", "werkzeug")}


def _names(tree: ast.AST) -> set[str]:
    attributes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {f"{node.value.id}.{node.attr}" for node in attributes if isinstance(node.value, ast.Name)}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_settings_reads_the_environment_and_only_stdio_touches_the_streams(path: Path) -> None:
    names = _names(ast.parse(path.read_text(encoding="utf-8")))
    where = str(path.relative_to(PACKAGE))
    if where != "settings.py":
        assert not names & {"os.environ", "os.getenv", "os.putenv"}, "the environment is read in settings.py"
    if where != "transports/stdio.py":
        assert not names & {"sys.stdin", "sys.stdout"}, "the streams belong to transports/stdio.py"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_stays_small_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "a module docstring says what it knows"
    assert text.count("\n") <= 350, "look for a seam"
