"""The full schema of one content type (P17, P22, P25)."""

from cmsmcp.capabilities._completion import types
from cmsmcp.capabilities._content_types import ContentTypeSchema, schema_uri
from cmsmcp.core.capability import Call, resource


def listing(call: Call):
    for kind in call.site.types.all():
        slug = kind["slug"]
        entry: dict[str, object] = {
            "uri": schema_uri(slug),
            "name": f"content-type-schema-{slug}",
            "title": f"{slug.replace('-', ' ').title()} schema",
            "description": f'Schema for the "{slug}" content type.',
        }
        if kind.get("updatedAt"):
            entry["annotations"] = {"lastModified": kind["updatedAt"]}
        yield entry


@resource(
    "plank://content-types/{slug}/schema", scope="read:schema", audit="schema.read", title="Content type schema",
    output=ContentTypeSchema, indent=True, listing=listing, example={"slug": "post"}, complete={"slug": types},
    topics=lambda variables: [f"types/{variables['slug']}"],
)
def content_type_schema(variables, call: Call):
    """The full schema of a content type, exactly as it is kept."""
    return call.site.types.get(variables["slug"])
