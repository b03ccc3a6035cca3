"""Reads dotted keys of the configuration tree into values; a value that cannot be taken becomes a diagnostic and its default stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import TypeVar

from cmsmcp.site.model import ERROR, WARNING, Diagnostic
from cmsmcp.site.yaml.loader import Mapping, Node, YamlFault, integer, is_null, map_list, mapping, text, text_list

T = TypeVar("T")


class ConfigReader:
    """`faults` collects what was found wrong, in reading order. `prefix` is the dotted key of `tree`, for messages."""

    def __init__(self, tree: Mapping, prefix: str = "", faults: list[Diagnostic] | None = None) -> None:
        self.tree = tree
        self.prefix = prefix
        self.faults: list[Diagnostic] = [] if faults is None else faults

    def below(self, node: Node, prefix: str) -> ConfigReader:
        """A reader for the keys of `node`, which adds to the same faults."""
        return ConfigReader(node if isinstance(node, Mapping) else Mapping({}, node.file, node.line), prefix, self.faults)

    def node(self, path: str) -> Node | None:
        """The node at a dotted key; None when it is absent, null, or below something that is no map."""
        node: Node = self.tree
        for part in path.split("."):
            if not isinstance(node, Mapping) or part not in node.entries:
                return None
            node = node.entries[part]
        return None if is_null(node) else node

    def _text_list(self, node: Node, key: str) -> list[str]:
        return text_list(node, key, self.warn)

    def map_list(self, node: Node, key: str) -> list[Node]:
        return map_list(node, key, self.warn)

    def warn(self, node: Node, message: str) -> None:
        self.fault(node, message, WARNING)

    def convert(self, converter: Callable[[Node, str], T], node: Node, path: str, default: T) -> T:
        try:
            return converter(node, self.prefix + path)
        except YamlFault as fault:
            self.fault(node, fault.message)
            return default

    def fault(self, node: Node, message: str, severity: str = ERROR) -> None:
        self.faults.append(Diagnostic(severity, "config", node.file, message, node.line))

    def text(self, path: str, default: str) -> str:
        """Empty text means the default, as in Foundry."""
        node = self.node(path)
        return default if node is None else self.convert(text, node, path, default) or default

    def texts(self, path: str, default: Iterable[str]) -> list[str]:
        node = self.node(path)
        return list(default) if node is None else self.convert(self._text_list, node, path, list(default))

    def map(self, path: str) -> dict[str, Node]:
        node = self.node(path)
        return {} if node is None else self.convert(mapping, node, path, {})

    def integer(self, path: str) -> int | None:
        node = self.node(path)
        return None if node is None else self.convert(integer, node, path, None)

    def folder(self, path: str, default: str, below: str = "") -> str:
        """A folder inside the site as a relative path with forward slashes; one that leaves it is a fault."""
        value = self.text(path, default).replace("\\", "/").strip()
        parts = PurePosixPath(value).parts
        if not value or value.startswith("/") or ".." in parts or not parts:
            node = self.node(path)
            if node is not None:
                self.fault(node, f"`{self.prefix}{path}` must name a folder inside the site, without `..` and without a leading slash")
            value = default
        joined = PurePosixPath(below, value).as_posix()
        return joined if joined != "." else default

    def component(self, path: str, default: str) -> str:
        """One folder name, without slashes."""
        value = self.text(path, default)
        node = self.node(path)
        if node is not None and not is_component(value):
            self.fault(node, f"`{self.prefix}{path}` must be a single folder name")
            return default
        return value

    def components(self, path: str) -> list[str]:
        node = self.node(path)
        kept = []
        for name in self.texts(path, ()):
            if is_component(name):
                kept.append(name)
            elif node is not None:
                self.fault(node, f"`{self.prefix}{path}` holds a name that is not a single folder name")
        return kept


def is_component(value: str) -> bool:
    """Whether a text names one folder: no separators, not `.` or `..`, no blanks around it."""
    return bool(value) and value == value.strip() and value not in (".", "..") and not set(value) & set("/\\\0")
