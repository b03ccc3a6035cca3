"""Admission shared by every worker and host of a site: one script decides (`admission.lua`), Redis keeps the state.

Knows keys, arguments and what a reply means. Must not know the arithmetic, which is the script's, nor what is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from cmsmcp.core.ports import Ask, Verdict
from cmsmcp.governance.policy import Policy
from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis.client import Client
from cmsmcp.state.redis.keys import Keys
from cmsmcp.state.redis.script import Script

MAX_LEASE_MS = 6 * 3_600_000
"""Longer than any work; shorter than the life of the permits' key."""
KEEP_PERMITS_MS = 86_400_000
ASKED_MS = 5_000
"""How long it is known that a request without a permit was admitted: it is asked again at once, or not at all."""
DOUBT_SECONDS = 30.0
"""How long permits are taken back whose admission never answered: a stalled Redis may still grant them once it goes on."""
_WITHDRAW_EVERY = 0.2
MAX_DOUBTFUL = 10_000
_REASONS = (None, "rate", "concurrency", "revoked", "streams", "concurrency")
_OWN = 5
"""The number that stands for the client's own cap."""
_SCRIPT = Script("admission.lua")


class RedisAdmission:
    """Implements `core.ports.Admission`. An outage of Redis is Unavailable, never an admission (fail closed).

    `bucket` keeps the rate of one door apart from that of another; permits, tokens and the audit are the site's.
    """

    def __init__(
        self, client: Client, policy: Policy, site: str, bucket: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._clock = clock
        self._doubtful: dict[str, tuple[Ask, float]] = {}
        self._withdrawn_at = 0.0
        self._bucket = bucket
        self._keys = Keys(site)
        self._rate = (policy.rate.requests_per_minute, policy.rate.burst)
        self._max_concurrency = policy.max_concurrency
        self._max_of_client = policy.max_concurrency_per_client or 0
        self._max_streams = policy.max_streams

    def admit(self, ask: Ask) -> Verdict:
        try:
            verdict = self._ask(ask)
        except Unavailable:
            if ask.permit and len(self._doubtful) < MAX_DOUBTFUL:
                self._doubtful[ask.event_id] = (ask, self._clock() + DOUBT_SECONDS)
            raise
        if self._doubtful:
            self._withdraw()  # Redis answers again; before that it would only cost another wait
        return verdict

    def _withdraw(self) -> None:
        """Give back what may have been granted to calls that were told they are not served. Again for a while: the old
        connection's commands may run after these."""
        now = self._clock()
        if now - self._withdrawn_at < _WITHDRAW_EVERY:
            return
        self._withdrawn_at = now
        doubtful = list(self._doubtful.values())
        try:
            self._client.post([("ZREM", key, *ids) for key, ids in self._places([ask for ask, _ in doubtful]).items()])
        except Unavailable:
            return
        for ask, until in doubtful:
            if now >= until:
                self._doubtful.pop(ask.event_id, None)

    def _ask(self, ask: Ask) -> Verdict:
        keys = self._keys
        intent = _flat(ask.intent)
        permits, most = (keys.streams, self._max_streams) if ask.stream else (keys.permits, self._max_concurrency)
        wanted = (1 + int(ask.stream)) * int(ask.permit)
        lease_ms = min(ask.lease_ms, MAX_LEASE_MS)
        if not wanted:
            permits, lease_ms = keys.asked, ASKED_MS
        own = self._max_of_client if self._counts_for_client(ask) else 0
        reason, retry_after_ms, remaining, reset_ms = _SCRIPT.run(
            self._client,
            (
                keys.rate(self._bucket + ask.client), permits, keys.token(ask.token_id or "none"), keys.audit,
                keys.permits_of(ask.client),
            ),
            (
                *self._rate, ask.cost, wanted, most, lease_ms, ask.event_id,
                int(ask.registered), len(intent), own, *intent, *_flat(ask.refusal),
            ),
        )
        return Verdict(_REASONS[reason], retry_after_ms, remaining, reset_ms, own=reason == _OWN)

    def renew(self, asks: Collection[Ask], lease_ms: int) -> None:
        """On Redis's clock. A full Redis refuses it, but then it admits nothing either."""
        places = self._places(asks)
        if not places:
            return
        seconds, microseconds = self._client.need([("TIME",)])[0]
        lapses = int(seconds) * 1000 + int(microseconds) // 1000 + min(lease_ms, MAX_LEASE_MS)
        self._client.need([
            command
            for key, ids in places.items()
            for command in (
                ("ZADD", key, "XX", "GT", *(text for event_id in ids for text in (lapses, event_id))), ("PEXPIRE", key, KEEP_PERMITS_MS),
            )
        ])  # fmt: skip

    def release(self, ask: Ask, outcome: Mapping[str, str] | None) -> None:
        """Written to the socket before this returns, acknowledged later: the reply need not wait, and the permit is free at once.

        Single commands and no script, because a full Redis refuses scripts that write but still lets a permit go.
        """
        commands: list[tuple[Any, ...]] = [("ZREM", key, *ids) for key, ids in self._places((ask,)).items()]
        if outcome is not None:
            commands.append(("XADD", self._keys.audit, "*", *_flat(outcome)))
        if commands:
            self._client.post(commands)

    def record(self, event: Mapping[str, str]) -> None:
        self._client.need([("XADD", self._keys.audit, "*", *_flat(event))])

    def _counts_for_client(self, ask: Ask) -> bool:
        return ask.permit and not ask.stream and self._max_of_client > 0

    def _places(self, asks: Collection[Ask]) -> dict[str, list[str]]:
        """The keys that hold these permits, the client's before the site's, each with its event ids."""
        found: dict[str, list[str]] = {}
        for ask in asks:
            if self._counts_for_client(ask):
                found.setdefault(self._keys.permits_of(ask.client), []).append(ask.event_id)
            if ask.permit:
                found.setdefault(self._keys.streams if ask.stream else self._keys.permits, []).append(ask.event_id)
        return found


def _flat(record: Mapping[str, str] | None) -> list[str]:
    return [text for name, value in (record or {}).items() for text in (name, value)]
