"""The command line as a person meets it."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from cmsmcp import __version__
from cmsmcp.cli import read_stdio_options
from cmsmcp.cli.root import command as root
from tests.waiting import until

BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    return {**kept, "CMSMCP_STATE_DIR": str(tmp_path_factory.mktemp("state"))}


@pytest.fixture(scope="module")
def run(environment: dict[str, str]) -> Any:
    def begin(*words: object, program: str = "cmsmcp", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        line = [str(BIN / program), *map(str, words)]
        return subprocess.run(line, env=environment, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)

    return begin


@pytest.fixture(scope="module")
def site(run: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "my-site"
    done = run("init", folder)
    assert done.returncode == 0 and f"{BIN / 'cmsmcp'} check --site {folder}" in done.stdout
    return folder


def every_command(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(path), group
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            below = group.get_command(context, name)
            assert below is not None
            yield from every_command(below, (*path, name))


@pytest.mark.parametrize(("path", "found"), list(every_command(root)), ids=lambda value: value if isinstance(value, str) else "")
def test_every_help_says_what_it_does_and_has_an_example(path: str, found: click.Command) -> None:
    """Help comes with examples."""
    text = found.get_help(click.Context(found, info_name="cmsmcp"))
    assert found.help and "Example" in text and f"cmsmcp {path}".strip() in text
    assert all(parameter.help for parameter in found.params if isinstance(parameter, click.Option))


def test_version_and_both_names(run: Any) -> None:
    assert run("--version").stdout == run("--version", program="foundry").stdout == f"cmsmcp, version {__version__}\n"


def test_a_mistyped_command_or_option_is_a_usage_error_with_the_nearest_name(run: Any) -> None:
    done = run("sreve")
    assert done.returncode == 2 and "'serve'" in done.stderr and done.stdout == ""
    done = run("check", "--sit", "x")
    assert done.returncode == 2 and "--site" in done.stderr


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("mcp serve", (".", "", ())),
        ("mcp serve --transport stdio --site=a --env b --config-overlay c --config-overlay=d", ("a", "b", ("c", "d"))),
        ("mcp serve --help", None),
        ("mcp serve --transport http", None),
        ("mcp serve --site", None),
        ("mcp serve --site --env", None),
        ("mcp serve x", None),
        ("serve --site a", None),
    ],
)
def test_only_a_plain_stdio_command_skips_the_rest_of_the_command_line(words: str, fields: Any) -> None:
    found = read_stdio_options(words.split())
    expected = None if fields is None else {"folder": Path(fields[0]), "env": fields[1], "overlays": tuple(map(Path, fields[2]))}
    assert found == expected


def test_a_new_site_is_clean(run: Any, site: Path) -> None:
    """A small site to start from; it validates without an error or a warning."""
    done = run("check", "--site", site, "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["error_count"], report["warning_count"]) == (0, 0, 0), report["findings"]


def test_init_refuses_a_folder_that_holds_something(run: Any, site: Path, tmp_path: Path) -> None:
    before = sorted(site.rglob("*"))
    done = run("init", site)
    assert done.returncode == 2 and "not empty" in done.stderr and sorted(site.rglob("*")) == before
    assert run("init", tmp_path).returncode == 0, "an empty folder will do"
    file = tmp_path / "content/pages/index.md"
    assert run("init", file).returncode == 2


def test_check_names_file_and_line_and_exits_with_1(run: Any, site: Path) -> None:
    """Plain text where there is no terminal."""
    faulty = site / "content/pages/faulty.md"
    faulty.write_text("---\ntitle: A\ntitle: B\n---\nText\n")
    try:
        done = run("check", cwd=site)
        assert done.returncode == 1 and "\x1b" not in done.stdout
        line = next(line for line in done.stdout.splitlines() if line.startswith("content/pages/faulty.md:"))
        assert ": error: " in line and line.split(":")[1].isdecimal()
        assert json.loads(run("check", "--site", site, "--json").stdout)["error_count"] >= 1
    finally:
        faulty.unlink()


def test_check_and_index_say_which_files_no_type_claims(run: Any, site: Path) -> None:
    """docs/rules.md, Files: they were left out without a word."""
    stray = site / "content/docs/stray.md"
    stray.parent.mkdir()
    stray.write_text("x")
    try:
        checked, indexed = run("check", "--site", site), run("index", "--site", site)
    finally:
        stray.unlink()
        stray.parent.rmdir()
    told = "1 file ending in .md is not served: no content type has this folder; write content/types/docs.yaml"
    assert f"content/docs: warning: {told}" in checked.stdout and checked.returncode == 0
    assert f"content/docs: {told}" in indexed.stderr and indexed.returncode == 0


def test_check_reports_faults_of_our_own_blocks_and_the_rest_of_the_site(run: Any, site: Path, tmp_path: Path) -> None:
    """One fault hides no other. `locales`, which the site reads too, is told once."""
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("mcp:\n  audit: maybe\nlocales: 3\n")
    faulty = site / "content/pages/faulty.md"
    faulty.write_text("---\ntitle: A\ntitle: B\n---\nText\n")
    try:
        done = run("check", "--site", site, "--config-overlay", overlay, "--json")
    finally:
        faulty.unlink()
    report = json.loads(done.stdout)
    found = {(one["check"], one["line"]) for one in report["findings"]}
    assert done.returncode == 1 and {("settings", 2), ("locales", 3), ("duplicate_key", 3)} <= found
    assert report["error_count"] == 3 == len(report["findings"]) and not report["valid"]


def test_check_of_a_file_that_is_no_yaml_says_that_the_rest_waits(run: Any, site: Path) -> None:
    config = site / "content/config/site.yaml"
    before = config.read_text()
    config.write_text(before + "\t- [\n")
    try:
        done = run("check", "--site", site)
    finally:
        config.write_text(before)
    assert done.returncode == 1 and "a tab" in done.stdout and "once this file can be read" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mcp:\n  enabled", "mpc:\n  enabled", ('no mcp block, but an unknown key "mpc". Did you mean "mcp"?', "mcp: {enabled: true}")),
        ("mcp:\n  enabled: true", "mcp:\n  enabled: false", ("MCP is disabled for this site",)),
        ("mcp:\n  enabled: true\n  audit: true", "", ("has no mcp block",)),
    ],
)
def test_check_ends_with_the_reason_why_nothing_is_served(run: Any, site: Path, old: str, new: str, words: tuple[str, ...]) -> None:
    """A warning in the words of `serve`; the site has no error, so the code is 0."""
    config = site / "content/config/site.yaml"
    before = config.read_text()
    assert old in before
    config.write_text(before.replace(old, new))
    try:
        done, refused = run("check", "--site", site), run("serve", "--site", site)
    finally:
        config.write_text(before)
    warning = next(line for line in done.stdout.splitlines() if ": warning: " in line)
    assert done.returncode == 0 and "no errors, 1 warning" in done.stdout and "nothing of it is served" in done.stdout.splitlines()[-1]
    assert refused.returncode == 2 and all(word in warning and word in refused.stderr for word in words)


@pytest.mark.parametrize("words", [["check"], ["index"], ["tokens", "list"], ["mcp", "serve"]])
def test_an_environment_without_its_file_is_told_and_stops_nothing(run: Any, site: Path, words: list[str]) -> None:
    """Foundry passes over it in silence (docs/rules.md, Configuration); a mistyped name must be seen."""
    (site / "content/config/site.production.yaml").touch()
    done = run(*words, "--site", site, "--env", "prodution")
    assert done.returncode == 0 and "warning: the environment prodution has no file" in done.stderr and "production" in done.stderr
    assert "warning" not in run(*words, "--site", site, "--env", "production").stderr
    found = json.loads(run("check", "--site", site, "--env", "prodution", "--json").stdout)["findings"]
    assert [(one["check"], one["severity"]) for one in found] == [("config", "warning")]


def test_a_command_that_is_printed_can_be_pasted(run: Any, site: Path, environment: dict[str, str]) -> None:
    """The program as it was called, and the options that name the same site."""
    overlay = site / "content/config/site.yaml"
    words = ["tokens", "create", "--name", "x", "--site", str(site), "--config-overlay", str(overlay), "--env", "default"]
    line = run(*words).stderr.strip().partition("revoke it with: ")[2]
    assert line.startswith(f"{BIN / 'cmsmcp'} tokens revoke ")
    done = subprocess.run(line, shell=True, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and done.stdout.startswith("revoked ")
    assert "revoked 2" in run("tokens", "list", "--site", site).stdout
    on_path = {**environment, "PATH": f"{BIN}{os.pathsep}{environment['PATH']}"}
    done = subprocess.run(["cmsmcp", *words], env=on_path, capture_output=True, text=True, timeout=60, check=False)
    assert "revoke it with: cmsmcp tokens revoke " in done.stderr and shlex.quote(str(overlay)) in done.stderr
    module = [sys.executable, "-m", "cmsmcp", "check", "--site", str(site.parent)]
    done = subprocess.run(module, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert f"{sys.executable} -m cmsmcp init" in done.stderr


def test_a_list_of_tokens_tells_their_times_and_which_have_ended(run: Any, site: Path) -> None:
    assert run("tokens", "create", "--site", site, "--name", "short-lived", "--ttl", "1s").returncode == 0

    def row() -> str:
        return next(line for line in run("tokens", "list", "--site", site).stdout.splitlines() if "short-lived" in line)

    ended = until(lambda: line if "  expired  " in (line := row()) else None)
    assert re.search(r"until \d{4}-\d\d-\d\d \d\d:\d\d UTC", ended)


def test_check_is_coloured_on_a_terminal(site: Path, environment: dict[str, str]) -> None:
    """Colour is for terminals."""
    parent, child = pty.openpty()
    line = [str(BIN / "cmsmcp"), "check", "--site", str(site)]
    process = subprocess.Popen(line, env={**environment, "TERM": "xterm-256color"}, stdout=child, stderr=child, stdin=child)
    os.close(child)
    shown = b""
    try:
        while chunk := os.read(parent, 65_536):
            shown += chunk
    except OSError:  # how a terminal says that the other side is gone
        pass
    os.close(parent)
    assert process.wait(60) == 0 and b"no errors" in shown and b"\x1b[1;32m" in shown


def test_index_says_what_it_did_and_leaves_the_site_alone(run: Any, site: Path) -> None:
    """F1."""
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    done = run("index", "--site", site)
    assert done.returncode == 0 and "5 documents, up to date" in done.stdout and "\x1b" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before


def test_a_token_stands_alone_on_standard_output_and_is_registered_without_a_server(run: Any, site: Path) -> None:
    """With no Redis and no server, the private Redis is started for as long as it takes."""
    done = run("tokens", "create", "--site", site, "--name", "my-agent", "--access", "mcp-server", "--scope", "read:docs", "--ttl", "1d")
    assert done.returncode == 0 and done.stdout.count("\n") == 1 and done.stdout.count(".") == 2
    listed = run("tokens", "list", "--site", site).stdout
    assert "my-agent" in listed and "[read:docs]" in listed and done.stdout.strip() not in listed


def test_a_key_in_the_environment_is_the_operators_and_the_way_to_rotate_it_is_told(run: Any, site: Path, environment: Any) -> None:
    """Nothing is changed then, and no key is shown."""
    line = [str(BIN / "cmsmcp"), "tokens", "rotate-key", "--site", str(site)]
    held = {**environment, "CMSMCP_SECRET_KEY": "FAKE" * 10}
    done = subprocess.run(line, env=held, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and 'CMSMCP_SECRET_KEY="OLD,NEW"' in done.stderr and "FAKE" not in done.stderr
    assert run("tokens", "rotate-key", "--site", site, "--keep", "0").returncode == 2


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--name", "x", "--access", "mcp"], "mcp-server"),
        (["--name", "x", "--scope", "read:contnt"], "read:content"),
        (["--name", "x", "--scope", "write:content"], "reserved"),
        (["--name", "x", "--ttl", "soon"], "90d"),
        (["--name", "x", "--role", "king"], "editor"),
        (["--name", "x", "--role", "author"], "--subject"),
        (["--name", "\x1b[2J"], "printable"),
        ([], "--name"),
    ],
)
def test_a_token_that_cannot_be_is_refused_with_the_way_out(run: Any, site: Path, words: list[str], hint: str) -> None:
    done = run("tokens", "create", "--site", site, *words)
    assert done.returncode == 2 and done.stdout == "" and hint in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["check"], ["index"], ["serve"], ["tokens", "list"], ["mcp", "serve"]])
def test_a_folder_that_is_no_site_is_told_how_to_become_one(run: Any, tmp_path: Path, words: list[str]) -> None:
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "" and "cmsmcp init" in done.stderr and len(done.stderr.splitlines()) == 1
    assert str(tmp_path) in done.stderr, "the folder that was looked at"


def test_the_stdio_server_loads_nothing_heavy_before_its_first_reply(run: Any, site: Path, environment: dict[str, str]) -> None:
    """docs/rules.md, Processes."""
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}}
    line = [sys.executable, "-X", "importtime", BIN / "cmsmcp", "mcp", "serve", "--site", site]
    done = subprocess.run(line, env=environment, input=json.dumps(message), capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout)["id"] == 0
    loaded = {row.rpartition("|")[2].strip().split(".")[0] for row in done.stderr.splitlines() if row.startswith("import time:")}
    heavy = {"click", "rich", "flask", "gunicorn", "gevent", "redis", "marshmallow", "apispec", "tantivy", "sqlite3", "jwt", "cryptography"}
    assert "yaml" in loaded and not loaded & heavy


def test_packages_of_the_operator_are_found_and_sound_before_anything_starts(
    run: Any, site: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """docs/configuration.md, Environment: CMSMCP_CAPABILITIES."""
    declaring = "from cmsmcp.core.capability import tool\n\n@tool(scope='read:content', audit='x', output_schema={{}}, {0})\n"
    sources = {
        "sound_tools": "", "faulty_tools": "x = 1\n", "broken_tools": "import no_such_module\n",
        "mutating_tools": declaring.format("read_only=False") + "def one(arguments, call):\n    'Writes.'\n",
        "owned_tools": declaring.format("owner='gallery'") + "def one(arguments, call):\n    'Belongs to a plugin.'\n",
    }  # fmt: skip
    for name, source in sources.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "one.py").write_text(source)
    own = {**environment, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"}

    def serve(packages: str, *words: str) -> subprocess.CompletedProcess[str]:
        line = [str(BIN / "cmsmcp"), *(words or ("serve", "--bind", "127.0.0.1:0")), "--site", str(site)]
        variables = {**own, "CMSMCP_CAPABILITIES": packages}
        return subprocess.run(line, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)

    faults = {
        "no_tools": "no package 'no_tools'", "faulty_tools": "faulty_tools/one.py declares no",
        "broken_tools": "broken_tools/one.py cannot be imported (ModuleNotFoundError: No module named 'no_such_module')",
        "mutating_tools": "mutating_tools/one.py: one: mutating capabilities are reserved",
        "sound_tools,owned_tools": "sound_tools/one.py declares no",
        "owned_tools": "owned_tools/one.py: one: plugin capabilities are reserved",
    }  # fmt: skip
    for packages, told in faults.items():
        for words in ((), ("mcp", "serve", "--transport", "stdio")):
            done = serve(packages, *words)
            assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and done.stdout == "", done.stderr
            assert "CMSMCP_CAPABILITIES" in done.stderr and told in done.stderr
    for packages in ("no_tools", "owned_tools"):
        done = serve(packages, "check", "--json")
        [finding] = json.loads(done.stdout)["findings"]
        assert (done.returncode, finding["severity"], finding["path"]) == (1, "error", "CMSMCP_CAPABILITIES")
        assert faults[packages] in finding["message"]
    worker = [BIN / "gunicorn", "-c", "python:cmsmcp.processes.gunicorn_conf", "--bind", "127.0.0.1:0", "cmsmcp.app:from_environment()"]
    variables = {**own, "CMSMCP_CAPABILITIES": "owned_tools", "CMSMCP_SITE": str(site), "CMSMCP_SECRET_KEY": "k" * 40}
    done = subprocess.run(worker, env=variables, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0 and faults["owned_tools"] in done.stderr and "Traceback" not in done.stderr


def test_threads_belong_to_workers_that_have_threads(run: Any, site: Path) -> None:
    done = run("serve", "--site", site, "--threads", "4")
    assert done.returncode == 2 and "--worker-class gthread" in done.stderr
