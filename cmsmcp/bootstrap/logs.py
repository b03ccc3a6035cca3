"""Whatever this process logs passes redaction, whoever logs it: messages and tracebacks quote what was asked for and what was read."""

from __future__ import annotations

import logging
import traceback
from typing import Any


def redact_logs() -> None:
    """From now on, in this process. Once is enough."""
    make = logging.getLogRecordFactory()
    if getattr(make, "redacts", False):
        return

    def redacted(*arguments: Any, **more: Any) -> logging.LogRecord:
        from cmsmcp.governance.redaction import redact  # a process that logs nothing needs none of it

        record = make(*arguments, **more)
        if isinstance(record.args, dict):  # gunicorn fills in the lines of its access log by name
            record.args = redact(record.args)
        else:
            record.msg, record.args = redact(_said(record)), ()
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = redact("".join(traceback.format_exception(*record.exc_info)).rstrip("\n"))
        return record

    redacted.redacts = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(redacted)


def _said(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # arguments that do not fit: what was meant still shows
        return f"{record.msg} {record.args!r}"
