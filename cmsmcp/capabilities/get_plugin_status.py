"""One plugin's report (F23)."""

from marshmallow import Schema

from cmsmcp.capabilities._documents import text
from cmsmcp.capabilities._plugins import PluginSchema
from cmsmcp.core.capability import Call, tool


class Input(Schema):
    name = text("Plugin folder", required=True)


@tool(
    scope="read:plugins", audit="plugins.read", title="Get plugin status", input=Input, output=PluginSchema, example={"name": "toc"},
    isolated=True,
)
def get_plugin_status(arguments, call: Call):
    """Read a plugin's health, permissions, risk, security findings and diagnostics."""
    return call.site.plugins.record(arguments["name"], call.deadline)
