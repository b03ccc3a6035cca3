"""What the operator configured: the environment (read here and nowhere else), our blocks of `site.yaml`, the state folder and the secret.

Each room gets one small frozen dataclass. Imported before the first reply of a stdio server, so nothing heavy may be imported here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any

from cmsmcp.called import program
from cmsmcp.governance.policy import Override, Policy, Rate, share_of_a_client
from cmsmcp.governance.scopes import READ_SCOPES
from cmsmcp.settings_kinds import near
from cmsmcp.settings_table import NO_DEFAULT, Found, read
from cmsmcp.site.config.layers import BASE, ConfigFault, missing_environment, read_layers
from cmsmcp.site.yaml.nodes import YamlFault
from cmsmcp.site.yaml.values import is_null

DEFAULT_NAME = "foundry"
"""Foundry's own default, and what its new projects write."""
KEY_FILE = "secret.key"
AUDIT_FILE = "audit.jsonl"


class SettingsError(Exception):
    """The server cannot start. `lines` are what to print, one fault each; those that stand in a file are in `found` too."""

    def __init__(self, *lines: str | Found) -> None:
        self.lines = tuple(map(str, lines))
        self.found = tuple(line for line in lines if isinstance(line, Found))
        super().__init__("\n".join(self.lines))


@dataclass(frozen=True, slots=True)
class SiteChoice:
    """Which site, as the operator named it: its folder, an environment (blank: the base configuration) and files layered over it.

    `named_by`: how he can name another folder.
    """

    folder: Path
    env: str = ""
    overlays: tuple[Path, ...] = ()
    named_by: str = "--site DIR"


@dataclass(frozen=True, slots=True)
class Environment:
    """Without `redis_url`, `state_dir` or `site`, that variable is not set; `secrets` are newest first, and empty when it is not set.

    `capabilities` are names of packages whose capabilities are served beside our own.
    """

    redis_url: str | None = None
    secrets: tuple[bytes, ...] = field(default=(), repr=False)
    state_dir: Path | None = None
    site: Path | None = None
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Issuer:
    """An external issuer whose tokens are accepted; `name` is the `iss` of its tokens."""

    name: str
    jwks_url: str
    audience: str


@dataclass(frozen=True, slots=True)
class Door:
    """What the HTTP door needs. Hosts are lower case, with or without a port; `max_request_bytes` caps a body."""

    auth: str = "token"
    public_url: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    max_request_bytes: int = 8_388_608
    issuers: tuple[Issuer, ...] = ()


@dataclass(frozen=True, slots=True)
class Api:
    """What `/api` needs beside the door. `cors` are origins, lower case."""

    enabled: bool = True
    rate: Rate = field(default_factory=Rate)
    cors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """Our blocks of one site's configuration, checked. `site_name` is Foundry's own `name`; `refusal` says why nothing is served, if so.

    `audit_retention` is in seconds. `name_fault` says why that name may be another site's too, and what to write, if so.
    """

    site_name: str
    policy: Policy
    door: Door
    api: Api
    refusal: str | None
    audit_retention: int = 86_400
    name_fault: Found | None = None


def read_environment(variables: Mapping[str, str] | None = None) -> Environment:
    """The variables of docs/configuration.md. A variable that is set but blank is a fault: it never means its default."""
    variables = os.environ if variables is None else variables
    faults = [f"{name} is set but empty; give it a value or unset it" for name in _VARIABLES if not variables.get(name, "x").strip()]
    given = variables.get("CMSMCP_SECRET_KEY", "")
    secrets = tuple(part.strip().encode() for part in given.split(",") if part.strip())
    if given.strip() and not secrets:
        faults.append("CMSMCP_SECRET_KEY is set but holds no key; give it one, or several with commas between, or unset it")
    listed = variables.get("CMSMCP_CAPABILITIES", "").strip()
    packages = tuple(part.strip() for part in listed.split(",")) if listed else ()
    strange = [name for name in packages if not _PACKAGE.fullmatch(name)]
    if strange:
        faults.append(f"CMSMCP_CAPABILITIES: {strange[0][:80]!r} is no name of a package; give it names as in import, with commas between")
    if faults:
        raise SettingsError(*faults)
    state = variables.get("CMSMCP_STATE_DIR")
    site = variables.get("CMSMCP_SITE")
    state_dir, folder = (Path(named).expanduser() if named else None for named in (state, site))
    return Environment(variables.get("REDIS_URL"), secrets, state_dir, folder, packages)


_VARIABLES = ("REDIS_URL", "CMSMCP_SECRET_KEY", "CMSMCP_STATE_DIR", "CMSMCP_SITE", "CMSMCP_CAPABILITIES")
_PACKAGE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def environment_elsewhere(environment: Environment) -> dict[str, str]:
    """Our environment for a process of ours that is started in another folder."""
    state = environment.state_dir
    return {**os.environ, "CMSMCP_STATE_DIR": str(state.resolve())} if state is not None else dict(os.environ)


def find_site(folder: Path, named_by: str = "--site DIR") -> Path:
    """The real path of a site folder. Raises SettingsError that says what is missing."""
    if not folder.is_dir():
        raise SettingsError(f"{folder} is no folder; name a site with {named_by}, or make one with: {program()} init {quote(str(folder))}")
    if not (folder / BASE).is_file():
        way_out = f"Name a site with {named_by}, or make a small one with: {program()} init my-site"
        raise SettingsError(f"{os.path.abspath(folder)} is no site: {BASE} is missing. {way_out}")  # noqa: PTH100
    return folder.resolve()


def overlooked(choice: SiteChoice) -> tuple[str, ...]:
    """What the choice names and does not find, where that stops nothing: an environment without its file (Foundry passes over it too)."""
    if not (choice.folder / BASE).is_file():
        return ()  # whoever opens the site says so
    fault = missing_environment(choice.folder, choice.env)
    return (f"{fault}; only site.yaml is read",) if fault else ()


def state_folder(root: Path, environment: Environment) -> Path:
    """Where everything derived from this site lives, outside it; made (0700) if need be. `root` is a real path."""
    base = environment.state_dir
    if base is None:
        import platformdirs

        base = Path(platformdirs.user_state_dir("cmsmcp", appauthor=False))
    base = base.resolve()
    if base == root or root in base.parents:
        raise SettingsError("the state folder lies inside the site, which is never written to; set CMSMCP_STATE_DIR to a folder outside it")
    name = re.sub(r"[^a-z0-9]+", "-", root.name.lower()).strip("-")[:32] or "site"
    folder = base / f"{name}-{sha256(os.fsencode(root)).hexdigest()[:12]}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        way_out = "set CMSMCP_STATE_DIR to a writable folder"
        raise SettingsError(f"the state folder {folder} cannot be made ({error.strerror}); {way_out}") from None
    return folder


def load_settings(root: Path, env: str = "", overlays: Sequence[Path] = ()) -> Settings:
    """Our blocks of the layered configuration. Raises SettingsError with every fault, `file:line: key message`, before anything starts."""
    try:
        layers = read_layers(root, env, overlays)
    except ConfigFault as fault:
        raise SettingsError(*map(_unreadable, fault.faults)) from None
    node = layers.tree
    unread = [_unreadable(fault) for fault in layers.faults if fault.key != "deploy.default_target"]  # that one is the site's own
    values, faults = read(node)
    if not faults:
        faults = _faults_between_keys(node, values)
    if faults or unread:
        raise SettingsError(*unread, *faults)
    name, name_fault = _name(node.entries.get("name"), root)
    refusal = None if values["mcp"]["enabled"] else _not_enabled(node.entries)
    retention = values["governance"]["audit_retention"]
    return Settings(name, _policy(values), _door(values["mcp"]), _api(values["api"]), refusal, retention, name_fault)


def _name(node: Any, root: Path) -> tuple[str, Found | None]:
    """The site's name, and what is wrong with it where several sites share one Redis: it is nobody's own."""
    given = "" if node is None or is_null(node) else getattr(node, "text", "").strip()
    if given not in ("", DEFAULT_NAME):
        return given, None
    what = f"is {DEFAULT_NAME}, as in every new Foundry project" if given else "is not set"
    why = "with REDIS_URL a site needs a name of its own, because its tokens, limits and audit stand in Redis under that name"
    file, line = (BASE, 1) if node is None else (node.file, node.line)
    return DEFAULT_NAME, Found(file, line, "name", f"{what}: {why}. Write, for example: name: {plain_name(root.name)}")


def plain_name(text: str) -> str:
    """A name for a site from that of its folder: small letters, digits and dashes."""
    name = re.sub(r"[\W_]+", "-", text.lower()).strip("-")[:32].strip("-")
    return "my-site" if name in ("", "null", DEFAULT_NAME) else name


def _unreadable(fault: YamlFault) -> Found:
    return Found(fault.file, fault.line, "", fault.message)


def _not_enabled(entries: Mapping[str, Any]) -> str:
    if "mcp" in entries:
        return f"MCP is disabled for this site: mcp.enabled is not true in {BASE}"
    like = next((f', but an unknown key "{name[:60]}".{meant}' for name in entries if (meant := near(name, ("mcp",)))), ".")
    return f"MCP is not enabled for this site: {BASE} has no mcp block{like} Write: mcp: {{enabled: true}}"


def _faults_between_keys(root: Any, values: Mapping[str, Any]) -> list[Found]:
    rate = values["mcp"]["rate_limit"]
    faults = []
    for name, cost in rate.get("costs", {}).items():
        if cost > rate["burst"]:
            at = root.entries["mcp"].entries["rate_limit"].entries["costs"].entries[name]
            why = f"is {cost}, more than the burst of {rate['burst']}: it could never be admitted"
            faults.append(Found(at.file, at.line, f"mcp.rate_limit.costs.{name}", why))
    issuers = values["mcp"]["issuers"]
    if issuers:
        at = root.entries["mcp"].entries["issuers"]
        if values["mcp"]["public_url"] is None:
            faults.append(Found(at.file, at.line, "mcp.issuers", "needs mcp.public_url: clients are told which server a token is for"))
        if len({issuer["issuer"] for issuer in issuers}) < len(issuers):
            faults.append(Found(at.file, at.line, "mcp.issuers", "names one issuer twice"))
    return faults


def _policy(values: Mapping[str, Any]) -> Policy:
    mcp, rate = values["mcp"], values["mcp"]["rate_limit"]
    return Policy(
        enabled=mcp["enabled"],
        audit=mcp["audit"],
        scopes=frozenset(READ_SCOPES if mcp["scopes"] is None else mcp["scopes"]),
        max_concurrency=mcp["max_concurrency"],
        rate=Rate(rate["requests_per_minute"], rate["burst"], rate.get("costs", {})),
        overrides={name: Override(**_given(entry)) for name, entry in mcp.get("capabilities", {}).items()},
        max_request_bytes=mcp["max_request_bytes"],
        audit_arguments=values["governance"]["audit_arguments"],
        max_streams=mcp["max_streams"],
        max_concurrency_per_client=_share_of_a_client(mcp),
    )


def _share_of_a_client(mcp: Mapping[str, Any]) -> int | None:
    """None where nobody is told from anybody else."""
    if mcp["auth"] == "none":
        return None
    given: int | None = mcp["max_concurrency_per_client"]
    return share_of_a_client(mcp["max_concurrency"]) if given is None else given


def _given(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value is not NO_DEFAULT}


def _door(mcp: Mapping[str, Any]) -> Door:
    issuers = tuple(Issuer(one["issuer"], one["jwks_url"], one["audience"]) for one in mcp["issuers"])
    return Door(
        mcp["auth"], mcp["public_url"], mcp["allowed_hosts"], mcp["allowed_origins"], mcp["trusted_proxies"], mcp["max_request_bytes"],
        issuers,
    )


def _api(api: Mapping[str, Any]) -> Api:
    return Api(api["enabled"], Rate(api["rate_limit"]["requests_per_minute"], api["rate_limit"]["burst"]), api["cors"])
