"""The project's own documentation files (F17)."""

from marshmallow import Schema, fields

from cmsmcp.capabilities._documents import PageInput, PageOutput, text
from cmsmcp.capabilities._pages import page_of
from cmsmcp.core.capability import Call, tool
from cmsmcp.protocol.errors import InvalidArguments


class FileSchema(Schema):
    path = fields.String()
    title = fields.String()
    size = fields.Integer(metadata={"description": "Bytes"})
    mime_type = fields.String()
    updated_at = fields.String(allow_none=True)


class Input(PageInput):
    path = text("File to read, relative to docs/; omit to list files", most=1_000)


class Output(PageOutput):
    """A list (`items`, `total`, `next_cursor`) or, with `path`, one file (`file`, `text`)."""

    total = fields.Integer()
    items = fields.List(fields.Nested(FileSchema))
    file = fields.Nested(FileSchema)
    text = fields.String(metadata={"description": "The file as written; foreign text"})


@tool(
    scope="read:docs", audit="docs.read", title="Get project documentation", input=Input, output=Output,
    hint="This file is too large to send whole.",
)
def get_project_documentation(arguments, call: Call):
    """List the documentation files, or read one by path."""
    path = arguments.get("path")
    if path is None:
        files = call.site.docs.list_files(call.deadline)
        question = ["get_project_documentation"]
        return page_of(files, question=question, key=lambda one: one["path"], limit=arguments["limit"], cursor=arguments.get("cursor"))
    if "cursor" in arguments:
        raise InvalidArguments("cursor pages the list of files; leave it out when path is given.", argument="cursor")
    file = dict(call.site.docs.read_file(path))
    return {"text": file.pop("text"), "file": file}
