"""Every key of our blocks of `site.yaml` (`mcp`, `api`, `governance`, `ops`, `locales`): one row each, and the strict reading of it.

`docs/configuration.md` holds the same rows; a test compares. Knows nodes; must not know files, the environment or what uses a value.
Foundry's own keys are not here: they are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cmsmcp.governance.policy import MAX_BURST, MAX_REQUESTS_PER_MINUTE
from cmsmcp.governance.scopes import CAPABILITY_OF
from cmsmcp.settings_kinds import (
    BOOL,
    DURATION,
    ISSUER_URL,
    LOCALES,
    TEXT,
    URL,
    Fault,
    Kind,
    choice,
    host,
    list_of,
    near,
    network,
    one_of,
    only,
    origin,
    seconds,
    shown,
    whole,
)
from cmsmcp.site.yaml.nodes import Mapping, Node, Sequence
from cmsmcp.site.yaml.values import is_null

ANY = "<name>"
ITEMS = "[]"
NO_DEFAULT = object()


@dataclass(frozen=True, slots=True)
class Row:
    """One key. In `path`, `<name>` stands for any capability and `[]` for the items of a list.

    `default` is the Python value used when the key is absent (NO_DEFAULT under `<name>` and `[]`); `shown` is how the documentation
    writes it.
    """

    path: str
    kind: Kind
    default: Any
    shown: str
    meaning: str


SCOPES = Kind("a list of scopes", list_of("scopes", one_of(sorted(CAPABILITY_OF), "scope")).read)
RPM = whole(1, MAX_REQUESTS_PER_MINUTE)
BURST = whole(1, MAX_BURST)
HOSTS = list_of("host names", host)
ORIGINS = list_of("origins", origin)
NETWORKS = list_of("addresses or networks", network)
LOCAL = "local is reserved and cannot be had yet; use closed, which serves nothing while Redis is away"

TABLE: tuple[Row, ...] = (
    Row("mcp.enabled", BOOL, False, "false", "Serve MCP at all. Without it nothing starts and nothing is exposed."),
    Row("mcp.read_only", BOOL, True, "true", "Reserved for capabilities that change the site; `false` alone grants no write."),
    Row("mcp.audit", BOOL, False, "false", "Record who asked for what, and the outcome. Refusals included."),
    Row(
        "mcp.max_concurrency", whole(1, 10_000), 16, "16",
        "Calls in flight for the whole site, across workers and hosts. More are refused, not queued.",
    ),
    Row(
        "mcp.max_concurrency_per_client", whole(1, 10_000), None, "3/4 of `max_concurrency`",
        "How many of them one client may have, on `/mcp` and `/api` together. Does not count for `auth: none` and stdio.",
    ),
    Row("mcp.rate_limit.requests_per_minute", RPM, 600, "600", "Steady rate of one client."),
    Row("mcp.rate_limit.burst", BURST, 120, "120", "Requests one client may send at once beside the steady rate."),
    Row(f"mcp.rate_limit.costs.{ANY}", BURST, NO_DEFAULT, "1", "Units that one call of this capability takes. At most the burst."),
    Row(
        "mcp.scopes", SCOPES, None, "read:content, read:docs, read:themes, read:plugins, read:ops",
        "Scopes that exist on this server, whole if written at all; `[]` means none. Drafts need `read:unpublished` here by name. "
        "The `write:`, `publish:` and `manage:` scopes expose nothing yet.",
    ),
    Row(f"mcp.capabilities.{ANY}.enabled", BOOL, NO_DEFAULT, "its own", "Offer this capability."),
    Row(f"mcp.capabilities.{ANY}.timeout", seconds(0.05, 600), NO_DEFAULT, "its own (10)", "Seconds a call may take."),
    Row(
        f"mcp.capabilities.{ANY}.max_result", whole(1_024, 67_108_864), NO_DEFAULT, "its own (262144)",
        "Bytes of one copy of the result, as JSON in UTF-8. A tool's leaves twice, as text and as structure.",
    ),
    Row("mcp.auth", choice("token", "none"), "token", "token", "`none` serves `/mcp` without tokens, and only on a loopback address."),
    Row(
        "mcp.public_url", URL, None, "none",
        "The address clients use, such as https://cms.example.org. Names the audience of tokens and joins `allowed_hosts`.",
    ),
    Row("mcp.allowed_hosts", HOSTS, (), "[]", "Values of `Host` to accept besides loopback names, the address bound and `public_url`."),
    Row("mcp.allowed_origins", ORIGINS, (), "[]", "Web origins that may call `/mcp` from a browser, besides loopback ones."),
    Row(
        "mcp.trusted_proxies", NETWORKS, (), "[]",
        "Proxies whose `X-Forwarded-For` is believed; `unix:` is whoever connects by a unix socket.",
    ),
    Row(
        "mcp.max_streams", whole(0, 100_000), 1_000, "1000",
        "Streams open for the whole site, across workers and hosts: subscriptions, not calls. More are refused, not queued.",
    ),
    Row("mcp.max_request_bytes", whole(1_024, 67_108_864), 8_388_608, "8388608", "Bytes of one request."),
    Row(
        f"mcp.issuers{ITEMS}.issuer", ISSUER_URL, NO_DEFAULT, "required",
        "External token issuer: the `iss` of its tokens, to the letter. Needs `mcp.public_url`.",
    ),
    Row(f"mcp.issuers{ITEMS}.jwks_url", ISSUER_URL, NO_DEFAULT, "required", "Where its public keys are; fetched in the background."),
    Row(f"mcp.issuers{ITEMS}.audience", TEXT, NO_DEFAULT, "required", "What the `aud` of its tokens must be or hold."),
    Row("api.enabled", BOOL, True, "true", "Serve `/api`. Without it every path below is 404."),
    Row("api.rate_limit.requests_per_minute", RPM, 600, "600", "As `mcp.rate_limit`, for `/api`, which has a budget of its own."),
    Row("api.rate_limit.burst", BURST, 120, "120", "As `mcp.rate_limit`, for `/api`, which has a budget of its own."),
    Row("api.cors", ORIGINS, (), "[]", "Web origins that may read `/api` from a browser, besides its own and loopback ones."),
    Row(
        "governance.on_redis_failure", only("closed", local=LOCAL), "closed", "closed",
        "What happens while Redis is away: nothing is served. `local` is reserved and refused.",
    ),
    Row("governance.audit_retention", DURATION, 86_400, "24h", "How long a record stays in the audit stream, at least (docs/audit.md)."),
    Row("governance.audit_arguments", BOOL, False, "false", "Record the redacted values of arguments, not only their names and types."),
    Row("ops.enabled", BOOL, True, "true", "Serve `/ops`. Reserved: it is not served yet."),
    Row(
        "locales", LOCALES, None, "languages found",
        "Languages of the site; the first is default unless `default_lang` names one. A locale may name its `fallback` (`none` ends it).",
    ),
)


@dataclass(frozen=True, slots=True)
class Found:
    """One fault in the configuration: `file` (relative to the site), `line` (from 1), the key, and one line on what is needed.

    `key` is blank when the file as a whole cannot be read.
    """

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key} {self.message}".replace(":  ", ": ")


def capability_names() -> frozenset[str]:
    """Names that may stand under `costs` and `capabilities`: a capability's file bears its name, so nothing is imported for this."""
    folder = Path(__file__).parent / "capabilities"
    return frozenset(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def read(root: Mapping) -> tuple[dict[str, Any], list[Found]]:
    """The values of our blocks as a nested dict with defaults filled in, and every fault found (values are unusable if there is one)."""
    faults: list[Found] = []
    values: dict[str, Any] = {}
    for block, branch in _tree().items():
        node = root.entries.get(block)
        if node is None:
            values[block] = _defaults(branch)
        else:
            values[block] = _walk(node, branch, _Place(block, root.key_lines.get(block, node.line), root), faults)
    return values, sorted(faults, key=lambda found: (found.file, found.line))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a node hangs: its dotted key, the line of that key, and the map that holds it."""

    key: str
    line: int
    holder: Mapping


def _tree() -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for row in TABLE:
        branch = tree
        *folders, leaf = row.path.replace(ITEMS, f".{ITEMS}").split(".")
        for folder in folders:
            branch = branch.setdefault(folder, {})
        branch[leaf] = row
    return tree


def _defaults(branch: Any) -> Any:
    if isinstance(branch, Row):
        return branch.default
    if ITEMS in branch:
        return ()
    return {name: _defaults(below) for name, below in branch.items() if name != ANY}


def _walk(node: Node, branch: Any, place: _Place, faults: list[Found]) -> Any:
    if isinstance(branch, Row):
        try:
            return branch.kind.read(node)
        except Fault as fault:
            faults += [Found(node.file, each.line or place.line, place.key, each.message) for each in (fault, *fault.also)]
            return None
    if ITEMS in branch:
        return _walk_items(node, branch[ITEMS], place, faults)
    if not isinstance(node, Mapping):
        wanted = f"nothing: {_indent(branch, place)}" if is_null(node) else shown(node)
        faults.append(Found(node.file, place.line, place.key, f"needs a mapping of keys, not {wanted}"))
        return None
    values = _defaults(branch)
    known = capability_names() if ANY in branch else frozenset(branch)
    for name, below in node.entries.items():
        line = node.key_lines.get(name, below.line)
        if name not in known:
            unknown = f'has an unknown {"capability" if ANY in branch else "key"} "{name[:60]}".'
            hint = _elsewhere(name, place.key) or near(name, known)
            faults.append(Found(below.file, line, place.key, f"{unknown}{hint} Known: {', '.join(sorted(known))}"))
            continue
        values[name] = _walk(below, branch.get(name, branch.get(ANY)), _Place(f"{place.key}.{name}", line, node), faults)
    return values


def _indent(branch: dict[str, Any], place: _Place) -> str:
    """The way out for a key whose own keys were written, or pasted, flat beside it."""
    names = capability_names() if ANY in branch else frozenset(branch)
    lines = {name: line for name, line in place.holder.key_lines.items() if name in names and line > place.line}
    if lines:
        beside = ", ".join(f"{name} (line {line})" for name, line in lines.items())
        return f"what belongs to it stands beside it; indent {beside} by two more spaces than {place.key.rpartition('.')[2]}"
    return f"indent its keys below it by two more spaces (known: {', '.join(sorted(names))})"


def _elsewhere(name: str, key: str) -> str:
    """Where a key belongs that is known in another place of the same block, and in that one alone."""
    block = key.partition(".")[0]
    rows = [f"{row.path}." for row in TABLE if row.path.startswith(f"{block}.")]
    paths = {path.partition(f".{name}.")[0] for path in rows if f".{name}." in path}
    return f' It belongs below "{paths.pop()}:".' if len(paths) == 1 else ""


def _walk_items(node: Node, branch: dict[str, Any], place: _Place, faults: list[Found]) -> Any:
    if not isinstance(node, Sequence):
        given = "nothing" if is_null(node) else shown(node)
        faults.append(Found(node.file, place.line, place.key, f"needs a list, each of its items beginning with `- `, not {given}"))
        return None
    values = []
    for number, item in enumerate(node.items):
        entry = _walk(item, branch, _Place(f"{place.key}[{number}]", item.line, Mapping({}, item.file, item.line)), faults)
        for name in branch:
            if isinstance(entry, dict) and entry.get(name) is NO_DEFAULT:
                faults.append(Found(item.file, item.line, f"{place.key}[{number}]", f'lacks the key "{name}"'))
        values.append(entry)
    return tuple(values)
