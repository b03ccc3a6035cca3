"""Schemas and arguments shared by the theme capabilities."""

from marshmallow import Schema, fields

from cmsmcp.capabilities._documents import text
from cmsmcp.capabilities._reports import diagnostics, mappings, strings


class ThemeInput(Schema):
    name = text("Theme folder; default: the active theme")


class ExternalAssetsSchema(Schema):
    allowed = fields.Boolean()
    scripts = strings()
    styles = strings()
    fonts = strings()
    images = strings()
    media = strings()


class FrontendRequestsSchema(Schema):
    allowed = fields.Boolean()
    origins = strings()
    methods = strings()


class SecuritySchema(Schema):
    external_assets = fields.Nested(ExternalAssetsSchema)
    frontend_requests = fields.Nested(FrontendRequestsSchema)
    template_context = fields.Dict(keys=fields.String(), values=fields.Boolean())


class ContractSchema(Schema):
    key = fields.String()
    title = fields.String()
    description = fields.String()
    target = fields.Dict(keys=fields.String(), values=fields.Raw())
    fields_ = mappings(data_key="fields", attribute="fields")


class ManifestSchema(Schema):
    name = fields.String(required=True)
    title = fields.String()
    version = fields.String()
    description = fields.String()
    author = fields.String()
    license = fields.String()
    repo = fields.String()
    min_foundry_version = fields.String()
    sdk_version = fields.String()
    compatibility_version = fields.String()
    layouts = strings()
    supported_layouts = strings()
    slots = strings()
    screenshots = strings()
    config_schema = mappings()
    field_contracts = fields.List(fields.Nested(ContractSchema))
    security = fields.Nested(SecuritySchema)
    path = fields.String()
    active = fields.Boolean(required=True)
    diagnostics = diagnostics()


class ReferenceSchema(Schema):
    kind = fields.String()
    url = fields.String()
    path = fields.String()
    line = fields.Integer()
    status = fields.String()


class SecurityReportSchema(Schema):
    name = fields.String(required=True)
    active = fields.Boolean(required=True)
    declared = fields.Nested(SecuritySchema)
    declared_summary = strings()
    detected_assets = fields.List(fields.Nested(ReferenceSchema))
    detected_requests = fields.List(fields.Nested(ReferenceSchema))
    mismatches = diagnostics()
    generated_csp = fields.String()
    csp_summary = strings()
