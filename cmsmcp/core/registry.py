"""All capabilities, found by importing one package. Nothing registers itself and nothing is listed elsewhere.

Discovery refuses what the public contract forbids, so that a faulty declaration stops the start, not a call.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType, ModuleType

from cmsmcp.core.announced import Offer
from cmsmcp.core.capability import Capability
from cmsmcp.core.schemas import argument_names, input_schema, mirrored_arguments, output_schema
from cmsmcp.governance.scopes import CAPABILITY_OF, READ_SCOPES
from cmsmcp.protocol.uritemplate import UriTemplate

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_VERSION = re.compile(r"[0-9]+\.[0-9]+")
_SCOPE = re.compile(r"[a-z]+:[a-z]+")
_FIRST_SCHEME = "plank://"
_PLUGIN_SCHEME = "foundry-plugin://"
_FOLDERS = re.compile(r" ?\((?:/|[A-Z]:\\)[^)]*\)")
_CLIENT_CAPABILITIES = ("elicitation", "sampling", "roots", "extensions")


class RegistrationError(ValueError):
    """A declaration the registry refuses; the message names the capability and the rule."""


class Registry:
    """Read-only. `tools` and `prompts` map wire names to them in name order; `resources` maps templates to resources.

    A name stands for one kind alone: limits, costs and audit records go by it. Of two versions of one name the newest keeps the
    name, the older is `<name>_v<major>` (F34). Plank's own resources come first, and of each group those whose URI has no variable, by URI:
    the order of resources/list (P16). `offers` tells of all of them what announcing them takes.
    """

    def __init__(self, capabilities: Iterable[Capability]) -> None:
        found = list(capabilities)
        for capability in found:
            _check(capability)
        names = _named(found)
        self.tools: Mapping[str, Capability] = _sorted(names, lambda capability: capability.is_tool)
        self.prompts: Mapping[str, Capability] = _sorted(names, lambda capability: capability.is_prompt)
        templates = [(UriTemplate(capability.uri or ""), capability) for capability in names.values() if capability.is_resource]
        templates.sort(key=lambda pair: (not pair[0].template.startswith(_FIRST_SCHEME), bool(pair[0].variables), pair[0].template))
        for (template, one), (other, another) in pairwise(templates):
            if template.template == other.template:
                raise RegistrationError(f"{one.name} and {another.name} share one URI template, {template.template}")
        self.resources: Mapping[UriTemplate, Capability] = MappingProxyType(dict(templates))
        self.offers = tuple(Offer(name, _kind(one), one.scope, bool(one.complete), one.enabled) for name, one in sorted(names.items()))

    def find_resource(self, uri: str) -> tuple[Capability, dict[str, str]] | None:
        """The resource a URI names, with its decoded variables. A template without variables wins over one that has some."""
        for template, capability in self.resources.items():
            variables = template.match(uri)
            if variables is not None:
                return capability, variables
        return None


def discover(*packages: ModuleType) -> Registry:
    """Import every module of the packages and gather their capabilities. A name belongs to the one package that declares it."""
    found: list[Capability] = []
    owners: dict[str, str] = {}
    for package in packages:
        for capability in _declared(package):
            owner = owners.setdefault(capability.name, package.__name__)
            if owner != package.__name__:
                raise RegistrationError(f"{capability.name}: the name is taken twice, by {owner} and by {package.__name__}")
            found.append(capability)
    return Registry(found)


def _declared(package: ModuleType) -> list[Capability]:
    """Modules that start with `_` hold what others share."""
    found: list[Capability] = []
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("_"):
            continue
        file = f"{package.__name__.replace('.', '/')}/{module.name}.py"
        declared = [value for value in vars(_imported(f"{package.__name__}.{module.name}", file)).values() if isinstance(value, Capability)]
        if not declared:
            raise RegistrationError(f"{file} declares no capability")
        for capability in declared:
            if capability.name != module.name:
                raise RegistrationError(f"{file} declares {capability.name!r}: a capability is named as its file")
            try:
                _check(capability)
            except RegistrationError as error:
                raise RegistrationError(f"{file}: {error}") from None
        found.extend(declared)
    return found


def _imported(name: str, file: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise RegistrationError(f"{file} cannot be imported ({reason_of(error)})") from error


def reason_of(error: BaseException) -> str:
    """What went wrong in somebody's code, on one line, without the folders of this machine."""
    text = _FOLDERS.sub("", " ".join(str(error).split()))[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _sorted(names: Mapping[str, Capability], wanted: Callable[[Capability], bool]) -> Mapping[str, Capability]:
    return MappingProxyType({name: names[name] for name in sorted(names) if wanted(names[name])})


def _named(capabilities: Iterable[Capability]) -> dict[str, Capability]:
    """By wire name, whatever its kind."""
    versions: dict[str, dict[tuple[int, ...], Capability]] = {}
    for capability in capabilities:
        number = tuple(int(part) for part in capability.version.split("."))
        others = versions.setdefault(capability.name, {})
        if number in others:
            raise RegistrationError(f"{capability.name}: version {capability.version} is declared twice")
        if any(_kind(other) != _kind(capability) for other in others.values()):
            raise RegistrationError(f"{capability.name}: the name is taken by a capability of another kind")
        others[number] = capability
    names: dict[str, Capability] = {}
    for name, numbered in versions.items():
        newest = max(numbered)
        for number, capability in numbered.items():
            wire = name if number == newest else f"{name}_v{number[0]}"
            if wire in names:
                raise RegistrationError(f"{wire}: the name is taken twice")
            names[wire] = capability
    return names


def _kind(capability: Capability) -> str:
    return "prompt" if capability.is_prompt else "resource" if capability.is_resource else "tool"


def _lacks_schema(capability: Capability) -> bool:
    if capability.is_prompt or capability.blocks or (capability.is_resource and capability.mime_type != "application/json"):
        return False
    return capability.output is None and capability.output_schema is None


def _check(capability: Capability) -> None:
    for broken, rule in _RULES:
        try:
            is_broken = broken(capability)
        except Exception as error:
            raise RegistrationError(f"{capability.name}: {rule}; this declaration cannot be read ({reason_of(error)})") from error
        if is_broken:
            raise RegistrationError(f"{capability.name}: {rule}")


def _misspelt_template(capability: Capability) -> bool:
    try:
        return capability.uri is not None and not UriTemplate(capability.uri).template
    except ValueError:
        return True


def _unwritable(capability: Capability) -> bool:
    """A schema that JSON cannot say would break the whole list that it is in."""
    schemas = (input_schema(capability), output_schema(capability))
    return not all(isinstance(json.loads(json.dumps(schema, allow_nan=False)), dict) for schema in schemas if schema is not None)


def _mismarked(capability: Capability) -> bool:
    try:
        mirrored_arguments(capability)
    except ValueError:
        return True
    return False


def _misdeclared_argument(prompt: Capability) -> bool:
    """Clients show a prompt's arguments as lines of text with their descriptions, and send nothing but strings (P-03)."""
    return prompt.is_prompt and any(
        not isinstance(schema, Mapping) or schema.get("type") != "string" or not schema.get("description")
        for schema in input_schema(prompt).get("properties", {}).values()
    )


_RULES = (
    (lambda c: not _NAME.fullmatch(c.name), "a name is snake_case, at most 64 characters"),
    (lambda c: not _VERSION.fullmatch(c.version), "a version is MAJOR.MINOR"),
    (lambda c: not c.description, "a description is missing"),
    (lambda c: not _SCOPE.fullmatch(c.scope), "a scope is missing"),
    (lambda c: not c.audit, "an audit category is missing"),
    (lambda c: c.is_prompt and c.is_resource, "a prompt has no URI"),
    (_misspelt_template, "a URI template has {var} and {+var} alone, each once"),
    (_unwritable, "a schema is an object that JSON can write"),
    (_lacks_schema, "an output schema is missing; a tool that returns Blocks says blocks=True"),
    (
        lambda c: c.blocks and (not c.is_tool or c.output is not None or c.output_schema is not None),
        "blocks is for tools without an output schema",
    ),
    (
        lambda c: c.isolated and (c.blocks or c.talks or bool(c.asks_first)),
        "isolated is for what neither talks nor returns Blocks: its work runs in another process",
    ),
    (lambda c: c.is_prompt and (c.output is not None or c.output_schema is not None), "a prompt has no output schema"),
    (lambda c: not c.is_resource and input_schema(c).get("type") != "object", "the root of an input schema is an object"),
    (_misdeclared_argument, "the arguments of a prompt are strings, each with a description"),
    (lambda c: bool(c.complete) and c.is_tool, "complete is for prompts and resources"),
    (lambda c: not c.complete.keys() <= set(argument_names(c)), "complete names an argument or variable that does not exist"),
    (lambda c: c.topics is not None and not c.is_resource, "topics are for resources"),
    (
        lambda c: not all(name in _CLIENT_CAPABILITIES and isinstance(needs, Mapping) for name, needs in c.requires.items()),
        f"requires names client capabilities: {', '.join(_CLIENT_CAPABILITIES)}",
    ),
    (lambda c: c.task not in (None, "optional", "required"), "task is optional, required or None"),
    (lambda c: c.task is not None and not c.is_tool, "only tools run as tasks"),
    (lambda c: not c.read_only or not c.scope.startswith("read:"), "mutating capabilities are reserved and not served yet"),
    (lambda c: c.scope not in CAPABILITY_OF, f"its scope does not exist; use one of {', '.join(sorted(READ_SCOPES))}"),
    (lambda c: c.owner is not None, "plugin capabilities are reserved and not served yet"),
    (lambda c: c.uri is not None and c.uri.startswith(_PLUGIN_SCHEME), "foundry-plugin:// is reserved and not served yet"),
    (_mismarked, "x-mcp-header is a header name of its own, on a string, integer or boolean reached through properties alone"),
    (lambda c: c.timeout <= 0 or c.max_result <= 0, "timeout and result limit are above 0"),
)
