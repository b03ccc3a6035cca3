"""The published documents of a type (F27)."""

from marshmallow import fields

from cmsmcp.capabilities._completion import types
from cmsmcp.capabilities._documents import MAX_LIMIT, PageOutput, SummarySchema, summary_of
from cmsmcp.core.capability import Call, resource


class Output(PageOutput):
    type = fields.String(required=True)
    items = fields.List(fields.Nested(SummarySchema), required=True)


@resource(
    "foundry://content/collections/{type}", scope="read:content", audit="content.list", title="Collection", output=Output,
    example={"type": "post"}, complete={"type": types}, hint="Use list_documents with a limit and name the keys you need in fields.",
    topics=lambda variables: [f"content/{variables['type']}", f"types/{variables['type']}"],
)
def content_collection(variables, call: Call):
    """The first 100 published documents of a type by URL; list_documents takes next_cursor further."""
    page = call.site.content.list_documents(
        type=variables["type"], lang=None, taxonomy={}, visibility=call.visibility(None),
        updated_after=None, updated_before=None, limit=MAX_LIMIT, cursor=None, deadline=call.deadline,
    )
    items = [summary_of(document, None) for document in page.items]
    return {"type": variables["type"], "items": items, "total": page.total, "next_cursor": page.next_cursor}
