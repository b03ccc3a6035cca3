"""Menus and the published page index (F16)."""

from marshmallow import Schema, fields

from cmsmcp.capabilities._documents import text
from cmsmcp.core.capability import Call, tool


class Input(Schema):
    lang = text("Language of the page index")


class EntrySchema(Schema):
    name = fields.String(required=True)
    url = fields.String(required=True)


class LeafSchema(EntrySchema):
    """The third level is the last (docs/rules.md, Menus and redirects)."""


class BranchSchema(EntrySchema):
    items = fields.List(fields.Nested(LeafSchema))


class MenuSchema(EntrySchema):
    items = fields.List(fields.Nested(BranchSchema))


class PageSchema(Schema):
    id = fields.String(required=True)
    title = fields.String(required=True)
    url = fields.String(required=True)
    lang = fields.String(required=True)
    type = fields.String(required=True)


class Output(Schema):
    menus = fields.Dict(keys=fields.String(), values=fields.List(fields.Nested(MenuSchema)), required=True)
    pages = fields.List(fields.Nested(PageSchema), required=True)
    truncated = fields.Boolean(required=True, metadata={"description": "More pages exist; use list_documents"})


@tool(
    scope="read:content", audit="content.navigation", title="Get navigation", input=Input, output=Output,
    hint="Use list_documents with a limit instead.",
)
def get_navigation(arguments, call: Call):
    """Read the navigation menus and the index of published pages."""
    return call.site.content.get_navigation(lang=arguments.get("lang"), deadline=call.deadline)
