"""What may be typed for arguments of prompts and variables of templates: what exists and may be named (C-02, C-03)."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "asked",
    [
        ("audit_page", "page", "s", {}, ["soup", "stew"]),
        ("audit_page", "page", "", {"type": "page"}, ["about", "trap", "ueber"]),
        ("audit_page", "page", "", {"type": "page", "lang": "de"}, ["ueber"]),
        ("audit_page", "page", "", {"type": "nope"}, []),
        ("audit_page", "lang", "", {}, ["en", "de", "fr"]),
        ("locale_gaps", "locale", "", {}, ["de", "fr"]),
        ("locale_gaps", "type", "", {}, ["page", "person", "post", "recipe"]),
        ("describe_content_type", "type", "", {}, ["page", "person", "post", "recipe"]),
        ("summarize_changes", "lang", "", {}, ["en", "de", "fr"]),
        ("content_page", "slug", "a", {}, ["about", "trap"]),
        ("content_collection", "type", "", {}, ["page", "person", "post", "recipe"]),
        ("content_type_schema", "slug", "", {}, ["page", "person", "post", "recipe"]),
        ("theme_manifest", "name", "", {}, ["plain"]),
        ("theme_security_report", "name", "", {}, ["plain"]),
        ("plugin_status", "name", "", {}, ["toc"]),
        ("docs_file", "path", "START", {}, ["guides/start.md"]),
    ],
)
def test_values_come_from_the_site(visitor, asked) -> None:
    name, argument, typed, others, values = asked
    assert visitor.complete(name, argument, typed, **others) == values


@pytest.mark.parametrize("argument", [("audit_page", "page"), ("content_page", "slug")])
@pytest.mark.parametrize("typed", ["", "p", "plan", "hidden"])
def test_a_draft_is_never_named(visitor, editor, argument: tuple[str, str], typed: str) -> None:
    """C-03: not even to those who may read it."""
    for asker in (visitor, editor):
        assert not {"plan", "hidden-cook"} & set(asker.complete(*argument, typed))


def test_only_a_status_that_may_be_asked_for_is_offered(visitor, editor) -> None:
    assert visitor.complete("audit_page", "status") == ["published"]
    assert set(editor.complete("audit_page", "status")) == {"draft", "in_review", "scheduled", "published", "archived", "all"}


def test_every_variable_of_a_template_that_the_site_can_name_is_completed(visitor) -> None:
    for template, resource in visitor.registry.resources.items():
        assert set(template.variables) == set(resource.complete), template.template
