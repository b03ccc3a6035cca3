"""What the registry refuses, and the names and order it gives (F12, F31, F34–F36, P16)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from marshmallow import Schema, fields

import cmsmcp.capabilities
from cmsmcp.core.capability import Capability, prompt, resource, tool
from cmsmcp.core.registry import RegistrationError, Registry, discover


class Output(Schema):
    ok = fields.Boolean()


def declared(**changes: object) -> Capability:
    def probe(arguments, call):
        """Probes."""

    return tool(**{"scope": "read:content", "audit": "test", "output": Output, **changes})(probe)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"name": "Probe"}, "snake_case"),
        ({"name": "probe-it"}, "snake_case"),
        ({"name": "p" * 65}, "snake_case"),
        ({"name": "1probe"}, "snake_case"),
        ({"description": ""}, "description"),
        ({"scope": ""}, "scope"),
        ({"audit": ""}, "audit"),
        ({"output": None}, "output"),
        ({"version": "1"}, "MAJOR.MINOR"),
        ({"read_only": False}, "mutating"),
        ({"scope": "write:content"}, "mutating"),
        ({"owner": "gallery"}, "plugin"),
        ({"uri": "foundry-plugin://gallery/x"}, "foundry-plugin"),
        ({"timeout": 0}, "above 0"),
        ({"max_result": 0}, "above 0"),
        ({"blocks": True}, "without an output schema"),
        ({"blocks": True, "output": None, "uri": "test://x"}, "without an output schema"),
        ({"output": None, "uri": "test://x"}, "output schema is missing"),
        ({"input_schema": {"type": "array"}}, "root of an input schema"),
        ({"complete": {}, "task": "maybe"}, "task is"),
        ({"task": "optional", "uri": "test://x"}, "only tools"),
        ({"requires": {"telepathy": {}}}, "client capabilities"),
        ({"requires": {"sampling": True}}, "client capabilities"),
        ({"complete": {"x": list}}, "prompts and resources"),
        ({"complete": {"x": list}, "uri": "test://{y}"}, "does not exist"),
        ({"topics": lambda variables: []}, "resources"),
        ({"scope": "read:everything"}, "does not exist; use one of read:content"),
        ({"uri": "test://{a"}, "URI template"),
        ({"uri": "test://{a}/{a}"}, "URI template"),
        ({"input_schema": {"type": "object", "properties": {"a": {"enum": {1, 2}}}}}, "JSON can write; .*TypeError"),
        ({"output_schema": ["type"]}, "JSON can write"),
        ({"input": int}, "JSON can write; this declaration cannot be read"),
        ({"timeout": "soon"}, "above 0; this declaration cannot be read .TypeError"),
        ({"name": 7}, "snake_case"),
    ],
)
def test_a_faulty_declaration_is_refused_with_its_rule(changes: dict[str, object], word: str) -> None:
    with pytest.raises(RegistrationError, match=word):
        Registry([declared(**changes)])


def text_arguments(**schemas: object) -> dict[str, object]:
    return {"type": "object", "properties": schemas}


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"input_schema": text_arguments(a={"type": "integer", "description": "A"})}, "strings"),
        ({"input_schema": text_arguments(a={"type": "string"})}, "description"),
        ({"input_schema": text_arguments(a=True)}, "strings"),
        ({"uri": "test://x"}, "no URI"),
        ({"output": Output}, "no output schema"),
        ({"blocks": True}, "blocks"),
        ({"task": "optional"}, "only tools"),
        ({"complete": {"b": list}, "input_schema": text_arguments(a={"type": "string", "description": "A"})}, "does not exist"),
        ({"description": ""}, "description"),
        ({"scope": ""}, "scope"),
    ],
)
def test_a_faulty_prompt_is_refused_with_its_rule(changes: dict[str, object], word: str) -> None:
    """P-03, T-15."""
    with pytest.raises(RegistrationError, match=word):
        Registry([prompted(**changes)])


def prompted(**changes: object) -> Capability:
    def ask(arguments, call):
        """Asks."""

    return prompt(**{"scope": "read:content", "audit": "test", **changes})(ask)


def test_prompts_are_a_kind_of_their_own_with_versions_like_tools() -> None:
    old, new = prompted(version="1.0"), prompted(version="2.0")
    registry = Registry([declared(), new, old])
    assert registry.prompts == {"ask": new, "ask_v1": old}
    assert list(registry.tools) == ["probe"] and not registry.resources


def test_a_name_stands_for_one_kind() -> None:
    """Costs, limits and audit records go by the name alone."""
    with pytest.raises(RegistrationError, match="another kind"):
        Registry([declared(), prompted(name="probe", version="2.0")])


def test_a_tool_without_an_output_schema_says_that_it_returns_blocks() -> None:
    blocks = declared(output=None, blocks=True)
    assert Registry([blocks]).tools == {"probe": blocks}


def test_a_resource_that_is_no_json_needs_no_output_schema() -> None:
    image = declared(output=None, uri="test://x", mime_type="image/png")
    assert list(Registry([image]).resources.values()) == [image]


def test_the_newest_version_keeps_the_name() -> None:
    """F34."""
    old, new, newest = declared(version="1.4"), declared(version="2.0"), declared(version="10.0")
    assert Registry([new, newest, old]).tools == {"probe": newest, "probe_v1": old, "probe_v2": new}


def test_equal_versions_names_and_templates_are_refused() -> None:
    with pytest.raises(RegistrationError, match="twice"):
        Registry([declared(), declared()])
    with pytest.raises(RegistrationError, match="twice"):
        Registry([declared(version="1.0"), declared(version="1.1"), declared(version="2.0")])
    with pytest.raises(RegistrationError, match="template"):
        Registry([declared(uri="test://x"), declared(name="other", uri="test://x")])


def test_the_mappings_cannot_be_written() -> None:
    registry = Registry([declared()])
    with pytest.raises(TypeError):
        registry.tools["x"] = declared()  # type: ignore[index]


def test_a_resource_without_variables_wins_and_comes_first() -> None:
    one = resource("test://{name}", scope="read:content", audit="test", output=Output, name="any", description="x")(lambda v, c: None)
    two = resource("test://zz", scope="read:content", audit="test", output=Output, name="fixed", description="x")(lambda v, c: None)
    registry = Registry([one, two])
    assert [capability.name for capability in registry.resources.values()] == ["fixed", "any"]
    assert registry.find_resource("test://zz") == (two, {})
    assert registry.find_resource("test://a") == (one, {"name": "a"})
    assert registry.find_resource("test://a/b") is None


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A package of one module with the given source."""
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def make(**modules: str) -> ModuleType:
        name = f"capabilities_{len(made)}_{tmp_path.name}"
        made.append(name)
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        for module, source in modules.items():
            (tmp_path / name / f"{module}.py").write_text(source)
        return __import__(name)

    yield make
    for name in [loaded for loaded in sys.modules if loaded.startswith(tuple(made))] if made else []:
        del sys.modules[name]


SOURCE = """
from cmsmcp.core.capability import tool
@tool(scope="read:content", audit="test", output_schema={{"type": "object"}})
def {name}(arguments, call):
    '''Does.'''
"""


def test_one_new_file_is_one_new_capability(package) -> None:
    """docs/rules.md, Published schemas."""
    found = discover(package(one=SOURCE.format(name="one"), two=SOURCE.format(name="two"), _shared="x = 1"))
    assert list(found.tools) == ["one", "two"]


def test_packages_are_taken_together_and_may_not_share_a_name(package) -> None:
    first, second = package(one=SOURCE.format(name="one")), package(two=SOURCE.format(name="two"))
    assert list(discover(first, second).tools) == ["one", "two"]
    third = package(one=SOURCE.format(name="one").replace("audit=", "version='2.0', audit="))
    with pytest.raises(RegistrationError, match=f"one: .* by {first.__name__} and by {third.__name__}"):
        discover(first, third)


def test_a_capability_unlike_its_file_or_a_file_without_one_is_refused(package) -> None:
    with pytest.raises(RegistrationError, match="named as its file"):
        discover(package(one=SOURCE.format(name="other")))
    with pytest.raises(RegistrationError, match="no capability"):
        discover(package(one="x = 1"))


def test_what_is_shipped_passes_in_the_order_of_its_names() -> None:
    """T-03."""
    found = list(discover(cmsmcp.capabilities).tools)
    assert found and found == sorted(found)
