"""The public contract as one file (F34). A difference is a decision: `make contract`, read the diff, note it in CHANGELOG.md."""

from __future__ import annotations

import json
from pathlib import Path

import cmsmcp.capabilities
from cmsmcp.core.registry import discover
from cmsmcp.core.schemas import input_schema, output_schema
from cmsmcp.governance.audit import FIELDS
from cmsmcp.protocol import errors

GOLDEN = Path(__file__).with_name("contract.json")


def public_contract() -> dict:
    registry = discover(cmsmcp.capabilities)
    return {
        "tools": {
            name: {
                "version": tool.version,
                "scope": tool.scope,
                "audit": tool.audit,
                "title": tool.title,
                "description": tool.description,
                "input": input_schema(tool),
                "output": output_schema(tool),
            }
            for name, tool in registry.tools.items()
        },
        "resources": {
            template.template: {
                "name": resource.name,
                "version": resource.version,
                "scope": resource.scope,
                "audit": resource.audit,
                "mime_type": resource.mime_type,
                "output": output_schema(resource),
                "completed": sorted(resource.complete),
            }
            for template, resource in registry.resources.items()
        },
        "prompts": {
            name: {
                "version": prompt.version,
                "scope": prompt.scope,
                "audit": prompt.audit,
                "title": prompt.title,
                "description": prompt.description,
                "input": input_schema(prompt),
                "completed": sorted(prompt.complete),
            }
            for name, prompt in registry.prompts.items()
        },
        "errors": {name: value for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)},
        "audit": [name for name, _meaning in FIELDS],
    }


def test_the_public_contract_is_as_published() -> None:
    assert json.loads(json.dumps(public_contract())) == json.loads(GOLDEN.read_text(encoding="utf-8"))


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(public_contract(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
