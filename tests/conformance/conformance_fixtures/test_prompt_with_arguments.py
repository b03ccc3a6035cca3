"""A prompt of two arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields

from cmsmcp.core.capability import Call
from conformance_fixtures._blocks import fixture_prompt


class Arguments(Schema):
    arg1 = fields.String(required=True, metadata={"description": "The first."})
    arg2 = fields.String(required=True, metadata={"description": "The second."})


def values(typed: str, others: Mapping[str, str], call: Call) -> list[str]:
    return ["testing", "tests", "other"]


@fixture_prompt(input=Arguments, complete={"arg1": values})
def test_prompt_with_arguments(arguments: Mapping[str, Any], call: Call) -> str:
    """Repeat two arguments."""
    return f"The first is {arguments['arg1']}, the second {arguments['arg2']}."
