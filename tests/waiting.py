"""How tests wait: for what they wait for, up to a bound that a busy machine does not reach. What is timed is measured in `bench/`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0
"""Seconds. Nobody waits so long unless something is broken."""


def until(condition: Callable[[], Any], *, pause: float = 0.02) -> Any:
    """The first truthy value of `condition`, asked again after each `pause`; fails when there was none for PATIENCE seconds."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {PATIENCE:.0f} s"
        time.sleep(pause)
    return value
