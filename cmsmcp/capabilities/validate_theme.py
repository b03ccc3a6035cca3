"""Faults of a theme (F21). Applies nothing."""

from marshmallow import Schema, fields

from cmsmcp.capabilities._reports import diagnostics
from cmsmcp.capabilities._themes import ThemeInput
from cmsmcp.core.capability import Call, tool


class Output(Schema):
    name = fields.String(required=True)
    active = fields.Boolean(required=True)
    valid = fields.Boolean(required=True)
    diagnostics = diagnostics(required=True)


@tool(
    scope="read:themes", audit="themes.validate", title="Validate theme", input=ThemeInput, output=Output, example={"name": "default"},
    isolated=True,
)
def validate_theme(arguments, call: Call):
    """Check a theme's layouts, slots, field contracts and templates, without applying anything."""
    return call.site.themes.validate(arguments.get("name"), call.deadline)
