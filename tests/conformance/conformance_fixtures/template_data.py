"""Data of an id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields

from cmsmcp.core.capability import Call
from conformance_fixtures._blocks import fixture_resource


class Data(Schema):
    id = fields.String(required=True)
    templateTest = fields.Boolean(required=True)
    data = fields.String(required=True)


@fixture_resource("test://template/{id}/data", title="Data of an id", output=Data)
def template_data(variables: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """Data that names its id."""
    return {"id": variables["id"], "templateTest": True, "data": f"Data of {variables['id']}"}
