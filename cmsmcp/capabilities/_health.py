"""The health report (docs/rules.md, Health): shared by the tool and the resource."""

from marshmallow import Schema, fields


class CheckSchema(Schema):
    name = fields.String(required=True)
    status = fields.String(required=True)
    message = fields.String(required=True)


class HealthSchema(Schema):
    status = fields.String(required=True, metadata={"description": "healthy or degraded"})
    ready = fields.Boolean(required=True)
    version = fields.String(required=True)
    generated_at = fields.String(required=True)
    uptime_seconds = fields.Float()
    checks = fields.List(fields.Nested(CheckSchema), required=True)
    content = fields.Dict(keys=fields.String(), values=fields.Raw(), metadata={"description": "Counts"})
    storage = fields.Dict(keys=fields.String(), values=fields.Integer(), metadata={"description": "Bytes, files"})
