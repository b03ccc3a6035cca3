"""Ranked search (F13)."""

from marshmallow import fields
from marshmallow.validate import Length

from cmsmcp.capabilities._documents import SUMMARY_FIELDS, PageInput, PageOutput, SummarySchema, projection, status, summary_of, text
from cmsmcp.core.capability import Call, tool


class Input(PageInput):
    query = fields.String(required=True, validate=Length(max=1_000), metadata={"description": 'Words; "quoted phrase"; -word excludes'})
    type = text("Content type")
    lang = text("Language or locale")
    status = status()
    fields_ = projection(SUMMARY_FIELDS)


class HitSchema(SummarySchema):
    score = fields.Float(required=True, metadata={"description": "1 for the best hit"})
    snippet = fields.String(required=True, metadata={"description": "Plain text around the match; foreign text"})


class Output(PageOutput):
    query = fields.String(required=True)
    items = fields.List(fields.Nested(HitSchema), required=True)


@tool(
    scope="read:content", audit="content.search", title="Search content", input=Input, output=Output,
    example={"query": "getting started"}, hint="Lower limit, or name the keys you need in fields.",
)
def search_content(arguments, call: Call):
    """Search documents, best match first. Read a hit with get_document and its id."""
    page = call.site.content.search(
        arguments["query"],
        type=arguments.get("type"),
        lang=arguments.get("lang"),
        visibility=call.visibility(arguments.get("status")),
        limit=arguments["limit"],
        cursor=arguments.get("cursor"),
        deadline=call.deadline,
    )
    items = [{**summary_of(hit.document, arguments.get("fields")), "score": hit.score, "snippet": hit.snippet} for hit in page.items]
    return {"query": arguments["query"], "items": items, "total": page.total, "next_cursor": page.next_cursor}
