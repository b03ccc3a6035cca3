"""Headers of a reply that other code than ours reads: pages (RFC 8288), budgets (the IETF draft on RateLimit header fields). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from cmsmcp.core.ports import Verdict
from cmsmcp.governance.limits import ceil_div
from cmsmcp.governance.policy import Rate

POLICY = "api"
"""The name of the one budget of a client at this door."""
MAX_LINK = 2_048
"""Bytes. Proxies give all headers together some 4 KiB; the body has the cursor either way."""


def link_header(links: Mapping[str, str]) -> str | None:
    """Relative to the request's own URL, so that no proxy has to be known. None where there is nothing to say, or too much."""
    written = ", ".join(f'<?{query}>; rel="{relation}"' for relation, query in links.items())
    return written if 0 < len(written) <= MAX_LINK else None


def rate_policy(rate: Rate) -> str:
    """The quota is the burst, and the window the time in which all of it comes back."""
    return f'"{POLICY}";q={rate.burst};w={_window(rate)}'


def rate_left(rate: Rate, verdict: Verdict, now_ms: int) -> str:
    """What is left of the quota, and the seconds until all of it is back, by this host's clock."""
    wait = min(max(0, ceil_div(verdict.reset_ms - now_ms, 1000)), _window(rate))
    return f'"{POLICY}";r={max(0, verdict.remaining)};t={wait}'


def _window(rate: Rate) -> int:
    return max(1, ceil_div(60 * rate.burst, rate.requests_per_minute))
