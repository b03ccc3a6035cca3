"""A prompt with a resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields

from cmsmcp.core.capability import Call
from conformance_fixtures._blocks import embedded, fixture_prompt, text, user


class Arguments(Schema):
    resourceUri = fields.String(required=True, metadata={"description": "The URI of the resource."})


@fixture_prompt(input=Arguments)
def test_prompt_with_embedded_resource(arguments: Mapping[str, Any], call: Call) -> list[dict[str, Any]]:
    """Ask about a resource."""
    resource = embedded(arguments["resourceUri"], "The content of an embedded resource.")
    return [user(resource), user(text("Tell me about this resource."))]
