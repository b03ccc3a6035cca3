"""Theme manifests: normalised, never failing (docs/rules.md, Themes; F19, C036, C039)."""

from __future__ import annotations

import pytest

from cmsmcp.protocol.errors import NotFound


def test_defaults_are_filled_in(site) -> None:
    """docs/rules.md, Themes."""
    site.write("themes/bare/theme.yaml", "{}")
    found = site.manifest("bare")
    assert (found["name"], found["title"], found["version"]) == ("bare", "bare", "0.0.0")
    assert (found["sdk_version"], found["compatibility_version"]) == ("v1", "v1")
    assert found["layouts"] == ["base", "index", "page", "post", "list"]
    assert found["security"] == {
        "external_assets": {"allowed": False, "scripts": [], "styles": [], "fonts": [], "images": [], "media": []},
        "frontend_requests": {"allowed": False, "origins": [], "methods": ["GET"]},
        "template_context": {
            "allow_site_params": True, "allow_content_fields": True, "allow_shared_fields": True,
            "allow_runtime_state": False, "allow_admin_state": False, "allow_raw_config": False,
        },
    }
    assert found["diagnostics"] == []


def test_supported_layouts_win(site) -> None:
    site.write("themes/both/theme.yaml", "layouts: [base, page]\nsupported_layouts: [base, gallery]\n")
    assert site.manifest("both")["layouts"] == ["base", "gallery"] == site.manifest("both")["supported_layouts"]


def test_sources_become_sorted_origins(site) -> None:
    """docs/rules.md, Themes: cut to scheme and host."""
    site.write("themes/remote/theme.yaml", """\
security:
  external_assets: {allowed: true, scripts: ["https://b.example/x/y.js", "https://a.example/", "https://b.example/z.js", "cdn.example"]}
  frontend_requests: {allowed: true, origins: ["wss://live.example/feed"], methods: [post, GET, post]}
""")
    security = site.manifest("remote")["security"]
    assert security["external_assets"]["scripts"] == ["cdn.example", "https://a.example", "https://b.example"]
    assert security["frontend_requests"] == {"allowed": True, "origins": ["wss://live.example"], "methods": ["GET", "POST"]}


def test_field_contracts_keep_their_shape(site) -> None:
    site.write("themes/fields/theme.yaml", """\
config_schema: [{name: size, type: number, default: 0.7}, {name: word, type: text, default: no}]
field_contracts:
  - key: hero
    target: {scope: page, types: [post]}
    fields:
      - {name: rows, type: repeater, item: {name: row, type: object, fields: [{name: a, type: text, required: true}]}}
""")
    found = site.manifest("fields")
    assert [field["default"] for field in found["config_schema"]] == [0.7, "no"]
    contract = found["field_contracts"][0]
    assert contract["target"]["scope"] == "document"
    assert contract["fields"][0]["item"]["fields"][0] == {"name": "a", "label": "", "type": "text", "required": True}


def test_the_active_theme_is_the_one_without_a_name(site) -> None:
    site.theme("other")
    assert (site.manifest()["name"], site.manifest()["active"], site.manifest("other")["active"]) == ("plain", True, False)


@pytest.mark.parametrize("name", ["nothing", "..", "../plain", "plain/layouts", "/etc", "", ".git", "PLAIN", "admin-themes", "plain\0"])
def test_a_name_that_is_no_theme_folder_is_not_found(site, name: str) -> None:
    """docs/rules.md, Files: names are single components; `admin-themes` holds themes of the admin."""
    site.write("themes/admin-themes/default/admin-theme.yaml", "name: default")
    site.write("themes/.git/config", "x")
    with pytest.raises(NotFound, match=r"Themes: plain\."):
        site.manifest(name)


@pytest.mark.parametrize(("source", "line"), [
    ("name: [open", 1), ("a: 1\na: 2\n", 2), ("- a\n- b\n", 1), ("just text", 1), ("x: !!python/object/apply:os.getcwd []", 1),
    (b"name: Caf\xe9", None), ("x: " + "[" * 3000 + "]" * 3000, 1),
])
def test_an_unreadable_manifest_is_a_diagnostic(site, source: str | bytes, line: int | None) -> None:
    """C036, C039: never an exception; the file is named, and the rest of the list stands."""
    site.write("themes/broken/theme.yaml", source)
    found = site.manifest("broken")
    assert found["name"] == "broken"
    assert {(one["severity"], one["path"]) for one in found["diagnostics"]} == {("error", "themes/broken/theme.yaml")}
    assert found["diagnostics"][0]["line"] == line
    assert not site.validate("broken")["valid"]


def test_values_of_the_wrong_type_are_diagnostics_with_their_line(site) -> None:
    source = "name: odd\nslots: head.end\nsecurity:\n  external_assets: {allowed: maybe}\nfield_contracts: {a: b}\n"
    site.write("themes/odd/theme.yaml", source)
    lines = {one["line"] for one in site.manifest("odd")["diagnostics"]}
    assert lines == {2, 4, 5}


def test_a_manifest_that_is_a_link_out_of_the_theme_is_not_read(site, tmp_path_factory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "theme.yaml"
    outside.write_text("title: SECRET")
    (site.root / "themes/linked").mkdir()
    (site.root / "themes/linked/theme.yaml").symlink_to(outside)
    found = site.manifest("linked")
    assert found["title"] == "linked" and "leaves the site folder" in found["diagnostics"][0]["message"]


def test_results_follow_the_files(site) -> None:
    """Kept results are dropped when the folder changes."""
    before = site.manifest()
    assert site.manifest() is before
    site.write("themes/plain/theme.yaml", "title: Changed")
    assert site.manifest()["title"] == "Changed"
