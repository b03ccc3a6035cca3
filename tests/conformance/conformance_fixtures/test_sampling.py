"""A question to the client's model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import said, sample, sampled, talking_tool


class Arguments(Schema):
    prompt = fields.String(required=True, metadata={"description": "What to ask the model."})


@talking_tool(requires={"sampling": {}}, input=Arguments)
def test_sampling(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the model of the client."""
    answer = call.dialogue.ask({"model": sample(arguments["prompt"], 100)})["model"]
    return said(f"The model says: {sampled(answer)}")
