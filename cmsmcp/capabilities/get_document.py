"""One document (F15)."""

from marshmallow import Schema

from cmsmcp.capabilities._documents import DOCUMENT_FIELDS, DocumentSchema, projection, status, text, whole_of
from cmsmcp.core.capability import Call, tool


class Input(Schema):
    slug = text("Slug; with type or lang if ambiguous")
    url = text("URL path", most=2_000)
    id = text("Id, as lists return it", most=1_000)
    type = text("Content type")
    lang = text("Language or locale; its fallbacks apply")
    status = status()
    fields_ = projection(DOCUMENT_FIELDS)


@tool(
    scope="read:content", audit="content.read", title="Get document", input=Input, output=DocumentSchema,
    example={"slug": "about"}, hint="Name the keys you need in fields, without body.",
)
def get_document(arguments, call: Call):
    """Fetch one document, body included, by slug, url or id; several given must agree."""
    document = call.site.content.get_document(
        slug=arguments.get("slug"),
        url=arguments.get("url"),
        id=arguments.get("id"),
        type=arguments.get("type"),
        lang=arguments.get("lang"),
        visibility=call.visibility(arguments.get("status")),
        deadline=call.deadline,
    )
    return whole_of(document, arguments.get("fields"))
