"""The names of everything one site keeps in Redis, in one hash tag, so that one script may touch them all in a cluster.

`cmsmcp:{<site>}:audit` and its fields are a public contract (governance/audit.py); the others are ours alone.
"""

from __future__ import annotations

import re
from hashlib import blake2b


class Keys:
    def __init__(self, site: str) -> None:
        self._prefix = f"cmsmcp:{{{_plain(site)}}}:"
        self.permits = self._prefix + "permits"
        self.streams = self._prefix + "streams"
        self.probes = [self._prefix + "probe:" + kind for kind in ("string", "hash", "set", "stream")]
        self.asked = self._prefix + "asked"
        self.bus = self._prefix + "bus"
        self.audit = self._prefix + "audit"
        self.tokens = self._prefix + "tokens"
        self.signers = self._prefix + "signers"
        self.tasks = self._prefix + "tasks"
        self.running = self._prefix + "tasks-running"

    def rate(self, client: str) -> str:
        return f"{self._prefix}rate:{_plain(client)}"

    def permits_of(self, client: str) -> str:
        return f"{self._prefix}permits-of:{_plain(client)}"

    def token(self, jti: str) -> str:
        return f"{self._prefix}token:{_plain(jti)}"

    def session(self, session: str) -> str:
        return f"{self._prefix}session:{_digest(session)}"

    def reply(self, session: str, id: str) -> str:
        return f"{self._prefix}reply:{_digest(session, id)}"

    def events(self, session: str, stream: str) -> str:
        return f"{self._prefix}events:{_digest(session, stream)}"

    def task(self, id: str) -> str:
        return f"{self._prefix}task:{_digest(id)}"

    def tasks_of(self, client: str) -> str:
        return f"{self._prefix}tasks-of:{_plain(client)}"


def _digest(*names: str) -> str:
    """Session ids are secrets of their clients: whoever lists our keys learns none."""
    said = b"".join(b"%d:%s" % (len(encoded), encoded) for encoded in (name.encode(errors="surrogatepass") for name in names))
    return blake2b(said, digest_size=16).hexdigest()


def _plain(name: str) -> str:
    """As it is when it is short and plain; else a readable start and a digest."""
    if re.fullmatch(r"[A-Za-z0-9._:@-]{1,64}", name):
        return name
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=10).hexdigest()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:24] + "~" + digest
