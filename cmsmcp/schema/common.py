"""What entries of every type are made of, and what else `/api` answers, as marshmallow schemas."""

from __future__ import annotations

from marshmallow import fields

from cmsmcp.schema.fields import Component


class MediaSchema(Component):
    class Meta(Component.Meta):
        component = "Media"
        title = "A media file"

    id = fields.String(required=True, metadata={"description": "The reference as written."})
    url = fields.String(required=True)
    alt = fields.String(required=True, allow_none=True)
    figcaption = fields.String(required=True, allow_none=True)
    width = fields.Integer(required=True, allow_none=True)
    height = fields.Integer(required=True, allow_none=True)


def _item() -> Component:
    return NavigationItemSchema()


class NavigationItemSchema(Component):
    class Meta(Component.Meta):
        component = "NavigationItem"
        title = "An item of a menu"

    label = fields.String(required=True)
    href = fields.String(required=True)
    items = fields.List(fields.Nested(_item), metadata={"description": "At most three levels in all."})


COMMON: tuple[type[Component], ...] = (MediaSchema, NavigationItemSchema)
