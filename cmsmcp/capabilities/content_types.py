"""Plank's list of content types (P16–P20)."""

from marshmallow import Schema, fields

from cmsmcp.capabilities._content_types import schema_uri
from cmsmcp.core.capability import Call, resource


class ItemSchema(Schema):
    name = fields.String(required=True)
    slug = fields.String(required=True)
    kind = fields.String(required=True)
    previewEnabled = fields.Boolean(allow_none=True)
    isDefault = fields.Boolean(allow_none=True)
    schemaUri = fields.String(required=True)
    updatedAt = fields.String(allow_none=True)


class Output(Schema):
    contentTypes = fields.List(fields.Nested(ItemSchema), required=True)


def listing(_call: Call):
    yield {
        "uri": "plank://content-types",
        "name": "content-types",
        "title": "Content Types",
        "description": "Lists the content types available in this Plank instance.",
    }


@resource(
    "plank://content-types", scope="read:schema", audit="schema.read", title="Content Types", output=Output, indent=True, listing=listing,
    topics=lambda _variables: ["types"],
)
def content_types(_variables, call: Call):
    """Lists the content types available in this Plank instance."""
    items = []
    for kind in call.site.types.all():
        optional = {key: kind.get(key) for key in ("previewEnabled", "isDefault", "updatedAt")}
        items.append({"name": kind["name"], "slug": kind["slug"], "kind": kind["kind"], "schemaUri": schema_uri(kind["slug"]), **optional})
    return {"contentTypes": items}
