"""A form with each way to offer a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blocks, Call
from conformance_fixtures._blocks import form, said, talking_tool


def titled(*names: str) -> list[dict[str, str]]:
    return [{"const": f"value{number}", "title": name} for number, name in enumerate(names, 1)]


OPTIONS = ["option1", "option2", "option3"]
FIELDS: dict[str, dict[str, Any]] = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": titled("First", "Second", "Third")},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"anyOf": titled("First", "Second", "Third")}},
}


@talking_tool(requires={"elicitation": {}})
def test_elicitation_sep1330_enums(arguments: Mapping[str, Any], call: Call) -> Blocks:
    """Ask the user to choose."""
    answer = call.dialogue.ask({"user": form("Choose.", required=False, **FIELDS)})["user"]
    return said(f"The user chose {answer['action']}: {answer.get('content')}")
