"""The configuration files as one tree: base, `site.<env>.yaml`, overlays, deploy target (docs/rules.md, Configuration).

Maps merge deeply; lists and scalars replace. Every scalar keeps its own file and line. Light on purpose: a stdio server loads this before
its first reply. Must not know what the keys mean, apart from `deploy`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cmsmcp.site.paths import ABSENT, PathFault, read_bounded, safe_relative, shown
from cmsmcp.site.yaml.loader import Mapping, Node, Scalar, YamlFault, is_null, load

BASE = "content/config/site.yaml"
MAX_BYTES = 1024 * 1024
MAX_NODES = 20_000
# Where the values of a deploy target go; `preview: true` is handled by the code.
_TARGET_PATHS = {
    "base_url": ("base_url",), "public_dir": ("public_dir",), "theme": ("theme",), "environment": ("environment",),
    "include_drafts": ("build", "include_drafts"), "live_reload_mode": ("server", "live_reload_mode"),
}


class ConfigFault(Exception):
    """The configuration cannot be used. `faults` hold every one found; `str()` is one `file:line: message` a line."""

    def __init__(self, faults: Iterable[YamlFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


@dataclass(frozen=True, slots=True)
class Layers:
    """`tree` is the merged configuration, `files` were read, in layering order; `faults` are those of layers left out."""

    tree: Mapping
    files: tuple[str, ...]
    faults: tuple[YamlFault, ...] = ()


def read_layers(root: Path | str, env: str | None, overlays: Iterable[Path | str], target: str | None = None) -> Layers:
    """Merge what can be read. Raises ConfigFault when site.yaml itself cannot; another layer that cannot is left out with its fault.

    An absent `site.<env>.yaml` is no fault, an absent overlay is. Overlays are named by the operator and may lie outside the site.
    """
    tree = _read(root, BASE)
    files = [BASE]
    faults: list[YamlFault] = []
    env_file = _env_file(env)
    layers = [(env_file, None)] if env_file else []
    for name, overlay in [*layers, *((_overlay_name(root, path), path) for path in overlays)]:
        try:
            tree = merge(tree, _read(root, name, overlay))
            files.append(name)
        except _Missing as missing:
            faults.extend(missing.faults if overlay is not None else ())
        except ConfigFault as fault:
            faults.extend(fault.faults)
    tree, unknown = _apply_target(tree, target)
    return Layers(tree, tuple(files), (*faults, *unknown))


def merge(base: Mapping, layer: Mapping) -> Mapping:
    """A new tree: `layer` over `base`. Neither is changed."""
    entries, lines = dict(base.entries), dict(base.key_lines)
    for key, value in layer.entries.items():
        below = entries.get(key)
        entries[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
        lines[key] = layer.key_lines.get(key, value.line)
    return Mapping(entries, base.file, base.line, lines)


def missing_environment(root: Path | str, env: str | None) -> str | None:
    """What to tell of an environment that has no file, which is no fault (docs/rules.md, Configuration); None when there is nothing."""
    try:
        name = _env_file(env)
    except ConfigFault:
        return None
    folder = Path(root, BASE).parent
    if name is None or Path(root, name).exists():
        return None
    there = sorted(path.name.removeprefix("site.").removesuffix(".yaml") for path in folder.glob("site.*.yaml"))
    known = f"those that have one: {', '.join(map(shown, there[:10]))}" if there else "no environment has one"
    return f"the environment {shown((env or '').strip())} has no file {name}; {known}"


class _Missing(ConfigFault):
    def __init__(self, name: str) -> None:
        super().__init__([YamlFault("the file does not exist", name, 1)])


def _env_file(env: str | None) -> str | None:
    """`default` and blank name no file; a name that is no single path component is none of ours."""
    name = (env or "").strip()
    if name in ("", "default"):
        return None
    if "/" in name or "\\" in name or "\0" in name or name.startswith("."):
        raise ConfigFault([YamlFault(f"the environment {shown(name)} is not a plain name", BASE, 1)])
    return BASE.removesuffix(".yaml") + f".{name}.yaml"


def _overlay_name(root: Path | str, path: Path | str) -> str:
    try:
        return safe_relative(root, Path(path).absolute())
    except PathFault:
        return shown(Path(path).name)


def _read(root: Path | str, name: str, overlay: Path | str | None = None) -> Mapping:
    try:
        raw = read_bounded(root, name, MAX_BYTES) if overlay is None else _read_anywhere(overlay, name)
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigFault([YamlFault("the file is not UTF-8", name, 1)]) from None
    except PathFault as fault:
        if fault.reason == ABSENT:
            raise _Missing(name) from None
        raise ConfigFault([YamlFault(fault.message, name, 1)]) from None
    try:
        node = load(text.replace("\r\n", "\n"), name, max_nodes=MAX_NODES)
    except YamlFault as fault:
        raise ConfigFault(fault.all) from None
    if is_null(node):
        return Mapping({}, name, 1)
    if not isinstance(node, Mapping):
        raise ConfigFault([YamlFault("a map of `key: value` is wanted at the top", name, node.line)])
    return node


def _read_anywhere(path: Path | str, name: str) -> bytes:
    real = os.path.realpath(path)
    try:
        return read_bounded(os.path.dirname(real), os.path.basename(real), MAX_BYTES)  # noqa: PTH119, PTH120
    except PathFault as fault:
        raise PathFault(fault.message.replace(os.path.basename(real), name), fault.reason) from None  # noqa: PTH119


def _apply_target(tree: Mapping, target: str | None) -> tuple[Mapping, list[YamlFault]]:
    deploy = tree.entries.get("deploy")
    if not isinstance(deploy, Mapping):
        deploy = Mapping({}, tree.file, tree.line)
    chosen = deploy.entries.get("default_target")
    name = (target or "").strip() or (chosen.text.strip() if isinstance(chosen, Scalar) and not is_null(chosen) else "")
    if not name:
        return tree, []
    targets = deploy.entries.get("targets")
    found = targets.entries.get(name) if isinstance(targets, Mapping) else None
    if not isinstance(found, Mapping):
        where = chosen if chosen is not None and not target else deploy
        return tree, [YamlFault(f"`deploy.targets` has no target named {shown(name)}", where.file, where.line, "deploy.default_target")]
    return _with_target(tree, found), []


def _with_target(tree: Mapping, found: Mapping) -> Mapping:
    preview = found.entries.get("preview")
    values: dict[str, Node] = {key: node for key, node in found.entries.items() if not (isinstance(node, Scalar) and not node.text.strip())}
    if isinstance(preview, Scalar) and preview.plain and preview.text.lower() == "true":
        values["include_drafts"] = preview
    for key, path in _TARGET_PATHS.items():
        node = values.get(key)
        if node is not None and not is_null(node):
            for part in reversed(path):
                node = Mapping({part: node}, node.file, node.line, {part: node.line})
            tree = merge(tree, node)  # type: ignore[arg-type]
    return tree
