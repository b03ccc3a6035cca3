"""Health and readiness (F24)."""

from marshmallow import Schema

from cmsmcp.capabilities._documents import status
from cmsmcp.capabilities._health import HealthSchema
from cmsmcp.core.capability import Call, tool


class Input(Schema):
    status = status()


@tool(scope="read:ops", audit="ops.health", title="Get runtime health", input=Input, output=HealthSchema, isolated=True)
def get_runtime_health(arguments, call: Call):
    """Read whether the site is healthy and ready, with the checks behind it and content counts."""
    return call.site.operations.health(call.deadline, call.visibility(arguments.get("status")), call.services)
