"""Scopes: their names, the CMS capability behind each, and the two questions every door asks.

May a caller use something that needs a scope (`missing`, `allowed`, `require`), and which documents may it see (`visibility`)?
Knows roles and rights (F37, F38). Must not know tokens, documents or transports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cmsmcp.core.ports import STATUSES, Caller, Visibility
from cmsmcp.governance.policy import Policy
from cmsmcp.protocol.errors import InvalidArguments, ScopeRefused

READ_CONTENT = "read:content"
READ_SCHEMA = "read:schema"
READ_UNPUBLISHED = "read:unpublished"
DOCUMENTS_READ = "documents.read"
ANY_STATUS = "all"

# The seed's table, whole, and two of ours: scope -> CMS capability.
CAPABILITY_OF = MappingProxyType({
    READ_CONTENT: DOCUMENTS_READ,
    READ_SCHEMA: DOCUMENTS_READ,
    "read:docs": "dashboard.read",
    "read:themes": "themes.manage",
    "read:plugins": "plugins.manage",
    "read:ops": "dashboard.read",
    READ_UNPUBLISHED: DOCUMENTS_READ,
    "write:content": "documents.write",
    "publish:content": "documents.publish",
    "manage:plugins": "plugins.manage",
    "manage:themes": "themes.manage",
})
READ_SCOPES = frozenset({READ_CONTENT, "read:docs", "read:themes", "read:plugins", "read:ops"})
"""What a configuration without `scopes` enables (F5), and a token made without `--scope` holds. Drafts are for whoever is named."""
MUTATING_SCOPES = frozenset(scope for scope in CAPABILITY_OF if not scope.startswith("read:"))
IMPLIED_BY = MappingProxyType({READ_SCHEMA: READ_CONTENT})
"""A scope -> the one that opens it too, wherever scopes are listed: in the configuration, in a token, in an issuer's claims.

`read:schema` opens Plank's three resources and nothing else: a token that holds it alone is Plank's (P2)."""

OPERATOR_CAPABILITY_OF = MappingProxyType({"read:ops": "dashboard.read", "audit:read": "audit.read", "tokens:revoke": "users.manage"})
"""Scopes of an `operator` token, which opens `/ops` and nothing else; `site.yaml` does not list them."""

_EDITOR = ("dashboard.read", "audit.read", "media.read", "media.write", "media.lifecycle", "documents.create") + tuple(
    f"documents.{act}" for act in ("read", "write", "review", "history", "lifecycle", "diff")
)
ROLES = MappingProxyType({
    "admin": frozenset({"*"}),
    "editor": frozenset(_EDITOR),
    "author": frozenset({"dashboard.read", "documents.create", "media.read", "media.write"}
                        | {f"documents.{act}.own" for act in ("read", "write", "history", "lifecycle", "diff")}),
    "reviewer": frozenset({"dashboard.read", "documents.read", "documents.review", "documents.history", "documents.diff",
                           "media.read", "audit.read"}),
})
"""Foundry's roles (docs/rules.md, Tokens and roles). An unknown role holds nothing."""


@dataclass(frozen=True, slots=True)
class Rights:
    """What a new token is given."""

    scopes: frozenset[str]
    capabilities: frozenset[str]


def needed(scope: str, arguments: Mapping[str, object] | None) -> tuple[str, ...]:
    """Every scope that a call with these arguments needs, when its capability needs `scope`."""
    status = (arguments or {}).get("status")
    return (scope,) if status in (None, "", "published") else (scope, READ_UNPUBLISHED)


def missing(policy: Policy, caller: Caller, scope: str, every: Iterable[str] = ()) -> str | None:
    """Why `caller` may not use `scope`, in one line; None when it may. `every` scope its call needs is named in the way out:
    a token made with one of them alone would only be refused for the next.

    The scope must be enabled here, held by the caller, and backed by its CMS capability; `x.own` is enough at this gate
    (rows are filtered by `visibility`). Mutating scopes are reserved: no configuration opens them (F6).
    """
    capability = CAPABILITY_OF.get(scope)
    if capability is None:
        return f"There is no scope named {scope!r}."
    if scope in MUTATING_SCOPES:
        return f"The scope {scope} is reserved: this server only reads."
    if not _includes(policy.scopes, scope):
        return f"The scope {scope} is not enabled on this server. Its operator can add it to mcp.scopes."
    if not _includes(caller.scopes, scope):
        flags = " ".join(f"--scope {one}" for one in (tuple(every) or (scope,)))
        return f"This needs the scope {scope}, which this token does not hold. Use a token created with {flags}."
    if not _holds(caller, capability) and f"{capability}.own" not in caller.capabilities:
        return f"The scope {scope} needs the CMS capability {capability}, which this token's role does not hold."
    return None


def allowed(policy: Policy, caller: Caller, scope: str) -> bool:
    return missing(policy, caller, scope) is None


def require(policy: Policy, caller: Caller, scope: str, every: Iterable[str] = ()) -> None:
    """Raise ScopeRefused unless `caller` may use `scope`, one of `every` scope its call needs."""
    reason = missing(policy, caller, scope, every)
    if reason is not None:
        raise ScopeRefused(reason, scopes=tuple(every) or (scope,))


def visibility(policy: Policy, caller: Caller, status: str | None, scope: str = "read:content") -> Visibility:
    """Which documents `caller` sees when it asks for `status`: one of STATUSES, or "all". None is published (F14).

    `scope` is that of the capability which asks.

    Anything but published needs `read:unpublished` and exact `documents.read`; with `documents.read.own` alone, unpublished
    documents narrow to those of the caller's subject. An unknown status raises InvalidArguments, a lacking right ScopeRefused.
    """
    if status is None or status == "published":
        return Visibility()
    if status != ANY_STATUS and status not in STATUSES:
        known = ", ".join((*STATUSES, ANY_STATUS))
        raise InvalidArguments(f"There is no status {str(status)[:40]!r}. Use one of: {known}.", argument="status")
    every = (scope, READ_UNPUBLISHED)
    require(policy, caller, READ_UNPUBLISHED, every)
    statuses = frozenset(STATUSES) if status == ANY_STATUS else frozenset({status})
    if _holds(caller, DOCUMENTS_READ):
        return Visibility(statuses)
    if caller.subject is None:
        reason = "documents.read.own shows a person's own documents, and this token names no subject."
        raise ScopeRefused(reason, scopes=every)
    return Visibility(statuses, owner=caller.subject)


def token_rights(access: str, scopes: Iterable[str] | None = None, roles: Iterable[str] = ()) -> Rights:
    """What `tokens create` puts into a token. ValueError names an unknown or reserved scope, or an unknown role.

    Without `scopes`: every read scope of the seed (`read:unpublished` only by name); for an operator, every operator scope.
    Without `roles`: the capabilities those scopes map to; with them, what the roles hold.
    """
    table = OPERATOR_CAPABILITY_OF if access == "operator" else CAPABILITY_OF
    grantable = frozenset(table) - MUTATING_SCOPES
    default = grantable if access == "operator" else READ_SCOPES
    granted = default if scopes is None else frozenset(scopes)
    for scope in sorted(granted - grantable):
        why = "is reserved" if scope in MUTATING_SCOPES else "does not exist"
        raise ValueError(f"The scope {scope!r} {why}. Use one of: {', '.join(sorted(grantable))}.")
    roles = tuple(roles)
    for role in roles:
        if role not in ROLES:
            raise ValueError(f"There is no role {role!r}. Use one of: {', '.join(ROLES)}.")
    capabilities = frozenset().union(*(ROLES[role] for role in roles)) if roles else frozenset(table[scope] for scope in granted)
    return Rights(granted, capabilities)


def completion_scope(scope: str) -> str:
    """What it takes to complete the arguments of a capability that needs `scope`: that, unless it opens its resources and nothing else."""
    return IMPLIED_BY.get(scope, scope)


def _includes(scopes: frozenset[str], scope: str) -> bool:
    return scope in scopes or IMPLIED_BY.get(scope) in scopes


def _holds(caller: Caller, capability: str) -> bool:
    return capability in caller.capabilities or "*" in caller.capabilities


