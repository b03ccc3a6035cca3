"""Links, fragments and media are checked over the final set of URLs, drafts included (docs/rules.md, Validation)."""

import pytest


def page(title, body, front=""):
    return f"---\ntitle: {title}\n{front}---\n{body}\n"


@pytest.fixture
def linked(folder):
    """`linked(body)` writes a page that says `body` into a site with a bit of everything to link to."""
    folder.write(
        "content/config/site.yaml",
        "name: t\ntheme: plain\nbase_url: https://example.com\ndefault_lang: en\nlocales: [en, de]\nplugins:\n  enabled: [tool]\n",
    )
    folder.write("content/pages/zebra.md", page("Zebra", "# Stripes\n\n## Näh & Fern", "tags: [wild life]\nauthor: Ann Ä. Lee\n"))
    folder.write("content/pages/de/zebra.md", page("Zebra", "Streifen", "tags: [wild]\n"))
    folder.write("content/pages/secret.md", page("Secret", "hush", "draft: true\n"))
    folder.write("content/pages/später.md", page("Später", "x"))
    folder.write("content/posts/news.md", page("News", "x"))
    folder.write("content/images/a b.png", "png")
    folder.write("content/documents/paper.pdf", "pdf")
    folder.write("content/assets/css/site.css", "body {}")
    folder.write("themes/plain/assets/my app.js", "")
    folder.write("themes/plain/theme.yaml", "name: plain")
    folder.write("plugins/tool/assets/tool.js", "")
    folder.write("data/redirects.yaml", "redirects:\n  - {from: /old, to: /zebra/}\n  - {from: /off/, to: /zebra/, enabled: false}\n")
    return lambda body, front="": folder.write("content/pages/about.md", page("About", body, front)).parents[2]


GOOD = [
    "/", "/zebra/", "/zebra", "/zebra/?q=1#stripes", "/de/zebra/", "/posts/news/", "/sp%C3%A4ter/", "/später", "https://example.com/zebra/",
    "/old/", "/tags/wild%20life/", "/de/tags/wild/", "/authors/ann-ä-lee/", "/search/", "/de/search/", "/rss.xml", "/sitemap.xml",
    "/search.json", "/images/a%20b.png", "/documents/paper.pdf?dl=1", "/assets/css/site.css", "/assets/css/foundry.bundle.css",
    "/theme/my%20app.js", "/plugins/tool/tool.js", "/__admin", "//elsewhere.example/x", "https://elsewhere.example/x", "mailto:a@b.example",
    "#stripes-here", "/secret/",
]  # fmt: skip
BAD = [
    "/nowhere/", "/off/", "/fr/zebra/", "/tags/tame/", "/de/tags/wild%20life/", "/authors/bob/", "/images/b.png", "/theme/none.js",
    "/theme/../theme.yaml", "/theme/%2e%2e/theme.yaml", "/theme/%00",
    "/plugins/tool/../plugin.yaml", "https://example.com/nowhere/", "/zebra/x/", "/../etc/passwd",
]  # fmt: skip


def test_a_link_to_nothing_is_an_error_with_file_and_line_and_what_exists_is_none(linked, operate, folder):
    folder.write("content/pages/index.md", page("Home", "x"))
    site = operate(linked("\n".join(f"[x]({target})" for target in [*GOOD, *BAD])))
    first = 4 + len(GOOD)
    assert site.findings("broken_internal_links") == [("content/pages/about.md", first + number) for number in range(len(BAD))]


BELOW_GOOD = [
    "/handbook/", "/handbook", "/handbook/visit/", "/handbook/visit?q=1#prices", "/visit/", "https://host.example/handbook/visit/",
    "https://HOST.example:443/handbook/visit/", "http://host.example/handbook/visit/", "http://host.example:80/handbook/visit/",
    "//host.example/handbook/visit/", "https://host.example./handbook/visit/", "https://host.example/h%61ndbook/visit/",
    "/handbook/images/dome.png", "/images/dome.png", "/handbook/old/", "/handbook/tags/open/", "/handbook/rss.xml",
    # what else lives on that host, and other hosts
    "/other/", "/handbooks/", "/handbook-2/x/", "https://host.example/", "https://host.example/other/", "https://host.example/visit/",
    "https://host.example/handbook/../other/", "https://host.example:8443/handbook/none/", "ftp://host.example/handbook/none/",
    "https://elsewhere.example/handbook/none/",
]  # fmt: skip
BELOW_BAD = [
    "/handbook/none/", "https://host.example/handbook/none/", "HTTP://HOST.EXAMPLE/handbook/none/", "//host.example/handbook/none/",
    "/handbook/images/none.png", "/handbook/./none/", "https://host.example/other/../handbook/none/",
]  # fmt: skip


def test_on_a_host_that_is_shared_only_what_lies_below_the_path_is_the_sites(linked, operate, folder):
    """docs/rules.md, Identity and URLs: `base_url` with a path."""
    folder.write("content/config/site.yaml", "name: t\nbase_url: https://host.example/handbook/\n")
    folder.write("content/pages/index.md", page("Home", "x"))
    folder.write("content/pages/visit.md", page("Visit", "## Prices", "tags: [open]\n"))
    folder.write("content/images/dome.png", "png")
    rules = ("{from: /old/, to: https://host.example/handbook/visit/}", "{from: /lost/, to: /handbook/none/}")
    folder.write("data/redirects.yaml", "".join(f"- {rule}\n" for rule in rules))
    entries = ("/handbook/visit/", "/other/", "/handbook/no/")
    folder.write("data/navigation.yaml", "main:\n" + "".join(f"  - {{name: x, url: {url}}}\n" for url in entries))
    relative = "[a](../visit/) [b](../../other/) [c](../../handbook/visit/) [d](../images/dome.png)\n[e](../none/)"
    site = operate(linked("\n".join(f"[x]({target})" for target in [*BELOW_GOOD, *BELOW_BAD]) + f"\n{relative}\n![](../images/dome.png)"))
    first = 4 + len(BELOW_GOOD)
    assert site.findings("broken_internal_links") == [("content/pages/about.md", first + number) for number in range(len(BELOW_BAD))]
    assert site.findings("broken_relative_links") == [("content/pages/about.md", first + len(BELOW_BAD) + 1)]
    assert site.findings("broken_fragments") == []
    assert site.findings("redirects") == [("data/redirects.yaml", 2)]
    assert site.findings("navigation") == [("data/navigation.yaml", 4)]
    assert not [path for path, _ in site.findings("orphaned_media") if path.endswith("dome.png")]


def test_a_port_of_its_own_is_a_host_of_its_own(linked, operate, folder):
    folder.write("content/config/site.yaml", "name: t\nbase_url: https://host.example:8443\n")
    targets = ("https://host.example/none/", "https://host.example:8443/none/", "https://host.example:443/n/", "//host.example:8443/none/")
    body = "\n".join(f"[x]({target})" for target in targets)
    assert operate(linked(body)).findings("broken_internal_links") == [("content/pages/about.md", 5), ("content/pages/about.md", 7)]


def test_links_in_drafts_and_to_later_documents_are_checked_alike(linked, operate):
    """Foundry sees only documents visited so far; two passes do not."""
    site = operate(linked("[z](/zebra/) [n](/posts/news/)\n[gone](/gone/)", "draft: true\n"))
    assert site.findings("broken_internal_links") == [("content/pages/about.md", 6)]


def test_fragments_are_headings_or_ids_of_the_document_they_point_into(linked, operate):
    body = "[a](/zebra/#stripes) [b](/zebra/#näh--fern) [c](#here) [d](/zebra/#top) [e](/images/a%20b.png#t=1)\n\n<i id=here></i>\n\n"
    site = operate(linked(f"{body}[x](/zebra/#spots)\n[y](#there)"))
    assert site.findings("broken_fragments") == [("content/pages/about.md", 8), ("content/pages/about.md", 9)]


def test_relative_links_mean_what_a_browser_makes_of_them(linked, operate):
    site = operate(linked("[a](../zebra/) [b](../images/a%20b.png)\n[c](zebra.md)\n[d](tel:123) [e](?q=1)"))
    assert site.findings("broken_relative_links") == [("content/pages/about.md", 5)]


def test_a_published_document_must_not_send_readers_to_a_draft(linked, operate):
    """C044: hidden pages that are linked to."""
    site = operate(linked("[a](/zebra/)\n[b](/secret/)"))
    assert site.findings("links_to_unpublished") == [("content/pages/about.md", 5)]
    site = operate(linked("[b](/secret/)", "draft: true\n"))
    assert site.findings("links_to_unpublished") == []


def test_media_references_in_bodies_and_front_matter(linked, operate):
    body = '![a](media:images/a%20b.png "t")\n![b](media:images/none.png "t")\n[c](media:pictures/a.png)\n<img src="media:images/../../x">'
    front = "fields:\n  cover: media:images/gone.png\n  fine: media:documents/paper.pdf\n  url: /images/gone.png\n  path: /zebra/\n"
    site = operate(linked(body, front))
    about = "content/pages/about.md"
    assert site.findings("broken_media_refs") == [(about, 4), (about, 6), (about, 10), (about, 11), (about, 12)]


def test_media_without_any_reference_is_an_orphan(linked, operate, folder):
    """docs/rules.md, Odd places: content, front matter, themes and data count, plain URLs too."""
    names = ["body.png", "url.png", "srcset.png", "front.png", "theme.png", "menu.png", "style.png", "orphan.png"]
    for name in names:
        folder.write(f"content/images/{name}", "x")
    folder.write("content/images/body.png.meta.yaml", "alt: x")
    folder.write("content/images/orphan.version.20260306T101112Z.png", "old")
    folder.write("content/assets/css/site.css", "body { background: url(/images/style.png) }")
    folder.write("themes/plain/layouts/base.html", '<img src="{{ .Site.BaseURL }}/images/theme.png">')
    folder.write("data/navigation.yaml", "main:\n  - {name: Poster, url: /images/menu.png}\n")
    body = '![b](media:images/body.png) [u](/images/url.png) [p](/documents/paper.pdf) ![a](</images/a b.png>)\n\n'
    body += '<img srcset="/images/srcset.png 2x">'
    site = operate(linked(body, "hero: media:images/front.png\n"))
    assert site.findings("orphaned_media") == [("content/images/orphan.png", None)]
