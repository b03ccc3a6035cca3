"""Names that macOS and archives write decomposed are one with those composed, in and out (docs/rules.md, Identity and URLs)."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.core.ports import STATUSES, Visibility
from cmsmcp.protocol.errors import NotFound
from cmsmcp.site.open import open_site
from cmsmcp.site.paths import on_disk, read_bounded

NFC, NFD = (unicodedata.normalize(form, "Über-grün") for form in ("NFC", "NFD"))
ANN, TERM = "Ännchen", "Größe"


def apart(text: str) -> str:
    return unicodedata.normalize("NFD", text)


@pytest.fixture(scope="module")
def site(make_site: Any) -> Any:
    return make_site({
        f"pages/{NFD}/{NFD}.md": ("words [gone](/gone/)", {"author": apart(ANN), "tags": f"[{apart(TERM)}]"}),
        f"pages/de/{NFD}/{NFD}.md": ("Wörter", {"slug": "anders"}),
        f"pages/{NFC}-twin.md": ("one", {"slug": "one"}),
        f"pages/{NFD}-twin.md": ("two", {"slug": "two"}),
    })  # fmt: skip


@pytest.mark.parametrize("spelled", [NFC, NFD], ids=["composed", "decomposed"])
def test_what_a_list_gives_opens_the_document_in_either_spelling(site: Any, spelled: str) -> None:
    [listed] = [one for one in site.list(lang="en").items if one.slug == NFC]
    assert (listed.id, listed.path) == (f"en:page:{NFC}/{NFC}", f"content/pages/{NFC}/{NFC}.md")
    for key, value in (("id", f"en:page:{spelled}/{spelled}"), ("slug", spelled), ("url", f"/{spelled}/"), ("url", listed.url)):
        found = site.get(**{key: value})
        assert (found.id, found.body) == (listed.id, "words [gone](/gone/)\n")
        assert [one["id"] for one in found.translations] == [f"de:page:{NFC}/{NFC}"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_terms_and_authors_are_found_in_either_spelling(site: Any, form: str) -> None:
    found = site.list(taxonomy={"tags": unicodedata.normalize(form, TERM)}).items
    assert [(one.slug, one.author, one.taxonomies["tags"]) for one in found] == [(NFC, ANN, [TERM])]
    author = site.content.get_author(unicodedata.normalize(form, "ännchen"), visibility=Visibility(), deadline=Deadline(10))
    assert (author["name"], author["entries"]) == (ANN, 1)
    own = Visibility(frozenset(STATUSES), owner=unicodedata.normalize(form, ANN))
    assert NFC in [one.slug for one in site.list(own).items]


def test_two_files_that_differ_by_their_form_alone_are_a_collision_that_says_so(site: Any) -> None:
    [(path, message)] = site.findings("duplicate_ids")
    assert path == f"content/pages/{NFC}-twin.md" and "differ in their Unicode form alone" in message
    assert len([one for one in site.list().items if one.id == f"en:page:{NFC}-twin"]) == 1


@pytest.mark.parametrize("spelled", [NFC, NFD], ids=["composed", "decomposed"])
def test_findings_of_one_document_are_found_by_the_path_that_goes_out(site: Any, tmp_path: Path, spelled: str) -> None:
    opened = open_site(site.root, tmp_path / "state", write=True)
    opened.start()
    try:
        found = opened.site.operations.findings(f"content/pages/{spelled}/{spelled}.md", Deadline(60))
        whole = opened.site.operations.validate(Deadline(60))["findings"]
    finally:
        opened.close()
    assert [(one["check"], one["path"]) for one in found] == [("broken_internal_links", f"content/pages/{NFC}/{NFC}.md")]
    assert all(unicodedata.is_normalized("NFC", one["path"] + one["message"]) for one in whole)


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A site whose folders, themes, plugins, docs and media have decomposed names that its configuration writes composed."""
    root = tmp_path_factory.mktemp("beside") / "site"
    theme = f"themes/{NFD}"
    files = {
        "content/config/site.yaml": f"theme: {NFC}\ncontent: {{pages_dir: {NFC}}}\nplugins: {{enabled: [{NFC}]}}\n",
        f"content/{NFD}/{NFD}.md": f"![x](/images/{NFC}.png) [theme](/theme/{NFC}.js)",
        f"content/images/{NFD}.png": "png", f"docs/{NFD}/{NFD}.md": "# Text", f"{theme}/theme.yaml": f"name: {NFC}\n",
        f"{theme}/assets/{NFD}.js": "", f"{theme}/layouts/page.html": "", f"plugins/{NFD}/plugin.yaml": f"name: {NFC}\nfoundry_api: v1\n",
    }  # fmt: skip
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    opened = open_site(root, root.parent / "state", write=True)
    opened.start()
    yield opened
    opened.close()


@pytest.mark.parametrize("spelled", [NFC, NFD], ids=["composed", "decomposed"])
def test_themes_plugins_and_docs_are_found_in_either_spelling(beside: Any, spelled: str) -> None:
    site, deadline = beside.site, Deadline(60)
    assert site.themes.names() == site.plugins.names() == [NFC]
    assert site.themes.manifest(spelled, deadline)["name"] == NFC
    assert site.plugins.record(spelled, deadline)["name"] == NFC
    assert site.plugins.record(spelled, deadline)["enabled"] and site.plugins.record(spelled, deadline)["installed"]
    assert [one["path"] for one in site.docs.list_files(deadline)] == [f"{NFC}/{NFC}.md"]
    file = site.docs.read_file(f"{spelled}/{spelled}.md")
    assert (file["path"], file["text"]) == (f"{NFC}/{NFC}.md", "# Text")
    found = site.content.get_document(
        slug=spelled, url=None, id=None, type=None, lang=None, visibility=Visibility(), deadline=deadline
    )
    assert (found.path, found.id) == (f"content/{NFC}/{NFC}.md", f"en:page:{NFC}")


def test_what_is_there_in_another_form_is_not_called_missing(beside: Any) -> None:
    findings = beside.site.operations.validate(Deadline(60))["findings"]
    unwanted = ("broken_internal_links", "missing_templates", "orphaned_media", "equal_names")
    assert [one for one in findings if one["check"] in unwanted or "must be that of the folder" in one["message"]] == []
    assert all(unicodedata.is_normalized("NFC", one["path"]) for one in findings)


def test_names_that_are_equal_but_for_their_form_are_reported(tmp_path: Path, make_site: Any) -> None:
    site = make_site({"pages/a.md": "x"})
    for form in (NFC, NFD):
        for path in (f"docs/{form}.md", f"themes/{form}/theme.yaml", f"plugins/{form}/plugin.yaml", f"content/images/{form}.png"):
            site.write(path, form)
    paths = sorted(unicodedata.normalize("NFC", path) for path, _ in site.findings("equal_names"))
    assert paths == [f"content/images/{NFC}.png", f"docs/{NFC}.md", f"plugins/{NFC}", f"themes/{NFC}"]


def test_a_link_in_the_docs_to_private_files_is_none_in_either_spelling(make_site: Any) -> None:
    """docs/rules.md, Files: `read:docs` shows no draft. The name that was asked for is not the one on the disk."""
    from cmsmcp.site.config.loading import load_config
    from cmsmcp.site.docs import DocsFolder

    site = make_site({"pages/a.md": ("hush", {"draft": "true"})})
    (site.root / "docs").mkdir()
    (site.root / "docs" / NFD).symlink_to("../content/pages")
    docs = DocsFolder(load_config(site.root))
    for spelled in (NFC, NFD):
        with pytest.raises(NotFound):
            docs.read_file(f"{spelled}/a.md")


def test_a_site_path_is_spelled_as_on_the_disk(tmp_path: Path) -> None:
    (tmp_path / NFD).mkdir()
    (tmp_path / NFD / f"{NFD}.md").write_text("x")
    assert on_disk(tmp_path, f"{NFC}/{NFC}.md") == on_disk(tmp_path, f"{NFD}/{NFC}.md") == f"{NFD}/{NFD}.md"
    assert on_disk(tmp_path, f"{NFC}/none-é.md") == f"{NFD}/none-é.md"
    assert on_disk(tmp_path, "plain/none.md") == "plain/none.md"
    assert read_bounded(tmp_path, on_disk(tmp_path, f"{NFC}/{NFC}.md"), 10) == b"x"
