"""Rules a theme must keep (docs/rules.md, Themes, Odd places; F21)."""

from __future__ import annotations

import pytest


def test_a_right_theme_is_valid(site) -> None:
    assert site.validate() == {"name": "plain", "active": True, "valid": True, "diagnostics": []}


@pytest.mark.parametrize(("change", "line", "said"), [
    (("name: bent", "name: other"), 1, "must be that of the folder"),
    (("sdk_version: v1", "sdk_version: v2"), 4, "sdk_version 'v2'"),
    (("compatibility_version: v1", "compatibility_version: v0"), 5, "compatibility_version 'v0'"),
    (("page.after_main, ", ""), 7, "'page.after_main' is not declared"),
    (("layouts: [base", "layouts: [../../secret, base"), 6, "must stay inside layouts/"),
])
def test_a_wrong_declaration_is_named_once(site, faults, change: tuple[str, str], line: int, said: str) -> None:
    found = faults({"theme.yaml": site.BENT.replace(*change)})
    assert [(path, at) for path, at, _ in found] == [("theme.yaml", line)] and said in found[0][2]


@pytest.mark.parametrize("file", ["layouts/list.html", "layouts/post.html", "layouts/partials/footer.html", "layouts/partials/head.html"])
def test_a_missing_file_is_named(faults, file: str) -> None:
    assert file in [path for path, _, _ in faults({file: None})]


@pytest.mark.parametrize(("file", "slot"), [
    ("layouts/partials/head.html", "head.end"), ("layouts/base.html", "page.after_main"), ("layouts/page.html", "page.before_content"),
    ("layouts/post.html", "post.sidebar.overview"),
])
def test_a_slot_must_be_called_in_its_file(site, faults, file: str, slot: str) -> None:
    """A call in a comment is no call."""
    text = site.FILES[file].replace(f'{{{{ pluginSlot "{slot}" }}}}', f'{{{{/* pluginSlot "{slot}" */}}}}')
    found = faults({file: text})
    assert [path for path, _, _ in found] == [file] and slot in found[0][2]


CONTRACTS = """\
field_contracts:
  - {fields: [{name: a, type: text}], target: {types: [post]}}
  - {key: dup, target: {types: [post]}, fields: [{name: a, type: text}]}
  - {key: dup, target: {types: [post]}, fields: [{name: a, type: text}]}
  - {key: scope, target: {scope: galaxy}, fields: [{name: a, type: text}]}
  - {key: target, fields: [{name: a, type: text}]}
  - {key: shared, target: {scope: global}, fields: [{name: a, type: text}]}
  - {key: empty, target: {types: [post]}}
  - key: fields
    target: {slugs: [x]}
    fields:
      - {type: text}
      - {name: twice, type: text}
      - {name: twice, type: text}
      - {name: object, type: object}
      - {name: rows, type: list}
      - {name: untyped}
      - {name: deep, type: object, fields: [{name: inner, type: repeater}]}
"""


def test_contract_faults_come_once_each_at_their_line(site, faults) -> None:
    """docs/rules.md, Themes: key, scope, target, fields, object, repeater. In Foundry contract errors appear twice."""
    found = faults({"theme.yaml": site.BENT + CONTRACTS})
    first = len(site.BENT.splitlines()) + 1
    assert [line - first for _, line, _ in found] == [1, 3, 4, 5, 6, 7, 11, 13, 14, 15, 16, 17]
    assert len({message for _, _, message in found}) == len(found)


@pytest.mark.parametrize(("block", "said", "severity"), [
    ("external_assets: {styles: [x.example]}", "external_assets.allowed must be true", "error"),
    ("frontend_requests: {origins: [x.example]}", "frontend_requests.allowed must be true", "error"),
    ("template_context: {allow_raw_config: true}", "allow_raw_config is never granted", "error"),
    ("template_context: {allow_admin_state: true}", "allow_admin_state is never granted", "error"),
    ("template_context: {allow_runtime_state: true}", "allow_runtime_state changes nothing", "warning"),
])
def test_security_declarations(site, block: str, said: str, severity: str) -> None:
    site.theme("bent", {"theme.yaml": f"{site.BENT}security:\n  {block}\n"})
    found = site.validate("bent")
    assert [(one["severity"], one["line"]) for one in found["diagnostics"]] == [(severity, len(site.BENT.splitlines()) + 2)]
    assert said in found["diagnostics"][0]["message"] and found["valid"] is (severity == "warning")


def test_names_of_templates(faults) -> None:
    """docs/rules.md, Odd places: an unknown {{ template }} is an error; partials, layouts, define and block give names."""
    known = '{{ template "extra" . }}{{ template "here" . }}{{ block "own" . }}{{ end }}{{ template "own" . }}'
    files = {"layouts/list.html": known, "layouts/partials/extra.html": "x", "layouts/index.html": '{{ define "here" }}{{ end }}'}
    assert faults(files) == []
    assert [one[:2] for one in faults({"layouts/list.html": '\n{{ template "nowhere" . }}'})] == [("layouts/list.html", 2)]


def test_a_link_out_of_the_site_is_an_error_and_one_inside_it_is_followed(site, faults, tmp_path_factory) -> None:
    """docs/rules.md, symbolic links: followed inside the site, folders too and each once; an error where one leaves it."""
    outside = tmp_path_factory.mktemp("outside") / "secret.css"
    outside.write_text("a { background: url(https://secret.example/) }")
    site.write("content/shared/common.css", "a { background: url(https://seen.example/) }")
    site.theme("bent")
    (site.root / "themes/bent/assets").mkdir()
    (site.root / "themes/bent/assets/a.css").symlink_to(outside)
    (site.root / "themes/bent/assets/shared").symlink_to(site.root / "content/shared")
    (site.root / "content/shared/again").symlink_to(site.root / "content/shared")
    (site.root / "themes/bent/assets/own.html").symlink_to("../layouts/list.html")
    (site.root / "themes/bent/layouts/partials/footer.html").unlink()
    (site.root / "themes/bent/layouts/partials/footer.html").symlink_to("/etc/hostname")
    found = site.validate("bent")["diagnostics"]
    assert [one["path"] for one in found if "link leaves" in one["message"]] == [
        "themes/bent/assets/a.css", "themes/bent/layouts/partials/footer.html",
    ]
    assert not any("secret.example" in one["message"] for one in found)
    assert [one["path"] for one in found if "seen.example" in one["message"]] == ["themes/bent/assets/shared/common.css"]


def test_a_theme_that_is_a_link_out_of_the_site_is_listed_and_invalid(site, tmp_path_factory) -> None:
    outside = tmp_path_factory.mktemp("elsewhere")
    (outside / "theme.yaml").write_text("title: SECRET")
    (site.root / "themes/linked").symlink_to(outside)
    assert "linked" in site.reports.names()
    assert site.manifest("linked")["title"] == "linked" and len(site.validate("linked")["diagnostics"]) == 1


def test_order_is_severity_path_line_message(site) -> None:
    site.theme("bent", {
        "theme.yaml": site.BENT.replace("v1", "v9") + "security: {template_context: {allow_runtime_state: true}}\n",
        "layouts/list.html": "{{ end }}\n{{ nope }}\n{{ end }}",
    })
    keys = [(one["severity"], one["path"], one["line"] or 0, one["message"]) for one in site.validate("bent")["diagnostics"]]
    assert keys == sorted(keys) and len(keys) == 6


def test_no_absolute_path_leaves(site, tmp_path_factory) -> None:
    site.theme("bent", {"theme.yaml": "name: [", "layouts/post.html": None})
    assert str(site.root) not in repr((site.validate("bent"), site.security("bent"), site.manifest("bent")))
