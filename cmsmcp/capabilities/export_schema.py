"""The content types for programs: what generators and validators take."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from cmsmcp import __version__
from cmsmcp.capabilities._documents import text
from cmsmcp.core.capability import Call, tool
from cmsmcp.schema.catalog import catalog_of
from cmsmcp.schema.exports import FORMATS, export


class Input(Schema):
    format = fields.String(required=True, validate=validate.OneOf(FORMATS), metadata={"description": "What to write"})
    type = text("One content type; omit for all")


class Output(Schema):
    schema_hash = fields.String(required=True)
    text = fields.String(required=True)


@tool(
    scope="read:content", audit="schema.read", title="Export schema", input=Input, output=Output, hint="Ask for one type with type.",
    example={"format": "typescript", "type": "post"},
)
def export_schema(arguments, call: Call):
    """Export the content types as JSON Schema, TypeScript, OpenAPI or GraphQL SDL."""
    catalog = catalog_of(call.site.types)
    return {"schema_hash": catalog.digest, "text": export(catalog, arguments["format"], arguments.get("type"), __version__, indent=False)}
