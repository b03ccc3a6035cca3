"""One plugin's whole report, as a resource."""

from unicodedata import normalize

from cmsmcp.capabilities._completion import plugins
from cmsmcp.capabilities._plugins import PluginSchema
from cmsmcp.core.capability import Call, resource


@resource(
    "foundry://plugins/{name}", scope="read:plugins", audit="plugins.read", title="Plugin status", output=PluginSchema,
    example={"name": "toc"}, complete={"name": plugins},
    topics=lambda variables: [f"plugins/{normalize('NFC', variables['name'])}"], isolated=True,
)
def plugin_status(variables, call: Call):
    """One plugin's manifest, permissions, security findings and diagnostics."""
    return call.site.plugins.record(variables["name"], call.deadline)
