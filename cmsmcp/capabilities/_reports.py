"""Schemas shared by the theme, plugin and validation reports."""

from marshmallow import Schema, fields


def strings(**options) -> fields.List:
    return fields.List(fields.String(), **options)


def mappings(**options) -> fields.List:
    """Objects whose keys are the site's own (form fields, say)."""
    return fields.List(fields.Dict(keys=fields.String(), values=fields.Raw()), **options)


class DiagnosticSchema(Schema):
    """`path` is relative to the site; `line` counts from 1."""

    severity = fields.String(required=True)
    path = fields.String(required=True)
    line = fields.Integer(allow_none=True)
    message = fields.String(required=True)


def diagnostics(**options) -> fields.List:
    return fields.List(fields.Nested(DiagnosticSchema), **options)
