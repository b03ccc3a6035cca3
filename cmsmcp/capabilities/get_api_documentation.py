"""The API definition of the project (F18)."""

from marshmallow import Schema, fields

from cmsmcp.capabilities._documents import text
from cmsmcp.core.capability import Call, tool
from cmsmcp.protocol.errors import InvalidArguments


class Input(Schema):
    path = text("One path of it, such as /orders/{id}; omit for all", most=1_000)


class Output(Schema):
    path = fields.String(required=True, metadata={"description": "File of the site"})
    format = fields.String(required=True)
    version = fields.String(allow_none=True)
    title = fields.String(allow_none=True)
    definition = fields.Dict(keys=fields.String(), values=fields.Raw(), required=True)


@tool(
    scope="read:docs", audit="docs.api", title="Get API documentation", input=Input, output=Output,
    hint="Ask for one path of the definition with path.", isolated=True,
)
def get_api_documentation(arguments, call: Call):
    """Read the API definition (OpenAPI), whole or one path of it."""
    api = call.site.docs.api_definition()
    wanted = arguments.get("path")
    if wanted is None:
        return api
    paths = api["definition"].get("paths")
    if not isinstance(paths, dict) or wanted not in paths:
        known = ", ".join(list(paths)[:50]) if isinstance(paths, dict) else "none"
        raise InvalidArguments(f"The API definition has no path {wanted!r}. It has: {known}.", argument="path")
    return {**api, "definition": {"paths": {wanted: paths[wanted]}}}
