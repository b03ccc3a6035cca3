"""Installed plugins and how they stand (F22)."""

from marshmallow import fields

from cmsmcp.capabilities._documents import PageInput, PageOutput, projection
from cmsmcp.capabilities._pages import page_of
from cmsmcp.capabilities._plugins import PLUGIN_SUMMARY_FIELDS, PluginSummarySchema
from cmsmcp.core.capability import Call, tool


class Input(PageInput):
    enabled = fields.Boolean(truthy={True}, falsy={False}, metadata={"description": "Only enabled, or only disabled ones"})
    fields_ = projection(PLUGIN_SUMMARY_FIELDS)


class Output(PageOutput):
    items = fields.List(fields.Nested(PluginSummarySchema), required=True)


@tool(scope="read:plugins", audit="plugins.list", title="List plugins", input=Input, output=Output, isolated=True)
def list_plugins(arguments, call: Call):
    """List plugins by name with status, health and risk; get_plugin_status has the whole report."""
    records = call.site.plugins.records(call.deadline)
    if "enabled" in arguments:
        records = [record for record in records if record["enabled"] == arguments["enabled"]]
    question = ["list_plugins", arguments.get("enabled")]
    page = page_of(records, question=question, key=lambda one: one["name"], limit=arguments["limit"], cursor=arguments.get("cursor"))
    names = arguments.get("fields") or PLUGIN_SUMMARY_FIELDS
    page["items"] = [{name: record[name] for name in PLUGIN_SUMMARY_FIELDS if name in names or name == "name"} for record in page["items"]]
    return page
