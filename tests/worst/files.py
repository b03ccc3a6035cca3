"""Files beside bodies that are hard to read: front matter of the largest size, theme templates, the Go code of plugins."""

from __future__ import annotations

from pathlib import Path

FRONT = 250_000
"""Bytes; front matter may have 256 KiB."""


def _yaml(text: str) -> str:
    return f"---\ntitle: a\n{text[:FRONT]}\n---\nb\n"


FRONT_MATTER: dict[str, str] = {
    "yaml of many keys": _yaml("".join(f"k{number}: {number}\n" for number in range(20_000))),
    "yaml of one list": _yaml("params: [" + "a, " * (FRONT // 3 - 10) + "a]"),
    "yaml of nested lists": _yaml("params: " + "[" * (FRONT // 2) + "]" * (FRONT // 2)),
    "yaml of nested maps": _yaml("".join(f"{' ' * depth}a:\n" for depth in range(600))),
    "yaml of aliases": _yaml("a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 60))),
    "yaml of merges": _yaml("m0: &m0 {a: 1}\n" + "".join(f"m{n}: &m{n}\n  <<: [*m{n - 1}, *m{n - 1}]\n" for n in range(1, 5_000))),
    "yaml with an open quote": _yaml('a: "' + "\\" * (FRONT // 2)),
    "yaml of quotes": _yaml("".join("- '\n" for _ in range(FRONT // 4))),
    "yaml of a long text": _yaml("summary: >\n" + "  a\n\n" * (FRONT // 5)),
    "yaml of colons": _yaml(":" * (FRONT - 100)),
    "yaml of tags": _yaml("a: " + "!!a " * (FRONT // 5)),
    "yaml of one key": _yaml("a: 1\n" * (FRONT // 5)),
    "yaml of comments": _yaml("#\n" * (FRONT // 2)),
    "toml of dotted keys": "+++\n" + "".join(f"a{number}.b.c = {number}\n" for number in range(15_000))[:FRONT] + "\n+++\nb\n",
    "toml of one dotted key": "+++\n" + "a." * (FRONT // 2) + "b = 1\n+++\nb\n",
    "toml of arrays": "+++\na = " + "[" * (FRONT // 2 - 10) + "]" * (FRONT // 2 - 10) + "\n+++\nb\n",
    "toml of tables": "+++\n" + "".join(f"[a{number}]\n" for number in range(30_000))[:FRONT] + "\n+++\nb\n",
    "json of arrays": ";;;\n" + '{"a": ' + "[" * (FRONT // 2 - 20) + "]" * (FRONT // 2 - 20) + "}\n;;;\nb\n",
    "json of keys": ";;;\n{" + ", ".join(f'"a{number}": {number}' for number in range(12_000)) + "}\n;;;\nb\n",
    "json of numbers": ";;;\n" + '{"a": ' + "9" * (FRONT - 100) + "}\n;;;\nb\n",
}

TEMPLATE = 1_000_000
TEMPLATES: dict[str, str] = {
    "actions": "{{ .A }}" * (TEMPLATE // 8),
    "open actions": "{{" * (TEMPLATE // 2),
    "nested branches": "{{if .A}}" * (TEMPLATE // 18) + "{{end}}" * (TEMPLATE // 18),
    "one-braced": "{ if " * (TEMPLATE // 5),
    "open comments": "{{/*" * (TEMPLATE // 4),
    "quotes": '{{ "' * (TEMPLATE // 4),
    "parentheses": "{{ " + "(" * TEMPLATE + " }}",
    "assets": '<script src="https://a.example/x.js"></script>' * (TEMPLATE // 46),
    "tags": "<" * TEMPLATE,
    "attributes": "<a " + "x=" * (TEMPLATE // 2),
    "styles": "<style>" + "url(" * (TEMPLATE // 4),
    "slots": '{{ pluginSlot "a" }}' * (TEMPLATE // 20),
    "blanks": "{{" + " " * TEMPLATE,
}
CODE: dict[str, str] = {
    "parentheses": "package a\nvar x = " + "(" * 400_000,
    "closed parentheses": "package a\nvar x = " + "(" * 300_000 + "1" + ")" * 300_000,
    "calls": 'package a\nimport "os"\nfunc f() {\n' + 'os.Getenv("A")\n' * 60_000 + "}\n",
    "blocks": "package a\nfunc f() " + "{" * 300_000 + "}" * 300_000,
    "selectors": "package a\nvar x = a" + ".b" * 400_000,
    "operators": "package a\nvar x = 1" + "+1" * 400_000,
    "strings": "package a\nvar x = []string{" + '"a",' * 200_000 + "}\n",
    "raw string that never closes": "package a\nvar x = `" + "a" * 900_000,
    "comments": "package a\n" + "/*" * 400_000,
    "imports": "package a\nimport (\n" + '"os"\n' * 100_000 + ")\n",
    "broken": "package a\n" + "func " * 180_000,
    "shadows": 'package a\nimport "os"\nfunc f() {\n' + "os := 1\n" * 80_000 + "}\n",
    "types": "package a\ntype T " + "[]" * 400_000 + "int\n",
}
SVG = '<svg xmlns="http://www.w3.org/2000/svg" ' + 'x="1" ' * 150_000 + ' width="1" height="1"/>'


def write_themes(folder: Path) -> None:
    """One for each template, and one with all of them."""
    for names in ([name] for name in TEMPLATES) if TEMPLATES else ():
        _write_theme(folder / names[0].replace(" ", "-"), names)
    _write_theme(folder / "all", list(TEMPLATES))


def _write_theme(folder: Path, names: list[str]) -> None:
    layouts = folder / "layouts"
    layouts.mkdir(parents=True)
    (folder / "theme.yaml").write_text(f"name: {folder.name}\nsdk_version: v1\ncompatibility_version: v1\n")
    for layout in ("base", "index", "page", "post", "list"):
        (layouts / f"{layout}.html").write_text(TEMPLATES[names[0]])
    for name in names:
        (layouts / f"{name.replace(' ', '-')}.html").write_text(TEMPLATES[name])


def write_plugins(folder: Path) -> None:
    for name, code in CODE.items():
        place = folder / name.replace(" ", "-")
        place.mkdir(parents=True)
        (place / "plugin.yaml").write_text(f"name: {place.name}\nfoundry_api: v1\nmin_foundry_version: 0.1.0\nversion: 1.0.0\n")
        (place / "plugin.go").write_text(code)
