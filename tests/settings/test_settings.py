"""Configuration is read strictly: whatever could switch something on by accident stops the start (C070, C035, F3-F5)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.governance.scopes import READ_SCOPES
from cmsmcp.settings import (
    _VARIABLES,
    Environment,
    SettingsError,
    find_site,
    load_settings,
    read_environment,
    state_folder,
)
from cmsmcp.settings_table import TABLE, read
from cmsmcp.site.yaml.loader import YamlFault, load
from cmsmcp.site.yaml.nodes import Mapping

ROOT = Path(__file__).resolve().parents[2]
CONFIG = "content/config/site.yaml"


@pytest.fixture
def site(tmp_path: Path):
    """Writes a site.yaml and returns its folder."""

    def write(text: str | bytes) -> Path:
        path = tmp_path / "site" / CONFIG
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / "site"

    return write


def faults(site_folder: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(site_folder)
    return str(caught.value)


# C070, its whole list: what stands in the block, and the key the refusal must name.
@pytest.mark.parametrize(
    ("block", "key"),
    [
        ('{enabled: "false"}', "mcp.enabled"),
        ("{enabled: off}", "mcp.enabled"),
        ('{enabled: "no"}', "mcp.enabled"),
        ("{enabled: flase}", "mcp.enabled"),
        ("{enabled: 1}", "mcp.enabled"),
        ('{enabled: true, read_only: "false"}', "mcp.read_only"),
        ("{enabled: true, read_only: null}", "mcp.read_only"),
        ('{enabled: true, audit: "no"}', "mcp.audit"),
        ('{enabled: true, scopes: "read:content"}', "mcp.scopes"),
        ("{enabled: true, scopes: null}", "mcp.scopes"),
        ("{enabled: true, scopes: [read:content, read:contnet]}", 'mcp.scopes "read:contnet" is no scope. Did you mean "read:content"?'),
        ('{enabled: true, scopes: ["read:*"]}', "mcp.scopes"),
        ("{enabled: true, scope: [read:content]}", 'mcp has an unknown key "scope". Did you mean "scopes"?'),
        ("{enabled: true, max_concurrency: 0}", "mcp.max_concurrency"),
        ('{enabled: true, max_concurrency: "16"}', "mcp.max_concurrency"),
        ("{enabled: true, rate_limit: {requests_per_minute: -1, burst: 0}}", "mcp.rate_limit.burst"),
        ("{enabled: true, rate_limit: 600}", "mcp.rate_limit"),
        ("{enabled: true, rate_limit: {requests_per_minute: 1e9}}", "mcp.rate_limit.requests_per_minute"),
        ("[]", "mcp"),
        ('"true"', "mcp"),
        # beyond the case's list
        ("", "mcp"),
        ("{enabled: yes}", "mcp.enabled"),
        ("{enabled: !!bool true}", "mcp.enabled"),
        ("{enabled: {}}", "mcp.enabled"),
        ("{max_concurrency: 1.5}", "mcp.max_concurrency"),
        ("{max_concurrency: 0x10}", "mcp.max_concurrency"),
        ("{rate_limit: {costs: {search_content: 121}}}", "mcp.rate_limit.costs.search_content"),
        ("{capabilities: {get_documnt: {}}}", 'Did you mean "get_document"?'),
        ("{capabilities: {get_document: {timeout: soon}}}", "mcp.capabilities.get_document.timeout"),
        ("{issuers: [{issuer: https://a.example}]}", 'mcp.issuers[0] lacks the key "jwks_url"'),
        ("{issuers: [{issuer: http://idp.example, jwks_url: https://a.example/k, audience: x}]}", "mcp.issuers[0].issuer needs https"),
        ("{issuers: [{issuer: https://a.example, jwks_url: http://10.0.0.1/k, audience: x}]}", "mcp.issuers[0].jwks_url needs https"),
        ("{issuers: [{issuer: https://a.example, jwks_url: https://a.example/k, audience: x}]}", "mcp.issuers needs mcp.public_url"),
        ("{auth: nobody}", "mcp.auth"),
        ("{public_url: cms.example}", "mcp.public_url"),
        ("{allowed_hosts: [https://cms.example]}", "mcp.allowed_hosts"),
        ("{allowed_origins: [https://cms.example/]}", "mcp.allowed_origins"),
        ("{trusted_proxies: [10.0.0.0/99]}", "mcp.trusted_proxies"),
    ],
)
def test_a_faulty_mcp_block_stops_the_start_and_names_the_key(site, block: str, key: str) -> None:
    message = faults(site(f"name: x\n\nmcp: {block}\n"))
    assert key in message
    assert message.startswith(f"{CONFIG}:3: ")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("api: {rate_limit: {burst: 0}}", "api.rate_limit.burst"),
        ("governance: {on_redis_failure: open}", "governance.on_redis_failure"),
        ("governance: {on_redis_failure: local}", "governance.on_redis_failure local is reserved"),
        ("governance: {audit_retention: 90}", "governance.audit_retention"),
        ("ops: {enable: true}", 'Did you mean "enabled"?'),
        ("api: {ENABLED: true}", 'Did you mean "enabled"?'),
        ("mcp: {max-streams: 3}", 'Did you mean "max_streams"?'),
        ("mcp: {requests_per_minute: 3}", 'It belongs below "mcp.rate_limit:".'),
        ("mcp: {rate_limit: {scopes: []}}", 'It belongs below "mcp:".'),
        ("mcp: {scopes: read:content}", "needs a list of scopes, not read:content; write [read:content]"),
        ("api: {cors: https://app.example}", "write [https://app.example]"),
        ("mcp: {issuers: {issuer: x}}", "beginning with `- `"),
        ("locales: en", "locales"),
        ("locales: [en, 'not a code']", "locales"),
        ("locales: {de-AT: {fallback: fr}}", "locales"),
        ("locales: {de-AT: {fallbck: de}, de: }", 'Did you mean "fallback"?'),
    ],
)
def test_the_other_blocks_are_as_strict(site, text: str, key: str) -> None:
    assert key in faults(site(text + "\n"))


@pytest.mark.parametrize(
    ("text", "line", "way_out"),
    [
        ("mcp:\nenabled: true\nauth: none\n", 1, "needs a mapping of keys, not nothing: what belongs to it stands beside it; "
         "indent enabled (line 2), auth (line 3) by two more spaces than mcp"),
        ("name: x\nmcp:\n", 2, "indent its keys below it by two more spaces (known: allowed_hosts, "),
        ("mcp:\n  enabled: true\n  rate_limit:\n  burst: 3\n", 3, "indent burst (line 4) by two more spaces than rate_limit"),
        ("mcp:\n  capabilities:\n  get_document: {timeout: 3}\n", 2, "indent get_document (line 3)"),
        ("api:\nenabled: false\n", 1, "indent enabled (line 2)"), ("governance:\nops:\n", 1, "indent its keys"),
    ],
)
def test_a_block_pasted_flat_is_told_to_indent_it(site, text: str, line: int, way_out: str) -> None:
    """docs/rules.md, Configuration: to remove the key, as was once advised, would switch MCP off."""
    message = faults(site(text))
    assert f"{CONFIG}:{line}: " in message and way_out in message
    assert "remove the key" not in message


def test_an_issuer_is_kept_to_the_letter_and_loopback_may_do_without_tls(site) -> None:
    """Issue item 3: one issuer's name ends with a slash, another's does not; the two are compared as they stand."""
    issuers = (
        "{issuer: https://idp.example/, jwks_url: 'https://idp.example/keys?v=2', audience: https://cms.example/mcp}",
        "{issuer: http://127.0.0.1:9, jwks_url: http://localhost:9/keys, audience: x}",
    )
    folder = site(f"mcp:\n  public_url: https://cms.example\n  issuers: [{', '.join(issuers)}]\n")
    first, second = load_settings(folder).door.issuers
    assert (first.name, first.jwks_url) == ("https://idp.example/", "https://idp.example/keys?v=2")
    assert second.name == "http://127.0.0.1:9"
    twice = site(f"mcp:\n  public_url: https://cms.example\n  issuers: [{issuers[0]}, {issuers[0]}]\n")
    assert "names one issuer twice" in faults(twice)


def test_every_fault_is_reported_at_once_with_its_line(site) -> None:
    """docs/rules.md, Configuration: each fault with file and line."""
    message = faults(site("mcp:\n  enabled: 1\n  scopes:\n    - read:content\n    - nope\n    - nor this\napi:\n  enabld: true\n"))
    assert [line.split(" ", 1)[0] for line in message.splitlines()] == [f"{CONFIG}:{n}:" for n in (2, 5, 6, 8)]


def test_omitted_scopes_are_every_read_scope_of_the_seed_and_an_empty_list_is_none(site) -> None:
    """F5, C070: its own five. What opens drafts is written out, or it is off."""
    five = {"read:content", "read:docs", "read:themes", "read:plugins", "read:ops"}
    assert load_settings(site("mcp: {enabled: true}")).policy.scopes == READ_SCOPES == five
    assert load_settings(site("mcp: {enabled: true, scopes: [read:content, read:unpublished]}")).policy.scopes == {
        "read:content", "read:unpublished",
    }  # fmt: skip
    assert load_settings(site("mcp: {enabled: true, scopes: []}")).policy.scopes == frozenset()


def test_the_defaults_are_the_seeds(site) -> None:
    """F4."""
    policy = load_settings(site("mcp: {enabled: true}")).policy
    assert (policy.max_concurrency, policy.audit) == (16, False)
    assert load_settings(site("mcp: {enabled: true, read_only: false}")).policy == policy, "F6: false alone grants nothing"
    assert (policy.rate.requests_per_minute, policy.rate.burst) == (600, 120)


@pytest.mark.parametrize(("block", "share"), [
    ("", 12), ("max_concurrency: 1", 1), ("max_concurrency: 2", 1), ("max_concurrency: 3", 2), ("max_concurrency: 4", 3),
    ("max_concurrency: 10000", 7500), ("max_concurrency_per_client: 16", 16), ("max_concurrency_per_client: 1, max_concurrency: 9", 1),
    ("auth: none", None), ("auth: none, max_concurrency_per_client: 2", None),
])
def test_a_client_has_three_quarters_of_the_site_unless_configured(site, block: str, share: int | None) -> None:
    """docs/rules.md, Limits: a part of what there is, rounded down, at least one; where clients cannot be told apart there is none."""
    assert load_settings(site(f"mcp: {{{block}}}")).policy.max_concurrency_per_client == share


def test_values_reach_the_rooms(site) -> None:
    settings = load_settings(
        site(
            "name: n\nmcp:\n  enabled: true\n  rate_limit: {burst: 7, costs: {search_content: 5}}\n"
            "  capabilities: {get_document: {timeout: 2.5}, list_plugins: {enabled: false}}\n"
            "  public_url: https://CMS.example/\n  allowed_hosts: [Cms.Example]\n"
        )
    )
    assert settings.site_name == "n"
    assert settings.policy.rate.cost("search_content") == 5
    assert settings.policy.overrides["get_document"].timeout == 2.5
    assert settings.policy.overrides["get_document"].enabled is None
    assert settings.policy.overrides["list_plugins"].enabled is False
    assert settings.door.allowed_hosts == ("cms.example",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "has no mcp block"),
        ("# nothing but a comment\n", "has no mcp block"),
        ("\ufeffname: x\n", "has no mcp block"),
        ("mpc: {enabled: true}\n", 'has no mcp block, but an unknown key "mpc". Did you mean "mcp"? Write: mcp: {enabled: true}'),
        ("MCP: {enabled: true}\n", 'an unknown key "MCP". Did you mean "mcp"?'),
        ("mcp: {enabled: false}\n", "disabled"),
        ("mcp: {}\n", "disabled"),
    ],
)
def test_absent_or_disabled_says_so_in_one_line(site, text: str, expected: str) -> None:
    """F3, F46; C070 "BOM, empty, only comments"."""
    refusal = load_settings(site(text)).refusal
    assert refusal and expected in refusal and "\n" not in refusal


@pytest.mark.parametrize(
    "text",
    [
        "mcp:\n\tenabled: true\n",
        "mcp: {enabled: true}\n---\nmcp: {enabled: true}\n",
        "mcp: {enabled: false, enabled: true}\n",
        "- a\n",
        b"mcp: \xff\n",
    ],
)
def test_a_file_that_is_no_single_map_stops_the_start(site, text) -> None:
    """C070 "tab indented, two documents"; C035 (a repeated key)."""
    assert faults(site(text)).startswith(f"{CONFIG}:")


def test_an_environment_layers_over_the_base_and_a_missing_overlay_is_a_fault(site, tmp_path: Path) -> None:
    """F3: overlays apply as usual."""
    folder = site("mcp: {enabled: true}")
    (folder / "content/config/site.prod.yaml").write_text("mcp: {enabled: false}\n")
    assert load_settings(folder).refusal is None
    assert load_settings(folder, "prod").refusal
    with pytest.raises(SettingsError, match="gone.yaml"):
        load_settings(folder, "", [tmp_path / "gone.yaml"])


def test_the_documented_table_is_the_table() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (.+?) \| (.+?) \| (.+) \|$", (ROOT / "docs/configuration.md").read_text(), re.MULTILINE)
    documented = [row for row in rows if "." in row[0] or row[0] == "locales"]
    assert documented == [(row.path, row.kind.name, row.shown, row.meaning) for row in TABLE]


def test_the_documented_example_is_clean(site) -> None:
    example = re.findall(r"```yaml\n(.+?)```", (ROOT / "docs/configuration.md").read_text(), re.DOTALL)[0]
    assert load_settings(site(example)).refusal is None


BLOCKS = sorted({row.path.split(".")[0] for row in TABLE})


@given(st.dictionaries(st.sampled_from(BLOCKS), st.text(max_size=30) | st.integers() | st.none() | st.booleans()))
def test_no_value_of_a_block_is_taken_for_a_block(blocks) -> None:
    """Whatever a scalar says, it is a fault with a line, never a default."""
    source = "".join(f"{name}: {_plain(value)}\n" for name, value in blocks.items())
    try:
        node = load(source, "site.yaml")
    except YamlFault:
        return
    if isinstance(node, Mapping):
        _, found = read(node)
        assert {fault.key.split(".")[0] for fault in found} == set(node.entries)
        assert all(fault.line >= 1 and "\n" not in str(fault) for fault in found)


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else repr(value)


@pytest.mark.parametrize("name", ["REDIS_URL", "CMSMCP_SECRET_KEY", "CMSMCP_STATE_DIR", "CMSMCP_SITE", "CMSMCP_CAPABILITIES"])
def test_a_variable_that_is_set_but_empty_is_a_fault(name: str) -> None:
    """C068 (an empty URL), C070 (an empty variable)."""
    with pytest.raises(SettingsError, match=name):
        read_environment({name: "  "})


@pytest.mark.parametrize("value", [",", " , ,", ",,,"])
def test_a_key_variable_that_holds_no_key_is_a_fault(value: str) -> None:
    """It was set, so another key must not be made and used instead."""
    with pytest.raises(SettingsError, match="CMSMCP_SECRET_KEY"):
        read_environment({"CMSMCP_SECRET_KEY": value})


@pytest.mark.parametrize("value", [",", "one,", "a b", "one/two", "1st", ".one", "one..two", "-x"])
def test_what_can_name_no_package_is_a_fault(value: str) -> None:
    """docs/configuration.md, Environment."""
    with pytest.raises(SettingsError, match=r"CMSMCP_CAPABILITIES.*no name of a package"):
        read_environment({"CMSMCP_CAPABILITIES": value})
    assert read_environment({"CMSMCP_CAPABILITIES": " one, two.three "}).capabilities == ("one", "two.three")


def test_every_variable_is_documented_and_only_those() -> None:
    section = (ROOT / "docs/configuration.md").read_text().partition("\n## Environment\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", section, re.MULTILINE)) == set(_VARIABLES)


def test_secrets_are_several_and_show_in_no_representation() -> None:
    environment = read_environment({"CMSMCP_SECRET_KEY": f"{'a' * 32}, {'b' * 40}"})
    assert environment.secrets == (b"a" * 32, b"b" * 40) and "aaa" not in repr(environment)


def test_the_state_folder_is_one_per_site_outside_it_and_private(tmp_path: Path) -> None:
    """F1: the site folder is never written to."""
    first, second = tmp_path / "a" / "My Site", tmp_path / "b" / "My Site"
    for folder in (first, second):
        folder.mkdir(parents=True)
    environment = Environment(state_dir=tmp_path / "state")
    states = {state_folder(folder, environment) for folder in (first, second, first)}
    assert len(states) == 2
    assert all(re.fullmatch(r"my-site-[0-9a-f]{12}", state.name) and state.stat().st_mode & 0o077 == 0 for state in states)
    for inside in (first, first / "state"):
        with pytest.raises(SettingsError, match="CMSMCP_STATE_DIR"):
            state_folder(first, Environment(state_dir=inside))


def test_a_folder_that_is_no_site_is_told_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"site\.yaml is missing.*cmsmcp init"):
        find_site(tmp_path)
    with pytest.raises(SettingsError, match="cmsmcp init"):
        find_site(tmp_path / "gone")
