"""The rest of the site graph: doubles, layouts, taxonomies, menus, redirects, relations, links that leave it."""

import pytest

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import TimedOut
from cmsmcp.site.checks import validation


def page(front="", body="x"):
    return f"---\ntitle: T\n{front}---\n{body}\n"


def test_equal_urls_slugs_and_ids_are_errors_of_the_later_path(folder, operate):
    folder.write("content/pages/a.md", page("slug: same\n"))
    folder.write("content/pages/b.md", page("slug: same\n"))
    folder.write("content/pages/c.md", page())
    folder.write("content/pages/en/c.md", page("slug: other\n"))
    site = operate(folder.root)
    assert site.findings("duplicate_urls") == [("content/pages/b.md", 3)]
    assert site.findings("duplicate_slugs") == [("content/pages/b.md", 3)]
    assert [path for path, _ in site.findings("duplicate_ids")] == ["content/pages/en/c.md"]


def test_a_layout_must_be_one_of_the_active_theme(folder, operate):
    folder.write("themes/plain/layouts/page.html", "")
    folder.write("themes/plain/secret.html", "")
    folder.write("content/pages/fine.md", page())
    folder.write("content/pages/lost.md", page("layout: gone\n"))
    folder.write("content/pages/sly.md", page("layout: ../secret\n"))
    assert operate(folder.root).findings("missing_templates") == [("content/pages/lost.md", 3), ("content/pages/sly.md", 3)]


def test_a_theme_that_is_not_there_is_one_finding(folder, operate):
    folder.write("content/pages/a.md", page())
    site = operate(folder.root)
    assert site.findings("missing_templates") == []
    assert [path for path, _ in site.findings("theme")] == ["themes/plain"]


@pytest.mark.parametrize("config", ["name: t\n", "name: t\ntheme:\n", ""])
def test_a_site_without_themes_has_nothing_wrong_with_it(folder, operate, config):
    """Not to use themes, plugins, data or docs is no fault: something else may render the site."""
    folder.write("content/config/site.yaml", config)
    folder.write("content/pages/a.md", page())
    operations = operate(folder.root).operations
    report = operations.validate(Deadline(30))
    assert (report["valid"], report["findings"]) == (True, [])
    assert operations.health(Deadline(30))["status"] == "healthy"


@pytest.mark.parametrize(("config", "theme"), [
    ("theme: gone\n", None), ("theme: default\n", None), ("name: t\n", "themes/other/theme.yaml"),
])
def test_a_theme_that_is_named_or_needed_is_missed(folder, operate, config, theme):
    folder.write("content/config/site.yaml", config)
    if theme:
        folder.write(theme, "name: other\n")
    operations = operate(folder.root).operations
    [finding] = operations.validate(Deadline(30))["findings"]
    assert (finding["severity"], finding["check"]) == ("error", "theme") and "`theme` in site.yaml names it" in finding["message"]
    assert operations.health(Deadline(30))["status"] == "degraded"


def test_a_taxonomy_must_be_declared(folder, operate):
    folder.write("content/pages/a.md", page("tags: [x]\ntaxonomies:\n  flavour: [sweet]\n"))
    assert operate(folder.root).findings("taxonomy_inconsistency") == [("content/pages/a.md", 5)]


def test_menu_entries_must_lead_to_something_published(folder, operate):
    folder.write("content/pages/a.md", page())
    folder.write("content/pages/d.md", page("draft: true\n"))
    folder.write(
        "data/navigation.yaml",
        "main:\n  - {name: A, url: /a}\n  - {name: X, url: 'https://x.example/'}\n  - {name: N, url: /none/}\n"
        "  - name: D\n    url: /d/\n    items:\n      - {name: M, url: /missing/}\n",
    )
    path = "data/navigation.yaml"
    assert operate(folder.root).findings("navigation") == [(path, 4), (path, 6), (path, 8)]


def test_menus_in_the_configuration_win_over_the_navigation_file(folder, operate):
    folder.write("content/config/site.yaml", "name: t\ntheme: plain\nmenus:\n  main:\n    - {name: N, url: /none/}\n")
    folder.write("data/navigation.yaml", "main:\n  - {name: O, url: /other/}\n")
    assert operate(folder.root).findings("navigation") == [("content/config/site.yaml", 5)]


def test_redirects_must_lead_somewhere_and_stand_in_no_documents_way(folder, operate):
    folder.write("content/pages/a.md", page())
    folder.write(
        "data/redirects.yaml",
        "redirects:\n- {from: /a/, to: /rss.xml}\n- {from: /b/, to: /none/}\n- {from: /c/, to: /a/}\n"
        "- {from: /e/, to: /no/, enabled: false}\n",
    )
    path = "data/redirects.yaml"
    assert operate(folder.root).findings("redirects") == [(path, 2), (path, 3)]


TYPE = "name: Parts\nslug: part\nkind: collection\ntableName: parts\nfields:\n  - {name: code, type: string}\n"
RELATIONS = (
    "  - {name: fits, type: relation, relationType: many-to-one, relatedTable: parts, relatedSlug: part}\n"
    "  - {name: suits, type: relation, relationType: many-to-many, relatedTable: parts}\n"
)


def test_relations_name_entries_by_slug_or_id(folder, operate):
    folder.write("content/types/part.yaml", TYPE + RELATIONS)
    folder.write("content/parts/a.md", page("fields:\n  fits: a\n  suits: [b, en:part:b]\n"))
    folder.write("content/parts/b.md", page("fields:\n  fits: nut\n  suits: [a, bolt]\n"))
    assert operate(folder.root).findings("broken_relations") == [("content/parts/b.md", 4), ("content/parts/b.md", 5)]


def test_a_relation_to_a_file_with_errors_of_its_own_says_so(folder, operate):
    folder.write("content/types/part.yaml", TYPE + RELATIONS)
    folder.write("content/parts/shelf/bread.md", "---\ntitle: T\nfields: {code: [a]}\n---\n")
    folder.write("content/pages/butter.md", "---\ntitle: T\ntitle: U\n---\n")
    folder.write("content/parts/b.md", page("fields:\n  fits: en:part:shelf/bread\n  suits: [bread, butter]\n"))
    report = operate(folder.root).operations.validate(Deadline(30))
    told = [one["message"] for one in report["findings"] if one["check"] == "broken_relations"]
    assert told == [
        "fits names en:part:shelf/bread, but content/parts/shelf/bread.md has errors of its own; mend those",
        "suits names bread, but content/parts/shelf/bread.md has errors of its own; mend those",
        "suits names butter, which is the slug or id of no part",
    ]


def test_links_that_leave_the_site_are_errors_wherever_they_are(folder, operate, tmp_path):
    (tmp_path / "out.png").write_text("x")
    folder.link("content/images/out.png", tmp_path / "out.png")
    folder.link("docs/out.md", tmp_path / "out.png")
    folder.link("content/pages/out.md", tmp_path / "out.png")
    paths = [path for path, _ in operate(folder.root).findings("symlink")]
    assert paths == ["content/images/out.png", "content/pages/out.md", "docs/out.md"]


def test_every_kind_of_fault_comes_together_sorted(folder, operate):
    """F25: configuration, documents, theme and API definition in one report; errors first, then by path and line."""
    folder.write("content/config/site.yaml", "name: t\ntheme: plain\nfeed:\n  rss_limit: -1\n")
    folder.write("content/pages/broken.md", "---\ntitle: a: b\n---\n")
    folder.write("content/pages/warned.md", page("scheduled_unpublish_at: 2999-01-01T10:00:00\n"))
    folder.write("docs/api.yaml", "a: [\n")
    report = operate(folder.root).operations.validate(Deadline(30))
    places = [(one["check"], one["path"], one["line"]) for one in report["findings"]]
    assert ("config", "content/config/site.yaml", 4) in places
    assert ("front_matter", "content/pages/broken.md", 2) in places
    assert ("date", "content/pages/warned.md", 3) in places
    assert ("api_definition", "docs/api.yaml", 1) in places
    order = [(one["severity"] != "error", one["path"], one["line"] or 0) for one in report["findings"]]
    assert order == sorted(order)
    assert not report["valid"]
    assert report["error_count"] + report["warning_count"] == len(report["findings"]) == sum(report["checks"].values())
    assert not any(str(folder.root) in one["message"] or "\n" in one["message"] for one in report["findings"])


def test_a_sound_site_is_valid_and_every_check_is_counted(folder, operate):
    folder.write("content/pages/a.md", page())
    report = operate(folder.root).operations.validate(Deadline(30))
    assert {"broken_internal_links", "orphaned_media", "duplicate_urls", "theme", "config"} <= report["checks"].keys()
    assert set(validation.CHECKS) <= report["checks"].keys()
    assert [one["check"] for one in report["findings"]] == ["theme"]


def test_findings_are_bounded_and_counts_are_not(folder, operate):
    folder.write("content/pages/a.md", page(body="\n".join(f"[x](/none-{number}/)" for number in range(700))))
    report = operate(folder.root).operations.validate(Deadline(30))
    assert report["checks"]["broken_internal_links"] == 700
    assert sum(one["check"] == "broken_internal_links" for one in report["findings"]) == validation.MAX_PER_CHECK
    assert report["truncated"]


def test_validation_heeds_its_deadline(folder, operate):
    folder.write("content/pages/a.md", page())
    with pytest.raises(TimedOut):
        operate(folder.root).operations.validate(Deadline(0))
