"""What the operator allows: the `mcp` and `governance` blocks of `site.yaml`, already checked (settings.py fills this in).

Knows the defaults of the seed. Must not know files, the environment or any library: every door imports it early.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

DEFAULT_REQUESTS_PER_MINUTE = 600
DEFAULT_BURST = 120
MAX_REQUESTS_PER_MINUTE = 60_000_000
MAX_BURST = 60_000_000
DEFAULT_MAX_CONCURRENCY = 16
DEFAULT_MAX_STREAMS = 1_000
DEFAULT_MAX_REQUEST_BYTES = 8 * 1024 * 1024


def _no_entries() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests a client may make: a steady `requests_per_minute` beside `burst` at once. `costs` is units per capability name.

    ValueError says which number is out of bounds. A cost above the burst could never be admitted, so it is refused here.
    """

    requests_per_minute: int = DEFAULT_REQUESTS_PER_MINUTE
    burst: int = DEFAULT_BURST
    costs: Mapping[str, int] = field(default_factory=_no_entries)

    def __post_init__(self) -> None:
        _within("requests_per_minute", self.requests_per_minute, MAX_REQUESTS_PER_MINUTE)
        _within("burst", self.burst, MAX_BURST)
        for name, cost in self.costs.items():
            _within(f"costs.{name}", cost, MAX_BURST)
            if cost > self.burst:
                raise ValueError(f"costs.{name} is {cost}, more than the burst of {self.burst}: it could never be admitted")

    def cost(self, capability: str) -> int:
        """Units that one call of `capability` takes; 1 unless configured."""
        return self.costs.get(capability, 1)


@dataclass(frozen=True, slots=True)
class Override:
    """What the operator changed about one capability; None leaves its own declaration. Seconds and bytes."""

    enabled: bool | None = None
    timeout: float | None = None
    max_result: int | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules in force for one server. Nothing is served unless `enabled`, which is off by default (F46).

    `max_concurrency_per_client` None: there is but one client, and what the site may run it may.
    """

    enabled: bool = False
    audit: bool = False
    scopes: frozenset[str] = frozenset()
    max_concurrency: int = DEFAULT_MAX_CONCURRENCY
    rate: Rate = field(default_factory=Rate)
    overrides: Mapping[str, Override] = field(default_factory=_no_entries)
    max_request_bytes: int = DEFAULT_MAX_REQUEST_BYTES
    audit_arguments: bool = False
    max_streams: int = DEFAULT_MAX_STREAMS
    max_concurrency_per_client: int | None = None

    def enables(self, capability: str, by_default: bool) -> bool:
        """Whether a capability of that name is offered here; `by_default` is its own declaration."""
        override = self.overrides.get(capability)
        return by_default if override is None or override.enabled is None else override.enabled


def share_of_a_client(max_concurrency: int) -> int:
    """Permits that one client may hold unless configured: never all of them, except of a single one."""
    return max(1, 3 * max_concurrency // 4)


def _within(name: str, value: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ValueError(f"{name} must be a whole number from 1 to {most}, not {value!r}")
