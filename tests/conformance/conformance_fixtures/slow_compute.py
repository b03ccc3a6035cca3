"""Work that takes its time and can be cancelled."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields, validate

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import said, talking_tool


class Arguments(Schema):
    seconds = fields.Float(load_default=1.0, metadata={"description": "How long."}, validate=validate.Range(0, 100))
    label = fields.String(load_default="It", metadata={"description": "What to call the result."})


@talking_tool(input=Arguments, task="optional", timeout=120.0)
def slow_compute(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Compute for some seconds."""
    end = time.monotonic() + arguments["seconds"]
    while time.monotonic() < end:
        call.deadline.check()
        time.sleep(0.05)
    return said(f"{arguments['label']} is computed.")
