"""Documents by filter (F14)."""

from marshmallow import fields

from cmsmcp.capabilities._documents import SUMMARY_FIELDS, PageInput, PageOutput, SummarySchema, projection, status, summary_of, text
from cmsmcp.core.capability import Call, tool
from cmsmcp.protocol.errors import InvalidArguments


class Input(PageInput):
    type = text("Content type")
    lang = text("Language or locale")
    status = status()
    tag = text("Term of tags")
    taxonomy = text("Taxonomy; needs term")
    term = text("Term of taxonomy")
    updated_after = text("ISO date or time, inclusive", most=40)
    updated_before = text("ISO date or time, exclusive", most=40)
    fields_ = projection(SUMMARY_FIELDS)


class Output(PageOutput):
    items = fields.List(fields.Nested(SummarySchema), required=True)


@tool(
    scope="read:content", audit="content.list", title="List documents", input=Input, output=Output,
    example={"type": "page", "limit": 5}, hint="Lower limit, or name the keys you need in fields.",
)
def list_documents(arguments, call: Call):
    """List documents by URL, filtered by type, language, status, taxonomy term or time of change."""
    page = call.site.content.list_documents(
        type=arguments.get("type"),
        lang=arguments.get("lang"),
        taxonomy=_taxonomy(arguments),
        visibility=call.visibility(arguments.get("status")),
        updated_after=arguments.get("updated_after"),
        updated_before=arguments.get("updated_before"),
        limit=arguments["limit"],
        cursor=arguments.get("cursor"),
        deadline=call.deadline,
    )
    items = [summary_of(document, arguments.get("fields")) for document in page.items]
    return {"items": items, "total": page.total, "next_cursor": page.next_cursor}


def _taxonomy(arguments) -> dict[str, str]:
    if ("taxonomy" in arguments) != ("term" in arguments):
        raise InvalidArguments("taxonomy and term belong together: give both or neither.", argument="term")
    chosen = {"tags": arguments["tag"]} if "tag" in arguments else {}
    if "taxonomy" in arguments:
        if arguments["taxonomy"] in chosen:
            raise InvalidArguments("Give either tag, or taxonomy and term, not both for the same taxonomy.", argument="tag")
        chosen[arguments["taxonomy"]] = arguments["term"]
    return chosen
