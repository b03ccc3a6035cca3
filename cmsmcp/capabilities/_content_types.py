"""Plank's content type as it goes out. Key order is part of the seed's contract: fields by length, then bytes (P22)."""

from marshmallow import Schema, fields


class ArrayFieldSchema(Schema):
    name = fields.String(required=True)
    type = fields.String(required=True)
    width = fields.String()
    subtype = fields.String()
    required = fields.Boolean()
    allowedTypes = fields.List(fields.String())


class FieldSchema(Schema):
    name = fields.String(required=True)
    type = fields.String(required=True)
    width = fields.String()
    subtype = fields.String()
    required = fields.Boolean()
    arrayFields = fields.List(fields.Nested(ArrayFieldSchema))
    relatedSlug = fields.String()
    targetField = fields.String()
    allowedTypes = fields.List(fields.String())
    relatedField = fields.String()
    relatedTable = fields.String()
    relationType = fields.String()


class ContentTypeSchema(Schema):
    id = fields.String(required=True)
    name = fields.String(required=True)
    slug = fields.String(required=True)
    kind = fields.String(required=True)
    previewEnabled = fields.Boolean()
    tableName = fields.String(required=True)
    fields_ = fields.List(fields.Nested(FieldSchema), required=True, data_key="fields", attribute="fields")
    isDefault = fields.Boolean()
    createdAt = fields.String()
    updatedAt = fields.String()


def schema_uri(slug: str) -> str:
    return f"plank://content-types/{slug}/schema"
