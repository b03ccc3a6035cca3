"""Which languages a site has and which folder is one of them (docs/rules.md, Languages).

With `locales:` exactly those, compared without case and with `_` for `-`. Without it a folder is a language when it is an ISO 639-1
code with or without a region: `posts/faq/` is none. The default language is always one. Pure: listings are passed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cmsmcp.site.model import ERROR, Diagnostic, Locales
from cmsmcp.site.yaml.loader import Mapping, Node, Scalar, Sequence

_CODES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es
et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj
kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv
ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti
tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
ISO_639_1 = frozenset(_CODES.split())
_CODE = re.compile(r"([a-z]{2})(-([a-z]{4}))?(-([a-z]{2}|[0-9]{3}))?\Z")
NO_FALLBACK = "none"


def normal(code: str) -> str:
    """The form codes are compared in, and the one in URLs: lower case, `-`."""
    return code.strip().replace("_", "-").lower()


def looks_like_language(name: str) -> bool:
    """Whether a folder name is an ISO 639-1 code, with or without script and region (`zh`, `pt_BR`, `zh-Hant-TW`)."""
    found = _CODE.match(normal(name))
    return bool(found) and found.group(1) in ISO_639_1  # type: ignore[union-attr]


def folder_language(name: str, locales: Locales) -> str | None:
    """The language of the first folder below a section, spelled as the site spells it; None if it is an ordinary folder."""
    known = locales.find(name)
    if known is not None or locales.declared:
        return known
    return normal(name) if looks_like_language(name) else None


def read_locales(node: Node | None, default_lang: str, found: Iterable[str]) -> tuple[Locales, list[Diagnostic]]:
    """`locales:` from site.yaml (None: absent), else the languages among the folder names `found`.

    A blank `default_lang` means the first locale, else "en". The default is always among the codes (P21).
    """
    faults: list[Diagnostic] = []
    entries = _entries(node, faults) if node is not None else {}
    if not entries:
        default = default_lang or "en"
        codes = sorted({normal(name) for name in found if looks_like_language(name)} - {normal(default)})
        return Locales(default, (default, *codes), declared=False), faults
    spelling = {normal(code): code for code in entries}
    default = spelling.get(normal(default_lang)) or default_lang or next(iter(entries))
    codes_in_order = tuple(entries) if normal(default) in spelling else (default, *entries)
    known = {normal(code): code for code in codes_in_order}
    targets = _targets(entries, known, faults)
    chains = {code: _chain(code, targets, entries, faults) for code in entries}
    return Locales(default, codes_in_order, declared=True, fallbacks=chains), faults


def _entries(node: Node, faults: list[Diagnostic]) -> dict[str, Node]:
    """Code → the node that declares it, first spelling wins."""
    pairs: list[tuple[str, Node]] = []
    if isinstance(node, Mapping):
        pairs = list(node.entries.items())
    elif isinstance(node, Sequence):
        pairs = [(item.text, item) if isinstance(item, Scalar) else ("", item) for item in node.items]
    elif node.text:
        faults.append(_fault(node, "`locales` is wanted as a list of codes, or as a map such as {de-AT: {fallback: de}}"))
    entries: dict[str, Node] = {}
    seen: set[str] = set()
    for code, entry in pairs:
        if not re.fullmatch(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{2,8})*", code.strip()):
            faults.append(_fault(entry, "a locale is wanted as a code such as de or de-AT"))
        elif normal(code) not in seen:
            seen.add(normal(code))
            entries[code.strip()] = entry
    return entries


def _targets(entries: dict[str, Node], known: dict[str, str], faults: list[Diagnostic]) -> dict[str, str]:
    """Code → the code it falls back to, spelled as declared. Without `fallback`, or with `none`, there is none."""
    targets = {}
    for code, entry in entries.items():
        wanted = entry.entries.get("fallback") if isinstance(entry, Mapping) else None
        if not isinstance(wanted, Scalar) or normal(wanted.text) in ("", NO_FALLBACK):
            continue
        target = known.get(normal(wanted.text))
        if target is None:
            faults.append(_fault(wanted, f"the fallback of {code} is not among the locales"))
        else:
            targets[code] = target
    return targets


def _chain(code: str, targets: dict[str, str], entries: dict[str, Node], faults: list[Diagnostic]) -> tuple[str, ...]:
    chain: list[str] = []
    step = targets.get(code)
    while step is not None and step not in chain and step != code:
        chain.append(step)
        step = targets.get(step)
    if step == code:
        faults.append(_fault(entries[code], f"the fallbacks of {code} lead back to it; each is tried once"))
    return tuple(chain)


def _fault(node: Node, message: str) -> Diagnostic:
    return Diagnostic(ERROR, "locales", node.file, message, node.line)
