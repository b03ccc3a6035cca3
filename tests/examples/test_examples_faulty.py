"""Every fault of examples/faulty is found as its FAULTS.md says, and whatever has none is served (docs/rules.md, Odd places; C039)."""

import re
import shutil
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.settings import SettingsError, load_settings
from cmsmcp.site.open import open_site

FAULTY = Path(__file__).resolve().parents[2] / "examples/faulty"
EVERYTHING = Visibility(frozenset(STATUSES))
_ROW = re.compile(r"^\| `([^`]+?)(?::(\d+))?` \| (.+?) \|(?: (.+?) \|)?(?: `(.+?)` \|)?$")


class Fault(NamedTuple):
    path: str
    line: int | None
    what: str
    severity: str
    check: str


def _named(fault: Fault) -> str:
    return f"{fault.path}: {fault.what[:30]}"


def _tables() -> tuple[list[Fault], list[Fault], list[str]]:
    """Faults of files, faults of plugins (`severity` holds the status), and paths that are odd without a fault."""
    faults, plugins, fine = [], [], []
    for line in (FAULTY / "FAULTS.md").read_text(encoding="utf-8").split("\n"):
        found = _ROW.match(line)
        if found is None:
            continue
        path, number, what, third, check = found.groups()
        row = Fault(path, int(number) if number else None, what, third or "", check or "")
        if check:
            faults.append(row)
        elif third:
            plugins.append(row)
        else:
            fine.append(path)
    return faults, plugins, fine


FAULTS, PLUGINS, FINE = _tables()


@pytest.fixture(scope="module")
def findings(faulty):
    return faulty.site.operations.validate(Deadline(10.0))["findings"]


def test_the_tables_are_whole():
    """A row that the expression above cannot read would be a test that is missing."""
    text = (FAULTY / "FAULTS.md").read_text(encoding="utf-8")
    assert text.count("\n| `") == len(FAULTS) + len(PLUGINS) + len(FINE)
    assert len(FAULTS) >= 90
    assert len(PLUGINS) >= 12
    assert all((FAULTY / path).exists() for path in FINE)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.check not in ("validate_theme", "start")], ids=_named)
def test_the_fault_is_found(findings, fault):
    """docs/rules.md, Validation: check, severity, file and line as the table says."""
    found = {(one["severity"], one["check"], one["path"], one["line"]) for one in findings}
    assert (fault.severity, fault.check, fault.path, fault.line) in found


def test_faults_in_our_own_blocks_stop_the_start_each_with_its_line():
    """docs/rules.md, Configuration; C070."""
    wanted = {(fault.path, fault.line) for fault in FAULTS if fault.check == "start"}
    with pytest.raises(SettingsError) as refused:
        load_settings(FAULTY, "refused")
    assert {(one.file, one.line) for one in refused.value.found} == wanted
    assert load_settings(FAULTY).policy.enabled is True


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.check == "validate_theme"], ids=lambda f: f.path)
def test_the_fault_of_a_theme_that_is_not_active_is_found(faulty, deadline, fault):
    """F21: a theme is validated without being applied."""
    report = faulty.site.themes.validate(fault.path.split("/")[1], deadline)
    assert report["valid"] is False
    assert (fault.path, fault.line) in {(one["path"], one["line"]) for one in report["diagnostics"]}


@pytest.mark.parametrize("fault", PLUGINS, ids=lambda f: f.path)
def test_the_plugin_has_the_status_of_its_fault(faulty, deadline, fault):
    """docs/rules.md, Plugins: never a failure of the list."""
    records = {record["name"]: record["status"] for record in faulty.site.plugins.records(deadline)}
    assert records[fault.path.split("/")[1]] == fault.severity


def test_the_overreaching_plugin_is_caught_in_every_category(faulty, deadline):
    """docs/rules.md, Odd places."""
    record = faulty.site.plugins.record("overreach", deadline)
    assert record["health"] == "degraded"
    lines = {fault["line"] for fault in record["security_mismatches"]}
    assert lines == {12, 13, 14, 15, 16, 17, 19}


@pytest.mark.parametrize("path", FINE)
def test_what_is_odd_but_right_gives_no_finding(findings, path):
    """docs/rules.md, Odd places; C031, C040."""
    assert [finding for finding in findings if finding["path"] == path] == []


def test_no_fault_is_reported_that_the_table_does_not_know(findings):
    """The table is complete: whoever adds a fault to the site adds its row."""
    known = {fault.path for fault in FAULTS}
    assert {one["path"] for one in findings if not one["path"].startswith("plugins/")} <= known


def test_good_documents_are_served_among_the_faulty(faulty, deadline):
    """C039: one bad file takes no listing down."""
    listed = faulty.site.content.list_documents(
        type=None, lang=None, taxonomy={}, visibility=Visibility(), updated_after=None, updated_before=None,
        limit=100, cursor=None, deadline=deadline,
    )  # fmt: skip
    paths = {document.path for document in listed.items}
    assert {"content/pages/index.md", "content/parts/good-part.md"} <= paths
    assert {path for path in FINE if path.startswith("content/pages/fine-") and path.endswith(".md")} <= paths
    titles = {document.path: document.title for document in listed.items}
    assert titles["content/pages/fine-bom.md"] == "With a mark"
    assert titles["content/pages/fine-no-front-matter.md"] == "Titled by its heading"


def test_documents_with_unreadable_front_matter_are_never_served(faulty, deadline):
    """docs/rules.md, Odd places: what cannot be read may have been a draft."""
    listed = faulty.site.content.list_documents(
        type=None, lang=None, taxonomy={}, visibility=EVERYTHING, updated_after=None, updated_before=None,
        limit=100, cursor=None, deadline=deadline,
    )  # fmt: skip
    checks = ("front_matter", "duplicate_key", "field_type", "slug", "symlink")
    unread = {fault.path for fault in FAULTS if fault.severity == "error" and fault.check in checks}
    assert unread.isdisjoint(document.path for document in listed.items)


def test_health_says_degraded_and_stays_up(faulty, deadline):
    """C039: degraded, not an error."""
    health = faulty.site.operations.health(deadline)
    assert health["status"] == "degraded"
    assert health["ready"] is True


def test_a_document_over_ten_mebibytes_is_named_and_left_out(tmp_path, deadline):
    """docs/rules.md, Odd places."""
    site = tmp_path / "site"
    (site / "content/pages").mkdir(parents=True)
    shutil.copytree(FAULTY / "content/config", site / "content/config")
    (site / "content/pages/huge.md").write_bytes(b"---\ntitle: Huge\n---\n" + b"a" * (10 * 1024 * 1024))
    opened = open_site(site, tmp_path / "state")
    opened.start()
    try:
        until = time.monotonic() + 60
        while not opened.state.ready():
            assert time.monotonic() < until
            time.sleep(0.05)
        findings = opened.site.operations.validate(deadline)["findings"]
    finally:
        opened.close()
    assert any(one["path"] == "content/pages/huge.md" and one["severity"] == "error" and "10485760" in one["message"] for one in findings)


def test_git_keeps_the_odd_bytes():
    """The byte order mark, the carriage returns and the Latin-1 byte are the faults: a clone must hold them too."""
    assert "* -text" in (FAULTY / ".gitattributes").read_text(encoding="utf-8")
    assert (FAULTY / "content/pages/fine-bom.md").read_bytes().startswith(b"\xef\xbb\xbf---")
    assert b"\r\n" in (FAULTY / "content/pages/fine-crlf.md").read_bytes()
    assert b"\xe9" in (FAULTY / "content/pages/invalid-utf8.md").read_bytes()
    assert (FAULTY / "content/pages/symlink-out-of-site.md").is_symlink()


@pytest.mark.parametrize("visibility", [None, Visibility()], ids=["everything", "published"])
def test_the_findings_of_one_document_are_those_of_the_whole_report(faulty, visibility):
    """docs/rules.md, Validation: an audit of one document sees what the check of the site sees of it."""
    whole = faulty.site.operations.validate(Deadline(10.0), visibility)["findings"]
    page = faulty.site.content.list_documents(
        type=None, lang=None, taxonomy={}, visibility=visibility or EVERYTHING, updated_after=None, updated_before=None, limit=100,
        cursor=None, deadline=Deadline(10.0),
    )  # fmt: skip
    served = {document.path for document in page.items}
    assert page.next_cursor is None and served & {one["path"] for one in whole}
    for path in served:
        own = faulty.site.operations.findings(path, Deadline(10.0), visibility)
        assert own == [one for one in whole if one["path"] == path]
