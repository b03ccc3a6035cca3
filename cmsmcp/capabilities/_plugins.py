"""Schemas shared by the plugin capabilities."""

from marshmallow import Schema, fields

from cmsmcp.capabilities._reports import diagnostics, mappings, strings


class PluginSummarySchema(Schema):
    name = fields.String(required=True)
    title = fields.String()
    version = fields.String()
    description = fields.String()
    enabled = fields.Boolean()
    installed = fields.Boolean()
    status = fields.String()
    health = fields.String()
    risk_tier = fields.String()
    requires_approval = fields.Boolean()


class DependencySchema(Schema):
    name = fields.String()
    version = fields.String()
    optional = fields.Boolean()


class RuntimeSchema(Schema):
    mode = fields.String()
    protocol_version = fields.String()
    command = strings()
    socket = fields.String()
    env = fields.Dict(keys=fields.String(), values=fields.String())
    sandbox = fields.Dict(keys=fields.String(), values=fields.Raw())


class FindingSchema(Schema):
    category = fields.String()
    evidence = fields.String()
    evidence_type = fields.String()
    path = fields.String()
    line = fields.Integer()
    message = fields.String()


class PluginSchema(PluginSummarySchema):
    author = fields.String()
    homepage = fields.String()
    license = fields.String()
    repo = fields.String()
    requires = strings()
    dependencies = fields.List(fields.Nested(DependencySchema))
    foundry_api = fields.String()
    min_foundry_version = fields.String()
    compatibility_version = fields.String()
    can_rollback = fields.Boolean()
    review_status = fields.String()
    permissions = fields.Dict(keys=fields.String(), values=fields.Raw())
    permission_summary = strings()
    runtime = fields.Nested(RuntimeSchema)
    config_schema = mappings()
    settings = fields.Dict(keys=fields.String(), values=fields.Raw())
    screenshots = strings()
    admin = fields.Dict(keys=fields.String(), values=mappings())
    security_findings = fields.List(fields.Nested(FindingSchema))
    security_mismatches = diagnostics()
    diagnostics = diagnostics()


PLUGIN_SUMMARY_FIELDS = tuple(PluginSummarySchema().fields)
