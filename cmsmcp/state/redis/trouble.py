"""Why Redis does not serve us, in a sentence an operator can act on.

Knows what errors of Redis, of sockets and of TLS mean. A sentence holds no address, user or password: `/readyz` shows it to anyone.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass

from redis.exceptions import AuthenticationError, BusyLoadingError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeout

OLDEST = 7


@dataclass(frozen=True, slots=True)
class Trouble:
    """`word` names the kind. `away`: it does not answer at all, and how that shows may differ from one moment to the next."""

    word: str
    sentence: str
    away: bool = False


DOWN = Trouble("down", "nothing listens there: start Redis, or correct REDIS_URL", away=True)
UNKNOWN_HOST = Trouble("host", "its host name is not known: correct REDIS_URL, or mend the name service", away=True)
NO_SOCKET_RIGHT = Trouble("socket", "its socket may not be opened by this system user: mend the rights of the file and its folder")
SILENT = Trouble("timeout", "it does not answer in time: it hangs, is overloaded, or the network between drops what is sent", away=True)
CLOSED = Trouble(
    "closed", "it closes the connection without an answer: a TLS port wants rediss:// in REDIS_URL; else see its log and its maxclients",
    away=True,
)
NO_TLS = Trouble("tls", "it speaks no TLS on this port: in REDIS_URL write redis:// instead of rediss://, or name its TLS port")
NO_HANDSHAKE = Trouble(
    "tls",
    "it leaves the TLS handshake unanswered: it speaks no TLS on this port (write redis:// in REDIS_URL, or name its TLS port), or hangs",
    away=True,
)
TLS_WANTED = Trouble("tls", "it speaks TLS on this port: in REDIS_URL write rediss:// instead of redis://, or name its plain port")
NOT_REDIS = Trouble("protocol", "what answers there is no Redis: correct REDIS_URL")
LOADING = Trouble("loading", "it is reading its file back; it serves when it is done", away=True)
NO_DATABASE = Trouble("database", "it has no database of that number: correct REDIS_URL, or raise its databases")
NO_LOGIN = Trouble("login", "it wants a user and a password: put them into REDIS_URL")
WRONG_LOGIN = Trouble("login", "it refuses the user or the password: correct REDIS_URL")
_BY_WORD = {
    "NOAUTH": NO_LOGIN,
    "WRONGPASS": WRONG_LOGIN,
    "LOADING": LOADING,
    "READONLY": Trouble("readonly", "it is a read-only replica: let REDIS_URL name the primary"),
    "MASTERDOWN": Trouble("readonly", "it is a replica that has lost its primary: let REDIS_URL name the primary"),
    "OOM": Trouble("full", "its memory is full: raise maxmemory, or shorten governance.audit_retention"),
    "MISCONF": Trouble("disk", "it cannot write to its disk: free some there; else see its log"),
    "DENIED": Trouble("protected", "its protected mode refuses other machines: give it users and passwords (config/users.acl)"),
    "BUSY": Trouble("busy", "a script of somebody's blocks it: end that with SCRIPT KILL"),
    "NOREPLICAS": Trouble("replicas", "it has too few replicas to write: mend them, or lower min-replicas-to-write"),
    **dict.fromkeys(("MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT", "TRYAGAIN"), Trouble(
        "cluster", "it is one node of a cluster, which is not spoken here: use a Redis that keeps all of a site")),
}
_BY_ERROR: tuple[tuple[type[BaseException], Trouble], ...] = (
    (ssl.SSLError, NO_TLS), (socket.gaierror, UNKNOWN_HOST), (PermissionError, NO_SOCKET_RIGHT), (BusyLoadingError, LOADING),
)
_RIGHTS = "its user lacks rights: {}. Give it those of the user cmsmcp in config/users.acl"
_FORBIDDEN = re.compile(r"NOPERM|[Nn]o permissions|The user executing the script can't")
_COMMAND = re.compile(r"'([\w|]+)' command|command '([\w|]+)'")


def of_refusal(text: str) -> Trouble | None:
    """What an error reply means; None when it is part of a conversation in order (a script that is not known yet)."""
    word = text.split(" ", 1)[0]
    if word in ("NOSCRIPT", "EXECABORT"):
        return None
    if _FORBIDDEN.search(text):
        found = _COMMAND.search(text)
        return lacking([next(filter(None, found.groups()))] if found else [])
    if word in _BY_WORD:
        return _BY_WORD[word]
    if re.search(r"unknown (sub)?command|wrong number of arguments|syntax error|Unsupported option", text, re.IGNORECASE):
        return too_old("")
    if "max number of clients" in text:
        return Trouble("clients", "it has as many clients as it takes: raise its maxclients")
    if "DB index is out of range" in text:
        return NO_DATABASE
    return Trouble("refuses", f"it refuses a command ({re.sub(r'[^A-Z]', '', word)[:20] or 'ERR'}): see its log")


def lacking(commands: Iterable[str]) -> Trouble:
    """The user may not do this; blank when it is the keys that it may not touch."""
    names = ", ".join(sorted({f"+{name.lower()}" for name in commands})) or "the keys ~cmsmcp:*"
    return Trouble("rights", _RIGHTS.format(names))


def too_old(version: str) -> Trouble:
    return Trouble("old", f"it is too old{f' ({version})' if version else ''}: Redis {OLDEST} or newer is needed")


def of_error(error: BaseException, *, handshake: bool = False) -> Trouble:
    """What it means that no connection could be made, or that one broke. `handshake`: of TLS, at the beginning of a connection."""
    chain, text = list(_chain(error)), str(error)
    for one in chain:
        if isinstance(one, ssl.SSLCertVerificationError):
            why = re.sub(r"[^\w ,.-]", "", one.verify_message or "")[:80].rstrip(". ")
            return Trouble("certificate", f"its certificate is not trusted here, or names another host{f' ({why})' if why else ''}")
        for kind, trouble in _BY_ERROR:
            if isinstance(one, kind):
                return trouble
    if isinstance(error, AuthenticationError):
        return NO_LOGIN if "required" in text else WRONG_LOGIN
    if isinstance(error, ResponseError) or "max number of clients" in text:
        return of_refusal(text) or CLOSED
    if any(isinstance(one, TimeoutError | RedisTimeout) for one in chain):
        return NO_HANDSHAKE if handshake else SILENT
    if any(isinstance(one, ConnectionResetError | BrokenPipeError | EOFError) for one in chain) or "closed by server" in text:
        return CLOSED
    if any(isinstance(one, OSError) for one in chain):
        return DOWN
    return TLS_WANTED if "x15" in text else NOT_REDIS  # the first byte of an alert of TLS


def _chain(error: BaseException) -> Iterable[BaseException]:
    one: BaseException | None = error
    for _ in range(8):
        if one is None:
            return
        yield one
        one = one.__cause__ or one.__context__
