"""Logs pass the same rule as replies (docs/rules.md, Redaction)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from io import StringIO

import pytest

from cmsmcp.bootstrap.logs import redact_logs
from cmsmcp.governance.redaction import MARK

TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def log() -> Iterator[tuple[logging.Logger, StringIO]]:
    before, written = logging.getLogRecordFactory(), StringIO()
    logger, handler = logging.getLogger("tests.redacted"), logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
    redact_logs()
    redact_logs()
    yield logger, written
    logging.setLogRecordFactory(before)
    logger.removeHandler(handler)


def test_no_message_and_no_traceback_holds_a_secret(log: tuple[logging.Logger, StringIO]) -> None:
    """Arguments, errors, arguments that do not fit, and names as gunicorn's access log fills them in."""
    logger, written = log
    logger.warning("no page %s, %d times", TOKEN, 3)
    try:
        raise ValueError(f"DB_PASSWORD={TOKEN[4:]}")
    except ValueError:
        logger.exception("broken at %r", {"password": "bilby9"})
    logger.warning("%d of them", TOKEN)
    logger.warning("%(r)s", {"r": f"GET /api/page?q={TOKEN}"})
    text = written.getvalue()
    assert TOKEN[4:] not in text and "bilby9" not in text
    assert f"no page {MARK}, 3 times" in text and "Traceback (most recent call last)" in text and "ValueError: DB_PASSWORD=" in text
    assert f"GET /api/page?q={MARK}" in text
