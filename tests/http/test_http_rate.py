"""The rate limit across workers, to the unit, over real HTTP (F45; docs/rules.md, Limits)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("workers", [2, 4])
def test_burst_and_rate_are_admitted_and_not_one_more(workers: int) -> None:
    """A short span and a long interval between units, so that a slow machine cannot blur the count; bench/rate.py has the whole minute."""
    command = [sys.executable, "-m", "bench.rate", "--workers", str(workers), "--per-minute", "120", "--burst", "100", "--seconds", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    figure = json.loads(done.stdout)
    assert figure["admitted"] == figure["expected"] == 108
    assert figure["sent"] > 150, "enough was asked for to be refused"
    assert len(figure["connections_per_worker"]) == workers and min(figure["connections_per_worker"]) >= 1
    assert figure["other_statuses"] == []
