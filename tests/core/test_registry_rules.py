"""What the registry refuses, and the names and order it gives (F12, F31, F34–F36, P16)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from marshmallow import Schema, fields

import cmsmcp.capabilities
from cmsmcp.core.capability import Capability, resource, tool
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
    ],
)
def test_a_faulty_declaration_is_refused_with_its_rule(changes: dict[str, object], word: str) -> None:
    with pytest.raises(RegistrationError, match=word):
        Registry([declared(**changes)])


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


def test_a_capability_unlike_its_file_or_a_file_without_one_is_refused(package) -> None:
    with pytest.raises(RegistrationError, match="named as its file"):
        discover(package(one=SOURCE.format(name="other")))
    with pytest.raises(RegistrationError, match="no capability"):
        discover(package(one="x = 1"))


def test_what_is_shipped_passes_in_the_order_of_its_names() -> None:
    """T-03."""
    found = list(discover(cmsmcp.capabilities).tools)
    assert found and found == sorted(found)
