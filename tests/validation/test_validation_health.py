"""Health: cheap, honest, and without writing a byte (docs/rules.md, Health; F24, C039)."""

import os

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.operations import SiteOperations

GOOD = "---\ntitle: T\ntags: [a, b]\n---\nx\n"


def checks(site):
    return {check["name"]: check["status"] for check in site.operations.health(Deadline(10))["checks"]}


def snapshot(root):
    return {path: (path.lstat().st_mtime_ns, path.lstat().st_size) for path in root.rglob("*")}


@pytest.fixture
def themed(folder):
    """A site whose theme is the smallest valid one."""
    slots = {
        "partials/head": ["head.end"],
        "base": ["body.start", "body.end", "page.before_main", "page.after_main"],
        "page": ["page.before_content", "page.after_content"],
        "post": [f"post.{place}_{part}" for place in ("before", "after") for part in ("header", "content")]
        + [f"post.sidebar.{part}" for part in ("top", "overview", "bottom")],
    }
    for name in ("partials/head", "partials/header", "partials/footer", "base", "index", "page", "post", "list"):
        calls = "".join(f'{{{{ pluginSlot "{slot}" }}}}' for slot in slots.get(name, []))
        folder.write(f"themes/plain/layouts/{name}.html", calls)
    declared = [slot for names in slots.values() for slot in names]
    folder.write(
        "themes/plain/theme.yaml",
        f"name: plain\ntitle: Plain\nversion: 1.0.0\nsdk_version: v1\ncompatibility_version: v1\nslots: [{', '.join(declared)}]\n",
    )
    folder.write("content/pages/a.md", GOOD)
    return folder


def test_a_sound_site_is_healthy_ready_and_counted(themed, operate):
    themed.write("content/posts/de/p.md", "---\ntitle: P\ndraft: true\n---\nx")
    themed.write("content/images/i.png", "12345")
    report = operate(themed.root).operations.health(Deadline(10))
    assert [check for check in report["checks"] if check["status"] != "pass"] == []
    assert (report["status"], report["ready"]) == ("healthy", True)
    assert report["generated_at"].endswith("Z") and report["uptime_seconds"] >= 0 and report["version"]
    content = report["content"]
    assert (content["document_count"], content["route_count"], content["taxonomy_count"], content["taxonomy_term_count"]) == (2, 2, 1, 2)
    assert (content["by_type"], content["by_lang"]) == ({"page": 1, "post": 1}, {"de": 1, "en": 1})
    assert content["by_status"] == {"draft": 1, "published": 1}
    assert content["media_counts"]["images"] == content["media_count"] == 1
    assert report["storage"]["media_bytes"] == 5


def test_the_site_is_left_byte_for_byte_as_it_was(themed, operate):
    """Foundry writes probe files here (F1)."""
    before = snapshot(themed.root)
    site = operate(themed.root)
    site.operations.health(Deadline(10))
    site.operations.validate(Deadline(10))
    assert snapshot(themed.root) == before


@pytest.mark.parametrize(
    "content", ["---\ntitle: a: b\n---\n", "---\ntitle: T\n\ttags: [x]\n---\nx\n", b"---\ntitle: Caf\xe9\n---\nx\n", "---\n", ""]
)
def test_one_bad_document_degrades_and_is_named_while_the_rest_is_served(themed, operate, content):
    """C039: good pages listed, the bad one named, degraded rather than a failure."""
    themed.write("content/pages/bad.md", content)
    site = operate(themed.root)
    report = site.operations.health(Deadline(10))
    assert (report["status"], report["ready"], report["content"]["document_count"]) == ("degraded", True, 1)
    failed = [check for check in report["checks"] if check["status"] == "fail"]
    assert [check["name"] for check in failed] == ["content"]
    assert "content/pages/bad.md" in failed[0]["message"]


def test_health_follows_the_index_at_once(themed, operate):
    site = operate(themed.root)
    assert site.operations.health(Deadline(10))["status"] == "healthy"
    themed.write("content/pages/bad.md", "---\n")
    site.again()
    assert site.operations.health(Deadline(10))["status"] == "degraded"


def test_folders_that_are_not_there_count_as_empty_and_a_file_in_their_place_fails(themed, operate):
    assert checks(operate(themed.root))["storage.plugins"] == "pass"
    themed.write("plugins", "a file")
    assert checks(operate(themed.root))["storage.plugins"] == "fail"


def test_a_folder_that_may_not_be_entered_fails(themed, operate, monkeypatch):
    """The system's answer is replaced, because a test may run as root, whom nothing is refused."""
    asked = []
    monkeypatch.setattr("cmsmcp.site.operations.os.access", lambda path, mode: not asked.append((path, mode)) and path.name != "themes")
    site = operate(themed.root)
    assert checks(site)["storage.themes"] == "fail"
    assert {mode for _, mode in asked} == {os.R_OK | os.X_OK}


def test_faults_of_configuration_and_theme_show(themed, operate):
    themed.write("content/config/site.yaml", "name: t\ntheme: plain\nfeed:\n  rss_limit: -1\n")
    themed.write("themes/plain/layouts/page.html", "{{ if }")
    found = checks(operate(themed.root))
    assert (found["config"], found["theme"]) == ("fail", "fail")


def test_without_an_index_it_is_not_ready_and_says_so(themed, tmp_path):
    from cmsmcp.site.open import open_site

    opened = open_site(themed.root, tmp_path / "empty", write=False)
    operations = opened.site.operations
    assert isinstance(operations, SiteOperations)
    report = operations.health(Deadline(10))
    opened.close()
    assert (report["status"], report["ready"], report["content"]) == ("degraded", False, {})
    said = {check["name"]: (check["status"], check["message"]) for check in report["checks"]}
    assert said["index"] == ("fail", "no document read yet")
    assert said["content"] == ("fail", "not known before the index is ready")


def test_an_index_that_is_not_known_to_be_kept_is_counted_nowhere(themed, operate):
    """Right after a start the index of the last run is there, but nobody has compared it with the files yet: one view of it."""
    site = operate(themed.root)
    operations = site.operations
    operations._state.ready = lambda: False
    report = operations.health(Deadline(10))
    assert (report["ready"], report["content"], report["storage"]) == (False, {}, {})
    said = {check["name"]: (check["status"], check["message"]) for check in report["checks"]}
    assert said["index"][0] == "fail"
    assert "kept up" in said["index"][1]
    assert said["content"][0] == "fail"
