"""Health and readiness (F29)."""

from cmsmcp.capabilities._health import HealthSchema
from cmsmcp.core.capability import Call, resource


@resource("foundry://runtime/health", scope="read:ops", audit="ops.health", title="Runtime health", output=HealthSchema, isolated=True)
def runtime_health(_variables, call: Call):
    """Whether the site is healthy and ready, with the checks behind it and content counts."""
    return call.site.operations.health(call.deadline, call.visibility(None), call.services)
