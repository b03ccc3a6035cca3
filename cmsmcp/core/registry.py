"""All capabilities, found by importing one package. Nothing registers itself and nothing is listed elsewhere.

Discovery refuses what the public contract forbids, so that a faulty declaration stops the start, not a call.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType, ModuleType

from cmsmcp.core.capability import Capability
from cmsmcp.core.schemas import mirrored_arguments
from cmsmcp.protocol.uritemplate import UriTemplate

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_VERSION = re.compile(r"[0-9]+\.[0-9]+")
_SCOPE = re.compile(r"[a-z]+:[a-z]+")
_PLUGIN_SCHEME = "foundry-plugin://"


class RegistrationError(ValueError):
    """A declaration the registry refuses; the message names the capability and the rule."""


class Registry:
    """Read-only. `tools` maps wire names to tools in name order; `resources` maps templates to resources.

    Of two versions of one name the newest keeps the name, the older is `<name>_v<major>` (F34). Resources whose URI has no
    variable come first, each group by URI: the order of resources/list (P16).
    """

    def __init__(self, capabilities: Iterable[Capability]) -> None:
        found = list(capabilities)
        for capability in found:
            _check(capability)
        self.tools: Mapping[str, Capability] = MappingProxyType(dict(sorted(_named(c for c in found if c.is_tool).items())))
        templates = [(UriTemplate(capability.uri or ""), capability) for capability in _named(c for c in found if not c.is_tool).values()]
        templates.sort(key=lambda pair: (bool(pair[0].variables), pair[0].template))
        if len({template.template for template, _ in templates}) != len(templates):
            raise RegistrationError("two resources share one URI template")
        self.resources: Mapping[UriTemplate, Capability] = MappingProxyType(dict(templates))

    def find_resource(self, uri: str) -> tuple[Capability, dict[str, str]] | None:
        """The resource a URI names, with its decoded variables. A template without variables wins over one that has some."""
        for template, capability in self.resources.items():
            variables = template.match(uri)
            if variables is not None:
                return capability, variables
        return None


def discover(package: ModuleType) -> Registry:
    """Import every module of `package` and gather its capabilities. Modules that start with `_` hold shared schemas."""
    found: list[Capability] = []
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("_"):
            continue
        declared = [
            value for value in vars(importlib.import_module(f"{package.__name__}.{module.name}")).values() if isinstance(value, Capability)
        ]
        if not declared:
            raise RegistrationError(f"{module.name}.py declares no capability")
        strays = [capability.name for capability in declared if capability.name != module.name]
        if strays:
            raise RegistrationError(f"{module.name}.py declares {strays[0]!r}: a capability is named as its file")
        found.extend(declared)
    return Registry(found)


def _named(capabilities: Iterable[Capability]) -> dict[str, Capability]:
    versions: dict[str, dict[tuple[int, ...], Capability]] = {}
    for capability in capabilities:
        number = tuple(int(part) for part in capability.version.split("."))
        if number in versions.setdefault(capability.name, {}):
            raise RegistrationError(f"{capability.name}: version {capability.version} is declared twice")
        versions[capability.name][number] = capability
    names: dict[str, Capability] = {}
    for name, numbered in versions.items():
        newest = max(numbered)
        for number, capability in numbered.items():
            wire = name if number == newest else f"{name}_v{number[0]}"
            if wire in names:
                raise RegistrationError(f"{wire}: the name is taken twice")
            names[wire] = capability
    return names


def _returns_json(capability: Capability) -> bool:
    return capability.is_tool or capability.mime_type == "application/json"


def _check(capability: Capability) -> None:
    for broken, rule in _RULES:
        if broken(capability):
            raise RegistrationError(f"{capability.name}: {rule}")


def _mismarked(capability: Capability) -> bool:
    try:
        mirrored_arguments(capability)
    except ValueError:
        return True
    return False


_RULES = (
    (lambda c: not _NAME.fullmatch(c.name), "a name is snake_case, at most 64 characters"),
    (lambda c: not _VERSION.fullmatch(c.version), "a version is MAJOR.MINOR"),
    (lambda c: not c.description, "a description is missing"),
    (lambda c: not _SCOPE.fullmatch(c.scope), "a scope is missing"),
    (lambda c: not c.audit, "an audit category is missing"),
    (lambda c: _returns_json(c) and c.output is None and c.output_schema is None, "an output schema is missing"),
    (lambda c: not c.read_only or not c.scope.startswith("read:"), "mutating capabilities are reserved and not served yet"),
    (lambda c: c.owner is not None, "plugin capabilities are reserved and not served yet"),
    (lambda c: c.uri is not None and c.uri.startswith(_PLUGIN_SCHEME), "foundry-plugin:// is reserved and not served yet"),
    (_mismarked, "x-mcp-header is a header name of its own, on a string, integer or boolean reached through properties alone"),
    (lambda c: c.timeout <= 0 or c.max_result <= 0, "timeout and result limit are above 0"),
)
