"""Security report of a theme: what is detected, what is declared, and the policy (docs/rules.md, Themes, Odd places; F20)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.site.themes.references import remote_urls
from cmsmcp.site.themes.sources import covers, normalise

SECURITY = """\
security:
  external_assets:
    allowed: true
    scripts: ["https://cdn.example/lib/"]
    fonts: ["fonts.example"]
  frontend_requests: {allowed: true, origins: ["https://api.example"]}
"""


def test_report_of_declared_and_undeclared_references(site) -> None:
    site.theme("net", {
        "theme.yaml": site.MANIFEST.replace("plain", "net") + SECURITY,
        "assets/a.css": "a { src: url(https://x.fonts.example/f.woff2) }\n\n@import 'https://evil.example/a.css';",
        "assets/a.js": "fetch('https://api.example/v1')\nfetch('wss://evil.example/')",
    })
    report = site.security("net")
    assert report["detected_assets"] == [
        {"kind": "css", "url": "https://x.fonts.example/f.woff2", "path": "themes/net/assets/a.css", "line": 1, "status": "declared"},
        {"kind": "css", "url": "https://evil.example/a.css", "path": "themes/net/assets/a.css", "line": 3, "status": "undeclared"},
    ]
    assert [(one["url"], one["line"], one["status"]) for one in report["detected_requests"]] == [
        ("https://api.example/v1", 1, "declared"), ("wss://evil.example/", 2, "undeclared"),
    ]
    assert [(one["path"], one["line"]) for one in report["mismatches"]] == [("themes/net/assets/a.css", 3), ("themes/net/assets/a.js", 2)]
    assert not site.validate("net")["valid"]


def test_policy_in_the_exact_order(site) -> None:
    """docs/rules.md, Themes."""
    site.theme("net", {"theme.yaml": site.MANIFEST.replace("plain", "net") + SECURITY})
    assert site.security("net")["generated_csp"] == (
        "default-src 'self'; base-uri 'self'; object-src 'none'; frame-ancestors 'self'; "
        "script-src 'self' 'unsafe-inline' https://cdn.example; "
        "style-src 'self' 'unsafe-inline'; font-src 'self' data: fonts.example; img-src 'self' data: blob:; media-src 'self' data: blob:; "
        "connect-src 'self' https://api.example"
    )


def test_origins_enter_the_policy_only_if_allowed(site) -> None:
    """docs/rules.md, Themes: asset lists enter even when `allowed: false`, origins do not."""
    security = "security: {external_assets: {images: [img.example]}, frontend_requests: {origins: [api.example]}}\n"
    bare = site.MANIFEST.replace("plain", "net") + security
    site.theme("net", {"theme.yaml": bare})
    policy = site.security("net")["generated_csp"]
    assert "img-src 'self' data: blob: img.example;" in policy and policy.endswith("connect-src 'self'")
    assert len(site.security("net")["mismatches"]) == 2


def test_a_source_cannot_break_the_policy_apart(site) -> None:
    hostile = site.MANIFEST.replace("plain", "net") + "security: {external_assets: {allowed: true, styles: ['x.example; script-src *']}}\n"
    site.theme("net", {"theme.yaml": hostile})
    report = site.security("net")
    assert "script-src *" not in report["generated_csp"] and "break the policy" in report["mismatches"][0]["message"]


@pytest.mark.parametrize(("kind", "text"), [
    ("html", "<!-- https://no.example/ -->"),
    ("html", "{{/* https://no.example/ */}}{{- /* https://no.example */ -}}"),
    ("html", '<svg xmlns="http://www.w3.org/2000/svg" xmlns:custom="http://no.example/ns">'),
    ("html", '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">'),
    ("html", "<script>// https://no.example\n/* https://no.example */</script><style>/* https://no.example */</style>"),
    ("css", "/* https://no.example */ @namespace svg url(http://no.example/ns);"),
    ("css", "a{background:url(\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E\")}"),
    ("js", "// https://no.example\nconst r = /['\"]/; // it's https://no.example\n/* https://no.example */"),
    ("js", "document.createElementNS('http://www.w3.org/2000/svg', 'g'); if (u.startsWith('https://')) {}"),
])
def test_comments_and_namespaces_do_not_count(kind: str, text: str) -> None:
    """docs/rules.md, Odd places."""
    assert remote_urls(text, kind) == []


@pytest.mark.parametrize(("kind", "text", "url"), [
    ("html", "<script>let a = '//'; fetch('https://yes.example/x')</script>", "https://yes.example/x"),
    ("html", '<script src="//yes.example/x.js"></script>', "//yes.example/x.js"),
    ("html", "<p>It's</p><a href=https://yes.example>", "https://yes.example"),
    ("css", "@import url(https://yes.example/a.css);", "https://yes.example/a.css"),
    ("js", r'let u = "https:\/\/yes.example\/x"', "https://yes.example/x"),
    ("js", "let u = `HTTPS://yes.example/${a}`", "HTTPS://yes.example/${a}"),
    ("js", "a = b / c; let u = 'wss://yes.example' // end", "wss://yes.example"),
])
def test_code_counts(kind: str, text: str, url: str) -> None:
    assert remote_urls(text, kind) == [(url, 1)]


PIECES = ["https://h.example/a", "/*", "*/", "//", "'", '"', "`", "\\", "\n", "x", "/", "(", "=", "<!--", "-->", "{{", "}}"]


@given(st.lists(st.sampled_from(PIECES)))
def test_any_text_gives_lines_that_hold_the_url(parts: list[str]) -> None:
    text = "".join(parts)
    lines = text.split("\n")
    for kind in ("html", "css", "js"):
        for url, line in remote_urls(text, kind):
            assert url.split("\\")[0][:12] in lines[line - 1]


@pytest.mark.parametrize("piece", ["=/[", '"', "'\\", "`", "/*", "<script ", "<!--", "{{/*", "https://{{", "http://", "url(", "xmlns='http://"])
def test_a_hostile_file_costs_little(piece: str) -> None:
    """Comment stripping is linear: 300 kB in well under a second, where a backtracking pattern took minutes."""
    text = piece * (300_000 // len(piece))
    started = time.process_time()
    for kind in ("html", "css", "js"):
        remote_urls(text, kind)
    assert time.process_time() - started < 8


@pytest.mark.parametrize(("pattern", "url", "allowed"), [
    ("https://cdn.example", "https://cdn.example/a.js", True),
    ("https://cdn.example", "https://CDN.example/a.js", True),
    ("https://cdn.example", "https://cdn.example.evil.test/a.js", False),
    ("https://cdn.example", "https://cdn.example@evil.test/a.js", False),
    ("https://cdn.example", "http://cdn.example/a.js", False),
    ("https://cdn.example", "https://cdn.example:8443/a.js", False),
    ("https://cdn.example/lib", "https://cdn.example/library.js", False),
    ("https://cdn.example/lib/", "https://cdn.example/lib/a.js", True),
    ("cdn.example", "https://a.cdn.example/x", True),
    ("cdn.example", "https://notcdn.example/x", False),
    ("*.cdn.example", "https://a.cdn.example/x", True),
    ("https://*.cdn.example", "https://a.cdn.example/x", True),
    ("cdn.example", "//cdn.example/x", True),
    ("https://[broken", "https://cdn.example/", False),
])
def test_what_a_source_covers(pattern: str, url: str, allowed: bool) -> None:
    """docs/rules.md, Themes: origin, prefix or host; a prefix ends at a boundary, so that a longer host is another host."""
    assert covers([pattern], url) is allowed


@given(st.lists(st.text(alphabet="ab:/.@ ;", max_size=12)))
def test_normalising_twice_changes_nothing(items: list[str]) -> None:
    once = normalise(items)
    assert normalise(once) == once == sorted(set(once))


def test_large_and_vendored_files_are_left_out_and_said_so(site) -> None:
    site.theme("big", {"node_modules/x/a.js": "fetch('https://no.example')", "assets/big.js": "x" * (2 * 1024 * 1024 + 1)})
    report = site.security("big")
    assert report["detected_requests"] == [] and "not looked into" in report["mismatches"][0]["message"]
