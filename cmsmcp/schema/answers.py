"""What `/api` answers beside entries, as marshmallow schemas: content types, locales, menus, authors, hits, refusals.

A component whose name has a dot can never be a content type.
"""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from cmsmcp.schema.fields import MOMENT, Component

_TEXT: Any = {"required": True}
_TEXT_OR_NULL: Any = {"required": True, "allow_none": True}


def _moment() -> fields.String:
    return fields.String(**_TEXT_OR_NULL, metadata={"pattern": MOMENT})


class ContentTypeFieldSchema(Component):
    class Meta(Component.Meta):
        component = "api.ContentTypeField"
        title = "A declared field; further options as the type has them"

    name = fields.String(**_TEXT)
    type = fields.String(**_TEXT)
    required = fields.Boolean()


class ContentTypeSchema(Component):
    class Meta(Component.Meta):
        component = "api.ContentType"
        title = "A content type as it is declared"

    id = fields.String(**_TEXT)
    name = fields.String(**_TEXT)
    slug = fields.String(**_TEXT)
    kind = fields.String(**_TEXT, metadata={"enum": ["collection", "single"]})
    previewEnabled = fields.Boolean()
    tableName = fields.String(**_TEXT)
    fields_ = fields.List(fields.Nested(ContentTypeFieldSchema), required=True, data_key="fields")
    isDefault = fields.Boolean()
    createdAt = fields.String()
    updatedAt = fields.String()


class ContentTypeSummarySchema(Component):
    class Meta(Component.Meta):
        component = "api.ContentTypeSummary"

    name = fields.String(**_TEXT)
    slug = fields.String(**_TEXT)
    kind = fields.String(**_TEXT, metadata={"enum": ["collection", "single"]})
    previewEnabled = fields.Boolean(**_TEXT_OR_NULL)
    isDefault = fields.Boolean(**_TEXT_OR_NULL)
    updatedAt = fields.String(**_TEXT_OR_NULL)


class ContentTypesSchema(Component):
    class Meta(Component.Meta):
        component = "api.ContentTypes"

    data = fields.List(fields.Nested(ContentTypeSummarySchema), required=True)
    total = fields.Integer(required=True)


class LocalesSchema(Component):
    class Meta(Component.Meta):
        component = "api.Locales"

    defaultLocale = fields.String(**_TEXT)
    locales = fields.List(fields.String(), required=True)


def _menu_item() -> Component:
    return MenuItemSchema()


class MenuItemSchema(Component):
    class Meta(Component.Meta):
        component = "api.MenuItem"

    name = fields.String(**_TEXT)
    url = fields.String(**_TEXT)
    items = fields.List(fields.Nested(_menu_item))


class PublishedPageSchema(Component):
    class Meta(Component.Meta):
        component = "api.PublishedPage"

    id = fields.String(**_TEXT)
    title = fields.String(**_TEXT)
    url = fields.String(**_TEXT)
    lang = fields.String(**_TEXT)
    type = fields.String(**_TEXT)


class NavigationSchema(Component):
    class Meta(Component.Meta):
        component = "api.Navigation"
        title = "Menus, and the first 500 published pages"

    menus = fields.Dict(keys=fields.String(), values=fields.List(fields.Nested(MenuItemSchema)), required=True)
    pages = fields.List(fields.Nested(PublishedPageSchema), required=True)
    truncated = fields.Boolean(required=True)


class AuthorSchema(Component):
    class Meta(Component.Meta):
        component = "api.Author"
        title = "An author of published entries"

    slug = fields.String(**_TEXT)
    name = fields.String(**_TEXT)
    entries = fields.Integer(required=True)
    types = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)


class SearchHitSchema(Component):
    class Meta(Component.Meta):
        component = "api.SearchHit"

    id = fields.String(**_TEXT)
    type = fields.String(**_TEXT)
    slug = fields.String(**_TEXT)
    title = fields.String(**_TEXT)
    url = fields.String(**_TEXT)
    locale = fields.String(**_TEXT)
    published_at = _moment()
    updated_at = _moment()
    author = fields.String(**_TEXT_OR_NULL)
    score = fields.Float(required=True, metadata={"description": "Against the best hit, which has 1."})
    snippet = fields.String(**_TEXT, metadata={"description": "Plain text."})


class SearchPageSchema(Component):
    class Meta(Component.Meta):
        component = "api.SearchPage"

    data = fields.List(fields.Nested(SearchHitSchema), required=True)
    total = fields.Integer(required=True)
    limit = fields.Integer(required=True)
    next_cursor = fields.String(**_TEXT_OR_NULL)


class ProblemSchema(Component):
    class Meta(Component.Meta):
        component = "Problem"
        title = "Problem details (RFC 9457), with the line that Plank's clients read"

    type = fields.String(**_TEXT)
    title = fields.String(**_TEXT)
    status = fields.Integer(required=True)
    detail = fields.String(**_TEXT)
    error = fields.String(**_TEXT, metadata={"description": "The same as detail."})
    code = fields.Integer(metadata={"description": "Our own number for it, where there is one (docs/errors.md)."})
    argument = fields.String(metadata={"description": "The parameter at fault."})
    retry_after = fields.Integer(metadata={"description": "Seconds."})
    hint = fields.String(metadata={"description": "What to send instead."})
    reference = fields.String(metadata={"description": "What the log says beside it."})


ANSWERS: tuple[type[Component], ...] = (
    ContentTypesSchema, ContentTypeSchema, LocalesSchema, NavigationSchema, AuthorSchema, SearchPageSchema, ProblemSchema,
)  # fmt: skip
