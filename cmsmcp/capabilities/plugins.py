"""All plugins (F29)."""

from marshmallow import Schema, fields

from cmsmcp.capabilities._plugins import PluginSchema
from cmsmcp.core.capability import Call, resource


class Output(Schema):
    plugins = fields.List(fields.Nested(PluginSchema), required=True)


@resource(
    "foundry://plugins", scope="read:plugins", audit="plugins.list", title="Plugins", output=Output,
    hint="Use list_plugins and get_plugin_status instead.",
    topics=lambda _variables: ["plugins"], isolated=True,
)
def plugins(_variables, call: Call):
    """Every plugin with its whole report."""
    return {"plugins": call.site.plugins.records(call.deadline)}
