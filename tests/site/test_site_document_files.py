"""Which files are documents (docs/rules.md, Files; C040)."""

import itertools
import os

import pytest

from cmsmcp.site.documents.files import find_documents


def test_only_real_documents_are_found_in_path_order(site) -> None:
    """C040: dot files, swap files, backups and folders named x.md are passed over in silence."""
    d = "content/pages"
    names = [
        "note.md", "#note.md#", "note.md~", ".note.md.swp", "4913", ".hidden.md", "._note.md", ".git/x.md", ".obsidian/y.md", "note.md.bak",
        "note (conflicted copy).md", ".md",
        "a.version.20260101T000000Z.md", "b.trash.20260101T000000Z.md", "c.version.1.md", "k.md/inner.md",
    ]
    site.write({f"{d}/{name}": "x" for name in names})
    site.write({"content/posts/es/z.md": "x", "content/images/i.md": "x", "content/archetypes/page.md": "x", "content/a.md": "x"})
    (site.root / d / ".#note.md").symlink_to("someone@host.example.4242:1700000000")
    (site.root / d / "dangling.md").symlink_to("gone.md")
    found, faults = find_documents(site.config, site.types)
    assert [path for path, _ in found] == [
        f"{d}/c.version.1.md", f"{d}/k.md/inner.md", f"{d}/note (conflicted copy).md", f"{d}/note.md", "content/posts/es/z.md",
    ]
    assert faults == []
    path, stat = found[3]
    real = (site.root / path).stat()
    assert (stat.st_size, stat.st_mtime_ns, stat.st_ino) == (real.st_size, real.st_mtime_ns, real.st_ino)


def test_an_upper_case_ending_is_a_warning(site) -> None:
    """docs/rules.md, Odd places."""
    site.write({"content/pages/note.MD": "x"})
    found, faults = find_documents(site.config, site.types)
    assert found == []
    assert [(f.severity, f.path) for f in faults] == [("warning", "content/pages/note.MD")]


def test_a_saved_version_with_an_odd_stamp_is_left_out_and_told(site) -> None:
    """It may hold what was withdrawn from the page; other names with a `version` in them are documents."""
    odd = ["a.version.20260101.md", "a.version.2026-01-01T00:00:00Z.md", "a.Trash.20260101t000000z.md", "a.version.20260101T000000.md"]
    fine = ["a.version.2.md", "version.20260101.md", "a.version.20260101-notes-on-it.md"]
    site.write({f"content/pages/{name}": "x" for name in [*odd, *fine]})
    found, faults = find_documents(site.config, site.types)
    assert sorted(path for path, _ in found) == sorted(f"content/pages/{name}" for name in fine)
    assert {(f.severity, f.check) for f in faults} == {("warning", "file_name")}
    assert sorted(f.path for f in faults) == sorted(f"content/pages/{name}" for name in odd)


def test_missing_folders_are_empty(site) -> None:
    """docs/rules.md, Files."""
    assert find_documents(site.config, site.types) == ([], [])


def test_links_are_followed_inside_the_site_only(site, tmp_path_factory) -> None:
    """docs/rules.md, Files."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_text("x")
    site.write({"common/a.md": "x", "content/pages/b.md": "x", "content/config/admin-users.yaml": "x", "data/admin/s.yaml": "x"})
    pages = site.root / "content/pages"
    (pages / "in.md").symlink_to("../../common/a.md")
    (pages / "folder").symlink_to("../../common")
    (pages / "out.md").symlink_to(outside / "secret.md")
    (pages / "outfolder").symlink_to(outside)
    (pages / "users.md").symlink_to("../config/admin-users.yaml")
    (pages / "admin").symlink_to("../../data/admin")
    (pages / "up").symlink_to("../..")
    site.write({"data/notes.md": "x", "content/config/notes.md": "x"})
    (pages / "loop").symlink_to(".")
    (pages / "loop2").symlink_to("../pages")
    found, faults = find_documents(site.config, site.types)
    assert [path for path, _ in found] == ["content/pages/b.md", "content/pages/folder/a.md", "content/pages/in.md"]
    faults = [f for f in faults if f.path != "content/pages/up/common"]
    named = {"out.md", "outfolder", "users.md", "admin"}
    assert {(f.severity, f.check, f.path) for f in faults} == {("error", "symlink", f"content/pages/{name}") for name in named}
    assert all(str(outside) not in f.message for f in faults)


def test_folders_that_link_to_each_other_are_entered_once(site) -> None:
    """Every input has a bound: eight such folders spell more paths than there is time for."""
    names = [f"f{n}" for n in range(8)]
    site.write({f"content/pages/{name}/{name}.md": "x" for name in names})
    for name in names:
        for other in names:
            (site.root / "content/pages" / name / f"to-{other}").symlink_to(f"../{other}")
    steps = itertools.count()

    def check() -> None:
        assert next(steps) < 1_000

    found, faults = find_documents(site.config, site.types, check)
    assert [path for path, _ in found] == [f"content/pages/{name}/{name}.md" for name in names]
    assert {(f.severity, f.check) for f in faults} == {("warning", "symlink")}
    assert len(faults) == 8 * 7


def test_a_folder_is_read_where_it_stands_and_else_by_the_first_of_its_links(site) -> None:
    site.write({"content/pages/zz/real.md": "x", "common/a.md": "x"})
    pages = site.root / "content/pages"
    (pages / "aa").symlink_to("zz")
    (pages / "c2").symlink_to("../../common")
    (pages / "c1").symlink_to("../../common")
    found, faults = find_documents(site.config, site.types)
    assert [path for path, _ in found] == ["content/pages/c1/a.md", "content/pages/zz/real.md"]
    assert [(f.path, f.message.count("content/pages/")) for f in faults] == [("content/pages/aa", 1), ("content/pages/c2", 1)]


def test_a_walk_ends_when_it_is_told_to(site) -> None:
    site.write({"content/pages/a/b.md": "x"})

    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        find_documents(site.config, site.types, check)


def test_a_section_that_is_a_link_out_of_the_site_is_an_error(site, tmp_path_factory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_text("x")
    (site.root / "content/pages").symlink_to(outside)
    found, faults = find_documents(site.config, site.types)
    assert found == []
    assert [f.path for f in faults] == ["content/pages"]


def test_names_that_are_no_text_are_errors(site) -> None:
    site.write({"content/pages/ok.md": "x", "content/pages/a\nb.md": "x", "content/pages/x\ny/c.md": "x"})
    (site.root / os.fsdecode(b"content/pages/caf\xe9.md")).write_text("x")
    found, faults = find_documents(site.config, site.types)
    assert [path for path, _ in found] == ["content/pages/ok.md"]
    assert sorted(f.path for f in faults) == ["content/pages/a\\nb.md", "content/pages/caf\\udce9.md", "content/pages/x\\ny"]


def test_an_undeclared_language_folder_is_a_warning(make_site) -> None:
    """docs/rules.md, Languages: with `locales` exactly those."""
    site = make_site({"content/pages/fr/a.md": "x", "content/pages/de/a.md": "x", "content/pages/faq/a.md": "x"}, "locales: [en, de]\n")
    faults = find_documents(site.config, site.types)[1]
    assert [(f.severity, f.path) for f in faults] == [("warning", "content/pages/fr")]


def test_a_section_inside_another_belongs_to_itself(make_site) -> None:
    site = make_site({"content/pages/blog/p.md": "x"}, "content: {posts_dir: pages/blog}\n")
    assert site.document("content/pages/blog/p.md").type == "post"
    assert site.found() == ["content/pages/blog/p.md"]
