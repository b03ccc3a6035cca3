"""Computes and looks at nothing, as native code does."""

from marshmallow import Schema, fields

from cmsmcp.core.capability import Call, tool


class Output(Schema):
    turns = fields.Integer()


@tool(scope="read:content", audit="tests.spin", input=Schema, output=Output, isolated=True, timeout=3.0)
def spin(_arguments, _call: Call):
    """Never ends."""
    turns = 0
    while True:
        turns += 1
