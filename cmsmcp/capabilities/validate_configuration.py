"""Faults of configuration, theme and site graph (F25)."""

from marshmallow import Schema, fields
from marshmallow.validate import OneOf, Range

from cmsmcp.capabilities._documents import status, text
from cmsmcp.core.capability import Call, tool


class Input(Schema):
    severity = fields.String(validate=OneOf(["error", "warning"]))
    check = text("Only findings of this check")
    status = status()
    limit = fields.Integer(strict=True, load_default=100, validate=Range(1, 500))


class FindingSchema(Schema):
    severity = fields.String(required=True)
    check = fields.String(required=True)
    path = fields.String(required=True)
    line = fields.Integer(allow_none=True)
    message = fields.String(required=True)


class Output(Schema):
    valid = fields.Boolean(required=True)
    error_count = fields.Integer(required=True)
    warning_count = fields.Integer(required=True)
    checks = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True, metadata={"description": "Findings per check"})
    findings = fields.List(fields.Nested(FindingSchema), required=True)
    truncated = fields.Boolean(required=True, metadata={"description": "More match; narrow it"})


@tool(
    scope="read:ops", audit="ops.validate", title="Validate configuration", input=Input, output=Output,
    hint="Lower limit, or narrow with severity or check.", task="optional", isolated=True,
)
def validate_configuration(arguments, call: Call):
    """Check configuration, active theme, plugins, documents and links; each finding names file and line."""
    report = dict(call.site.operations.validate(call.deadline, call.visibility(arguments.get("status")), call.dialogue.progress))
    wanted = {key: arguments[key] for key in ("severity", "check") if key in arguments}
    matching = [finding for finding in report["findings"] if all(finding[key] == value for key, value in wanted.items())]
    report["findings"] = matching[: arguments["limit"]]
    report["truncated"] = len(matching) > arguments["limit"] or bool(report.get("truncated"))
    return report
