"""A documentation file by path (F30, A-08)."""

from unicodedata import normalize

from cmsmcp.capabilities._completion import docs_paths
from cmsmcp.core.capability import Call, Text, resource


@resource(
    "foundry://docs/{+path}", scope="read:docs", audit="docs.read", title="Documentation file", mime_type="text/plain",
    example={"path": "index.md"}, complete={"path": docs_paths}, hint="This file is too large to send whole.",
    topics=lambda variables: [f"docs/{normalize('NFC', variables['path'])}"],
)
def docs_file(variables, call: Call):
    """One text file under docs/, as written."""
    file = call.site.docs.read_file(variables["path"])
    return Text(file["text"], file["mime_type"])
