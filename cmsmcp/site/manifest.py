"""The YAML manifest of a theme or a plugin, read leniently: what cannot be taken becomes a diagnostic, the rest stands.

Knows how to open one and the shapes both kinds share (field definitions); what the keys mean is the business of `themes` and `plugins`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from cmsmcp.site.config.reader import ConfigReader
from cmsmcp.site.folder import Folder
from cmsmcp.site.model import ERROR
from cmsmcp.site.paths import ABSENT, PathFault, composed, read_bounded
from cmsmcp.site.yaml.loader import Mapping, Node, Sequence, YamlFault, boolean, core_value, is_null, load, text

MAX_BYTES = 512 * 1024
MAX_NODES = 20_000
MAX_FIELD_DEPTH = 8
MAX_DIAGNOSTICS = 500

READ = "read"
MISSING = "missing"
UNREADABLE = "unreadable"

_TEXT_TYPES = frozenset({"text", "string", "textarea", "select"})


class Diagnostic(TypedDict):
    severity: str
    path: str
    line: int | None
    message: str


class FieldDefinition(TypedDict, total=False):
    """One field of a schema. `name`, `label`, `type` and `required` are always there, the rest if declared.

    `fields` belongs to objects, `item` to repeaters; both nest, at most 8 deep. `default` is any JSON value.
    """

    name: str
    label: str
    type: str
    required: bool
    default: Any
    enum: list[str]
    fields: list[FieldDefinition]
    item: FieldDefinition
    help: str
    placeholder: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`state` is READ, MISSING or UNREADABLE; unless READ, `reader` stands on an empty map. Its faults grow as keys are read."""

    path: str
    state: str
    reader: ConfigReader
    opening: tuple[Diagnostic, ...] = ()

    @classmethod
    def empty(cls, path: str, state: str = MISSING, opening: tuple[Diagnostic, ...] = ()) -> Manifest:
        return cls(path, state, ConfigReader(Mapping({}, path, 1)), opening)

    def diagnostics(self) -> list[Diagnostic]:
        """What was found wrong so far: on opening, and in the keys that were read."""
        read = (diagnostic(fault.severity, fault.path, fault.line, fault.message) for fault in self.reader.faults)
        return ordered([*self.opening, *read])

    def line(self, key: str) -> int | None:
        """The line of a dotted key; of the nearest map around it when it is absent."""
        tree, line = self.reader.tree, None
        for part in key.split("."):
            if part not in tree.key_lines:
                break
            line, below = tree.key_lines[part], tree.entries[part]
            if not isinstance(below, Mapping):
                break
            tree = below
        return line


def diagnostic(severity: str, path: str, line: int | None, message: str) -> Diagnostic:
    return {"severity": severity, "path": composed(path), "line": line, "message": message}


def ordered(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by severity, path, line, message, without repeats; beyond MAX_DIAGNOSTICS one line says how many are left out."""
    keyed = {(one["severity"], one["path"], one["line"] or 0, one["message"]): one for one in diagnostics}
    found = [keyed[key] for key in sorted(keyed)]
    if len(found) > MAX_DIAGNOSTICS:
        left = len(found) - MAX_DIAGNOSTICS
        last = found[MAX_DIAGNOSTICS - 1]
        found[MAX_DIAGNOSTICS:] = [diagnostic(last["severity"], last["path"], None, f"{left} more are not listed; mend these first")]
    return found


def open_manifest(root: Path, folder: Folder, file: str) -> Manifest:
    """The manifest `file` of the folder. A missing or unreadable one says so in `opening`; this never raises."""
    path = folder.within(file)
    if folder.outside:
        return _without(folder.path, UNREADABLE, None, "the folder is a link that leaves the site; put the folder itself here")
    if path in folder.escapes:
        return _without(path, UNREADABLE, None, f"{file} is a link that leaves the site folder; put the file itself here")
    try:
        source = read_bounded(root, path, MAX_BYTES).decode("utf-8-sig")
        node = load(source.replace("\r\n", "\n"), path, max_nodes=MAX_NODES)
    except PathFault as fault:
        if fault.reason == ABSENT:
            return _without(path, MISSING, None, f"{file} is missing")
        return _without(path, UNREADABLE, None, fault.message)
    except UnicodeDecodeError:
        return _without(path, UNREADABLE, None, f"{file} is not UTF-8; save it as UTF-8")
    except YamlFault as fault:
        problems = tuple(diagnostic(ERROR, path, each.line, each.message) for each in fault.all)
        return Manifest.empty(path, UNREADABLE, problems)
    if is_null(node):
        node = Mapping({}, path, 1)
    if not isinstance(node, Mapping):
        return _without(path, UNREADABLE, node.line, f"{file} must be a map of keys and values")
    return Manifest(path, READ, ConfigReader(node))


def _without(path: str, state: str, line: int | None, message: str) -> Manifest:
    return Manifest.empty(path, state, (diagnostic(ERROR, path, line, message),))


def words(read: ConfigReader, path: str, default: str = "") -> str:
    """A text without blanks around it."""
    return read.text(path, default).strip() or default


def flag(read: ConfigReader, path: str, default: bool = False) -> bool:
    node = read.node(path)
    return default if node is None else read.convert(boolean, node, path, default)


def rows(read: ConfigReader, path: str) -> list[ConfigReader]:
    """A reader for each map in the list at `path`."""
    node = read.node(path)
    if node is None:
        return []
    items: list[Node] = read.convert(read.map_list, node, path, [])
    found = []
    for position, item in enumerate(items):
        if isinstance(item, Mapping):
            found.append(read.below(item, f"{read.prefix}{path}[{position}]."))
        else:
            read.fault(item, f"`{read.prefix}{path}[{position}]` must be a map")
    return found


def field_definitions(read: ConfigReader, path: str, depth: int = 0) -> list[FieldDefinition]:
    """The field schema at `path`."""
    return [_field_definition(row, depth) for row in rows(read, path)]


def _field_definition(read: ConfigReader, depth: int) -> FieldDefinition:
    kind = words(read, "type")
    found: FieldDefinition = {"name": words(read, "name"), "label": words(read, "label"), "type": kind, "required": flag(read, "required")}
    default = read.node("default")
    if default is not None:
        found["default"] = _default(read, kind)
    if choices := read.texts("enum", ()):
        found["enum"] = choices
    if depth < MAX_FIELD_DEPTH:
        if fields := field_definitions(read, "fields", depth + 1):
            found["fields"] = fields
        item = read.node("item")
        if isinstance(item, Mapping):
            found["item"] = _field_definition(read.below(item, f"{read.prefix}item."), depth + 1)
    if help_text := words(read, "help"):
        found["help"] = help_text
    if placeholder := words(read, "placeholder"):
        found["placeholder"] = placeholder
    return found


def _default(read: ConfigReader, kind: str) -> Any:
    """A text field's default is text, even when it looks like a number or `no`."""
    node = read.node("default")
    assert node is not None
    if kind.lower() in _TEXT_TYPES and not isinstance(node, (Mapping, Sequence)):
        return text(node)
    return core_value(node)
