"""A page by slug, in the default language (F27)."""

from unicodedata import normalize

from cmsmcp.capabilities._completion import page_slugs
from cmsmcp.capabilities._documents import DocumentSchema, whole_of
from cmsmcp.core.capability import Call, resource


@resource(
    "foundry://content/pages/{slug}", scope="read:content", audit="content.read", title="Page", output=DocumentSchema,
    example={"slug": "about"}, complete={"slug": page_slugs}, hint="Use get_document and name the keys you need in fields.",
    # Of a path, such as guide/install, the last part is the slug.
    topics=lambda variables: [f"content/page/{normalize('NFC', variables['slug']).strip('/').rpartition('/')[2]}"],
)
def content_page(variables, call: Call):
    """One published page by slug, in the default language."""
    document = call.site.content.get_document(
        slug=variables["slug"], url=None, id=None, type="page", lang=None, visibility=call.visibility(None), deadline=call.deadline
    )
    return whole_of(document, None)
