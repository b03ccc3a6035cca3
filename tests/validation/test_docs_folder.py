"""The project's documentation (F17, F18, F30; docs/rules.md, Files)."""

import os

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import CallError, NotFound, ResultTooLarge, TimedOut
from cmsmcp.site.config.loading import load_config
from cmsmcp.site.docs import MAX_BYTES, DocsFolder


@pytest.fixture
def docs(folder):
    return lambda: DocsFolder(load_config(folder.root))


def paths(docs):
    return [entry["path"] for entry in docs().list_files(Deadline(5))]


def test_text_files_are_listed_with_title_size_and_type(folder, docs):
    folder.write("docs/guide/start.md", "---\ntitle: Start here\n---\n# Other\n")
    folder.write("docs/plain.md", "Text\n\n## First heading ##\n")
    folder.write("docs/page.html", "<html><head><title>A &amp; B</title></head></html>")
    folder.write("docs/data.json", "{}")
    folder.write("docs/logo.png", b"\x89PNG\0")
    folder.write("docs/.hidden.md", "x")
    folder.write("docs/.git/config.md", "x")
    folder.write("docs/old.md~", "x")
    listed = {entry["path"]: entry for entry in docs().list_files(Deadline(5))}
    assert list(listed) == ["data.json", "guide/start.md", "page.html", "plain.md"]
    assert [entry["title"] for entry in listed.values()] == ["data.json", "Start here", "A & B", "First heading"]
    assert listed["guide/start.md"]["mime_type"] == "text/markdown"
    assert listed["data.json"]["size"] == 2
    assert listed["data.json"]["updated_at"].endswith("Z")


def test_a_title_follows_its_file(folder, docs):
    reader = docs()
    file = folder.write("docs/a.md", "# One")
    assert reader.list_files(Deadline(5))[0]["title"] == "One"
    file.write_text("# Two!")
    assert reader.list_files(Deadline(5))[0]["title"] == "Two!"


def test_a_site_without_docs_has_an_empty_list(docs):
    assert paths(docs) == []


def test_listing_heeds_its_deadline(folder, docs):
    folder.write("docs/a.md", "# A")
    with pytest.raises(TimedOut):
        docs().list_files(Deadline(0))


def test_a_file_is_read_as_written_without_its_byte_order_mark(folder, docs):
    folder.write("docs/a b/ü.md", "\ufeff# Ünï\r\n")
    assert docs().read_file("a b/ü.md")["text"] == "# Ünï\r\n"
    assert docs().read_file("a b/ü.md")["title"] == "Ünï"


@pytest.mark.parametrize(
    "path",
    ["", "/", ".", "..", "../secret.md", "a/../../secret.md", "a/../in.md", "/etc/passwd", "//in.md", "./in.md", "a//in.md", "in.md/", "a",
     "%2e%2e/secret.md", "..%2fsecret.md", "..\\secret.md", "in.md\0", "in.md\0.md", ".hidden.md", "logo.png", "binary.md", "absent.md",
     "x" * 5000 + ".md", "in\ud800.md"],
)  # fmt: skip
def test_what_is_not_plainly_a_text_file_below_docs_does_not_exist(folder, docs, path):
    folder.write("secret.md", "secret")
    folder.write("docs/in.md", "in")
    folder.write("docs/a/in.md", "in")
    folder.write("docs/.hidden.md", "hidden")
    folder.write("docs/logo.png", "png")
    folder.write("docs/binary.md", b"a\0b")
    with pytest.raises(NotFound) as refused:
        docs().read_file(path)
    assert str(folder.root) not in refused.value.message


def test_links_are_followed_inside_the_site_and_nowhere_else(folder, docs, tmp_path):
    (tmp_path / "outside.md").write_text("outside")
    folder.write("README.md", "# Read me")
    folder.write("data/admin/sessions.yaml", "token: x")
    folder.link("docs/readme.md", folder.root / "README.md")
    folder.link("docs/escape.md", tmp_path / "outside.md")
    folder.link("docs/folder", tmp_path)
    folder.link("docs/sessions.yaml", folder.root / "data/admin/sessions.yaml")
    folder.link("docs/config.yaml", folder.root / "content/config/site.yaml")
    folder.link("docs/dangling.md", "nowhere.md")
    folder.link("docs/circle", folder.root / "docs")
    assert paths(docs) == ["readme.md"]
    for path in ("escape.md", "folder/outside.md", "sessions.yaml", "config.yaml", "dangling.md"):
        with pytest.raises(NotFound):
            docs().read_file(path)
    assert docs().read_file("readme.md")["text"] == "# Read me"


def test_documents_are_read_by_their_own_scope_alone(folder, docs):
    """docs/rules.md, Files: a draft is not to be read as documentation, whatever leads to it."""
    folder.write("content/pages/draft.md", "---\ndraft: true\n---\nsecret")
    folder.write("docs/a.md", "a")
    folder.link("docs/draft.md", "../content/pages/draft.md")
    folder.link("docs/pages", "../content/pages")
    assert paths(docs) == ["a.md"]
    for path in ("draft.md", "pages/draft.md"):
        with pytest.raises(NotFound):
            docs().read_file(path)


@pytest.mark.parametrize(
    ("config", "draft"),
    [
        ("content_dir: docs\n", "pages/draft.md"), ("content_dir: docs/site\n", "site/pages/draft.md"),
        ("content_dir: behind\n", "through/pages/draft.md"), ("content: {pages_dir: linked}\n", "pages/draft.md"),
    ],
)  # fmt: skip
def test_content_below_docs_is_no_documentation(folder, docs, config, draft):
    folder.write("content/config/site.yaml", f"name: t\n{config}")
    folder.write(f"docs/{draft}", "---\ndraft: true\n---\nsecret")
    folder.link("behind", "docs/through")
    folder.link("content/linked", "../docs/pages")
    folder.write("docs/plain/a.md", "a")
    assert paths(docs) == ([] if "content_dir: docs\n" in config else ["plain/a.md"])
    with pytest.raises(NotFound):
        docs().read_file(draft)


def test_a_pipe_is_no_file_and_holds_nobody(folder, docs):
    folder.write("docs/a.md", "a")
    os.mkfifo(folder.root / "docs/pipe.md")
    assert paths(docs) == ["a.md"]
    with pytest.raises(NotFound):
        docs().read_file("pipe.md")


def test_a_file_over_the_bound_is_listed_and_refused_with_its_size(folder, docs):
    folder.write("docs/big.html", b"x" * (MAX_BYTES + 1))
    assert docs().list_files(Deadline(5))[0]["size"] == MAX_BYTES + 1
    with pytest.raises(ResultTooLarge) as refused:
        docs().read_file("big.html")
    assert refused.value.data["size"] == MAX_BYTES + 1


def test_a_near_name_is_suggested(folder, docs):
    folder.write("docs/getting-started.md", "x")
    reader = docs()
    reader.list_files(Deadline(5))
    with pytest.raises(NotFound, match=r"Did you mean 'getting-started\.md'"):
        reader.read_file("geting-started.md")


def test_a_near_name_is_suggested_before_any_list_and_a_hidden_one_never(folder, docs):
    folder.write("docs/index.md", "x")
    folder.write("docs/.secret.md", "x")
    with pytest.raises(NotFound, match=r"Did you mean 'index\.md'"):
        docs().read_file("indx.md")
    with pytest.raises(NotFound) as refused:
        docs().read_file(".secrt.md")
    assert "secret" not in refused.value.message


def test_a_site_without_an_api_definition_is_told_which_file_to_add(docs):
    """Nobody named one, so none is quoted."""
    with pytest.raises(NotFound, match=r"^There is no API definition\. .*docs/api\.yaml"):
        docs().api_definition()


API = """openapi: 3.1.0
info:
  title: Orders
  version: 1.10
paths:
  /orders:
    get:
      responses:
        200:
          description: no
"""


def test_the_api_definition_keeps_its_keys_and_words_as_text(folder, docs):
    folder.write("docs/api.yaml", API)
    api = docs().api_definition()
    assert (api["path"], api["format"], api["version"], api["title"]) == ("docs/api.yaml", "openapi", "3.1.0", "Orders")
    assert api["definition"]["paths"]["/orders"]["get"]["responses"] == {"200": {"description": "no"}}


def test_the_api_definition_may_be_json_with_tabs(folder, docs):
    folder.write("docs/api.json", '{\n\t"swagger": "2.0",\n\t"info": {"title": "T"}\n}')
    assert docs().api_definition()["format"] == "swagger"


def test_the_api_definition_follows_its_file(folder, docs):
    reader = docs()
    folder.write("docs/api.yaml", API)
    assert reader.api_definition()["title"] == "Orders"
    folder.write("docs/api.yaml", API.replace("Orders", "Invoices"))
    assert reader.api_definition()["title"] == "Invoices"


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("api.yaml", "openapi: 3.1.0\ninfo: [\n", "docs/api.yaml, line"),
        ("api.yaml", "a: 1\nb: 2\na: 3\n", "docs/api.yaml, line 3"),
        ("api.yaml", "- a list\n", "docs/api.yaml, line 1"),
        ("api.json", '{"a": 1,\n}', "docs/api.json, line 2"),
        ("api.json", "[" * 200_000, "docs/api.json"),
        ("api.yaml", "a: \"" + "é".encode().decode("latin-1")[:1] + "\n", "docs/api.yaml, line"),
        ("api.yaml", b"a: \xff\n", "docs/api.yaml: the file is not UTF-8"),
        ("api.yaml", "a" * (MAX_BYTES + 1), f"docs/api.yaml: it is {MAX_BYTES + 1} bytes; the limit is {MAX_BYTES}."),
    ],
)  # fmt: skip
def test_a_malformed_definition_names_file_and_line(folder, docs, name, content, place):
    folder.write(f"docs/{name}", content)
    with pytest.raises(CallError) as refused:
        docs().api_definition()
    assert place in refused.value.message
    assert refused.value.message.count(f"docs/{name}") == 1
    assert "\n" not in refused.value.message


def test_without_a_definition_there_is_none(docs):
    with pytest.raises(NotFound):
        docs().api_definition()
