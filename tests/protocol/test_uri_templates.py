"""RFC 6570 templates as resources use them (R-05, A-08, F27, F30)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.protocol.uritemplate import UriTemplate

PAGE = UriTemplate("foundry://content/pages/{slug}")
DOCS = UriTemplate("foundry://docs/{+path}")
MANIFEST = UriTemplate("foundry://themes/{name}/manifest")


@pytest.mark.parametrize(
    ("template", "uri", "expected"),
    [
        (PAGE, "foundry://content/pages/about", {"slug": "about"}),
        (PAGE, "foundry://content/pages/caf%C3%A9", {"slug": "café"}),
        (PAGE, "foundry://content/pages/a%2Fb", {"slug": "a/b"}),
        (PAGE, "foundry://content/pages/a%252Fb", {"slug": "a%2Fb"}),
        (PAGE, "foundry://content/pages/a/b", None),
        (PAGE, "foundry://content/pages/", None),
        (PAGE, "foundry://content/pages/a?x=1", None),
        (PAGE, "foundry://content/pages/a#x", None),
        (PAGE, "foundry://content/pages/100%", None),
        (PAGE, "foundry://content/pages/%zz", None),
        (PAGE, "foundry://content/pages/%ff", None),
        (PAGE, "FOUNDRY://content/pages/about", None),
        (PAGE, "xfoundry://content/pages/about", None),
        (MANIFEST, "foundry://themes/default/manifest", {"name": "default"}),
        (MANIFEST, "foundry://themes/a/b/manifest", None),
        (MANIFEST, "foundry://themes/default/manifest/", None),
        (DOCS, "foundry://docs/guide/start.md", {"path": "guide/start.md"}),
        (DOCS, "foundry://docs/%2e%2e/secret", {"path": "../secret"}),
        (DOCS, "foundry://docs/", None),
        (UriTemplate("foundry://plugins"), "foundry://plugins", {}),
        (UriTemplate("foundry://plugins"), "foundry://plugins/x", None),
    ],
)
def test_a_uri_is_matched_whole_and_decoded_once(template: UriTemplate, uri: str, expected: dict[str, str] | None) -> None:
    assert template.match(uri) == expected


@pytest.mark.parametrize("bad", ["a://{path...}", "a://{/x}", "a://{x,y}", "a://{x}/{x}", "a://{", "a://}", "a://{x*}", "a://{}"])
def test_other_expressions_are_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="only"):
        UriTemplate(bad)


@given(st.text(min_size=1))
def test_an_expanded_segment_matches_back(value: str) -> None:
    assert PAGE.match(PAGE.expand({"slug": value})) == {"slug": value}


@given(st.text(min_size=1))
def test_an_expanded_path_matches_back(value: str) -> None:
    assert DOCS.match(DOCS.expand({"path": value})) == {"path": value}


@given(st.text())
def test_no_uri_makes_matching_raise(uri: str) -> None:
    for template in (PAGE, DOCS, MANIFEST):
        template.match(uri)
