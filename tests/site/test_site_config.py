"""site.yaml: layering, defaults, checks, locales (docs/rules.md, Configuration; C035, C045, C070)."""

import subprocess
import sys

import pytest

from cmsmcp.settings_table import TABLE
from cmsmcp.site.config.checks import OUR_BLOCKS
from cmsmcp.site.config.loading import ConfigFault, load_config, load_node
from cmsmcp.site.yaml.loader import core_value

BASE = "content/config/site.yaml"


def test_defaults_are_foundrys(make_site) -> None:
    """docs/rules.md, Configuration."""
    config = make_site(config="").config
    assert (config.name, config.title, config.base_url, config.theme, config.environment, config.default_lang) == (
        "foundry", "Foundry CMS", "", "default", "default", "en",
    )
    assert (config.content_dir, config.public_dir, config.themes_dir, config.data_dir, config.plugins_dir) == (
        "content", "public", "themes", "data", "plugins",
    )
    assert config.content_dirs["pages"] == "content/pages"
    assert config.feed_paths == ("/rss.xml", "/sitemap.xml")
    assert list(config.taxonomies) == ["tags", "categories"]
    assert config.diagnostics == ()
    assert config.files == (BASE,)


def test_layers_merge_maps_and_replace_lists_and_scalars(make_site, tmp_path_factory) -> None:
    """docs/rules.md, Configuration: base, environment, overlays, deploy target."""
    overlay = tmp_path_factory.mktemp("elsewhere") / "extra.yaml"
    overlay.write_text("title: Overlay\nserver: {addr: ':1'}\n")
    site = make_site({
        "content/config/site.prod.yaml": "title: Prod\nserver: {live_reload: false}\nplugins: {enabled: [b]}\n",
    }, "title: Base\nserver: {addr: ':8080', live_reload: true}\nplugins: {enabled: [a, c]}\n"
       "deploy: {default_target: live, targets: {live: {base_url: https://live, include_drafts: true, theme: ''}, other: {theme: dark}}}\n")
    config = load_config(site.root, "prod", [overlay])
    assert (config.title, config.plugins_enabled, config.base_url, config.theme) == ("Overlay", ("b",), "https://live", "default")
    assert config.values["server"] == {"addr": ":1", "live_reload": False}
    assert config.values["build"] == {"include_drafts": True}
    assert config.environment == "prod"
    assert config.files == (BASE, "content/config/site.prod.yaml", "extra.yaml")
    assert load_config(site.root, target="other").theme == "dark"
    assert load_config(site.root, "default").title == load_config(site.root, "absent").title == "Base"


def test_every_scalar_keeps_its_own_file_and_line(make_site) -> None:
    site = make_site({"content/config/site.prod.yaml": "\nmcp:\n  audit: true\n"}, "mcp:\n  enabled: true\n  audit: false\n")
    mcp = load_node(site.root, "prod").entries["mcp"]
    assert {key: (node.text, node.file, node.line) for key, node in mcp.entries.items()} == {
        "enabled": ("true", BASE, 2), "audit": ("true", "content/config/site.prod.yaml", 3),
    }
    assert core_value(load_node(site.root)) == {"mcp": {"enabled": True, "audit": False}}


@pytest.mark.parametrize(("text", "line", "word"), [
    (b"mcp: {enabled: true}\nmcp: {enabled: false}\n", 2, "`mcp`"), (b"mcp:\n  scopes: [a]\n  scopes: [b]\n", 3, "`scopes`"),
    (b"mcp:\n\tenabled: true\n", 2, "tab"), (b"a: 1\n---\nb: 2\n", 2, "more than one"), (b"- a\n", 1, "map"), (b"just text", 1, "map"),
    (b"a: \xff", 1, "UTF-8"), (b"a: [", 1, ""),
])
def test_a_site_yaml_that_cannot_be_read_is_a_fault_with_file_and_line(make_site, text: bytes, line: int, word: str) -> None:
    """C035 (a key repeated in site.yaml), C070."""
    site = make_site(config=text)
    for load in (load_config, load_node):
        with pytest.raises(ConfigFault) as caught:
            load(site.root)
        fault = caught.value.faults[0]
        assert (fault.file, fault.line, word in fault.message) == (BASE, line, True), fault.message
        assert str(caught.value).startswith(f"{BASE}:{line}: ")


def test_an_absent_site_yaml_is_a_fault(tmp_path) -> None:
    with pytest.raises(ConfigFault, match="does not exist"):
        load_config(tmp_path)


@pytest.mark.parametrize("text", ["", "# only comments\n", "---\n", "\ufeffname: x\n"])
def test_an_empty_site_yaml_and_a_bom_are_fine(make_site, text: str) -> None:
    """C070."""
    assert load_config(make_site(config=text).root).name in ("foundry", "x")


def test_a_broken_overlay_is_a_diagnostic_for_the_site_and_a_fault_for_the_strict(make_site) -> None:
    site = make_site({"content/config/site.prod.yaml": "a: [\n"}, "name: x\n")
    config = load_config(site.root, "prod", [site.root / "gone.yaml"])
    assert config.name == "x"
    assert [(d.severity, d.path) for d in config.diagnostics] == [("error", "content/config/site.prod.yaml"), ("error", "gone.yaml")]
    with pytest.raises(ConfigFault) as caught:
        load_node(site.root, "prod", [site.root / "gone.yaml"])
    assert [fault.file for fault in caught.value.faults] == ["content/config/site.prod.yaml", "gone.yaml"]
    assert str(site.root) not in str(caught.value)


@pytest.mark.parametrize("env", ["../x", "a/b", "..", ".hidden", "a\\b"])
def test_an_environment_is_a_plain_name(make_site, env: str) -> None:
    with pytest.raises(ConfigFault, match="plain name"):
        load_config(make_site().root, env)


@pytest.mark.parametrize(("text", "word"), [
    ("theme: a/b", "`theme`"), ("theme: ..", "`theme`"), ("theme: '  '", "`theme`"), ("theme: [a]", "`theme`"),
    ("content_dir: ../x", "`content_dir`"), ("data_dir: /etc", "`data_dir`"), ("content: {pages_dir: a/../../b}", "`content.pages_dir`"),
    ("plugins: {enabled: [a/b]}", "`plugins.enabled`"), ("plugins: {enabled: {a: b}}", "`plugins.enabled`"),
    ("content_dir: ' '", "`content_dir`"), ("admin: {theme: a/b}", "`admin.theme`"),
    ("feed: {rss_path: rss.xml}", "`feed.rss_path`"), ("feed: {rss_path: /a, sitemap_path: /a}", "must differ"),
    ("server: {live_reload_mode: push}", "stream or poll"), ("admin: {path: /}", "root"), ("admin: {path: /a/../b}", "`admin.path`"),
    ("admin: {path: /a b}", "letters"), ("content: {max_versions_per_file: -1}", "`content.max_versions_per_file`"),
    ("backup: {headroom_percent: 50}", "100 is the least"), ("admin: {password_min_length: 4}", "8 is the least"),
    ("admin: {session_ttl_minutes: many}", "whole number"), ("deploy: {default_target: x}", "`deploy.targets`"),
    ("deploy: {targets: {a/b: {}}}", "single folder name"), ("deploy: {targets: {a: {theme: x/y}}}", "`deploy.targets.a.theme`"),
    ("deploy: {targets: {a: {live_reload_mode: x}}}", "stream or poll"), ("default_lang: a/b", "slash"), ("title: {a: b}", "`title`"),
    ("menus: [a]", "menus"), ("taxonomies: {default_set: {tags: yes}}", "`taxonomies.default_set`"),
])
def test_config_checks_are_diagnostics_with_file_and_line(make_site, text: str, word: str) -> None:
    """docs/rules.md, Configuration: all reported, none fatal."""
    config = make_site(config=f"name: x\n{text}\n").config
    assert config.name == "x"
    assert [(d.severity, d.path, d.line) for d in config.diagnostics] == [("error", BASE, 2)], config.diagnostics
    assert word in config.diagnostics[0].message


def test_a_single_text_in_a_list_of_the_configuration_is_a_list_of_one(make_site) -> None:
    """docs/rules.md, Front matter."""
    config = make_site(config="name: x\nplugins: {enabled: guestbook}\ntaxonomies: {default_set: tags}\n").config
    assert (config.plugins_enabled, list(config.taxonomies)) == (("guestbook",), ["tags"])
    assert [(one.severity, one.line) for one in config.diagnostics] == [("warning", 3), ("warning", 2)]
    assert 'write ["guestbook"]' in config.diagnostics[1].message


@pytest.mark.parametrize(("text", "meant"), [
    ("mpc: {enabled: true}\nmcp: {}", "mcp"), ("apis: {enabled: false}", "api"), ("governence:", "governance"),
    ("opps: {enabled: true}", "ops"), ("locale: [en, de]", "locales"), ("Locales: {en: {fallback: none}}", "locales"),
])
def test_a_misspelt_block_of_ours_is_asked_about(make_site, text: str, meant: str) -> None:
    """docs/rules.md, Configuration: unknown keys are left alone, but this one would be left out in silence."""
    [found] = make_site(config=f"name: x\n{text}\n").config.diagnostics
    assert (found.severity, found.line) == ("warning", 2)
    assert found.message == f'the key "{text.partition(":")[0]}" is unknown. Did you mean "{meant}"?'


def test_the_blocks_of_foundry_and_other_words_are_not_asked_about(make_site) -> None:
    text = "".join(f"{name}:\n" for name in ("seo", "cache", "menus", "params", "foundry")) + "author: {name: x}\nmap: text\nsocial: [a]\n"
    assert make_site(config=text).config.diagnostics == ()


def test_the_blocks_asked_about_are_those_of_the_table() -> None:
    assert set(OUR_BLOCKS) == {row.path.split(".")[0] for row in TABLE}


def test_all_faults_are_reported_at_once(make_site) -> None:
    config = make_site(config="theme: a/b\nfeed: {rss_path: x}\nserver: {live_reload_mode: y}\n").config
    assert sorted(d.line or 0 for d in config.diagnostics) == [1, 2, 3]


def test_taxonomies_that_are_declared(make_site) -> None:
    text = "taxonomies: {default_set: [tags], definitions: {tags: {title: T, labels: {es: Etiquetas}}, read_level: {}}}\n"
    found = make_site(config=text).config.taxonomies
    assert {name: (t.title, dict(t.labels)) for name, t in found.items()} == {
        "tags": ("T", {"es": "Etiquetas"}), "read_level": ("Read level", {}),
    }


def test_locales_fall_back_as_declared(make_site) -> None:
    """C045; `no` is Norwegian, `none` is no fallback."""
    text = (
        "default_lang: en_gb\nlocales:\n  en-GB: {}\n  de: {fallback: EN_gb}\n  de-AT: {fallback: de}\n"
        "  fr: {fallback: none}\n  no: {fallback: en-GB}\n"
    )
    locales = make_site(config=text).config.locales
    assert (locales.default, locales.codes, locales.declared) == ("en-GB", ("en-GB", "de", "de-AT", "fr", "no"), True)
    assert locales.fallbacks == {"en-GB": (), "de": ("en-GB",), "de-AT": ("de", "en-GB"), "fr": (), "no": ("en-GB",)}
    assert [locales.find(code) for code in ("DE_at", "xx", "", "../en-GB", "*")] == ["de-AT", None, None, None, None]


@pytest.mark.parametrize(("text", "default", "codes"), [
    ("locales: [en, es]", "en", ("en", "es")), ("locales: [de, en]", "de", ("de", "en")),
    ("default_lang: fr\nlocales: [en]", "fr", ("fr", "en")),
    ("locales: [en, EN, es]", "en", ("en", "es")), ("default_lang: en", "en", ("en", "es", "pt-br")),
    ("locales:", "en", ("en", "es", "pt-br")),
])
def test_the_default_is_always_among_the_locales(make_site, text: str, default: str, codes: tuple[str, ...]) -> None:
    """P21; docs/rules.md, Languages."""
    folders = {f"content/{place}/a.md": "x" for place in ("pages/es", "posts/pt_BR", "pages/faq", "pages/zz", "images/de", "pages/en")}
    locales = make_site(folders, text + "\n").config.locales
    assert (locales.default, locales.codes) == (default, codes)


def test_a_circle_of_fallbacks_ends_and_is_reported(make_site) -> None:
    config = make_site(config="locales:\n  en: {}\n  a1: {}\n  de: {fallback: fr}\n  fr: {fallback: de}\n  it: {fallback: xx}\n").config
    assert config.locales.fallbacks["de"] == ("fr",)
    assert config.locales.fallbacks["it"] == ()
    assert sorted(d.line for d in config.diagnostics) == [3, 4, 5, 6]


def test_what_a_stdio_server_loads_first_is_light() -> None:
    """The tree must be readable before the first reply without the catalog's and the protocol's libraries."""
    code = "import sys, cmsmcp.site.config.loading; print(*sys.modules)"
    loaded = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
    heavy = {"tantivy", "sqlite3", "marshmallow", "pyromark", "tree_sitter", "watchfiles", "flask", "redis", "cmsmcp.site.model"}
    assert not loaded & heavy
