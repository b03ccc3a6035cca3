"""The kinds of value our configuration keys take: from a YAML node to a Python value, or one line on what is wrong.

YAML's guesses are no help here (`off`, `1e9`, a quoted "false"), so each kind reads the text itself (YAML 1.2 core spellings).
Knows nodes and words; must not know which keys exist, nor files, nor the environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from cmsmcp.site.yaml.nodes import Mapping, Node, Scalar, Sequence
from cmsmcp.site.yaml.values import is_null

_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_OTHER_BOOLS = frozenset({"yes", "no", "on", "off", "y", "n"})
_INT = re.compile(r"[-+]?[0-9]{1,18}\Z")
_FLOAT = re.compile(r"[-+]?[0-9]{1,18}(\.[0-9]{1,18})?\Z")
_DURATION = re.compile(r"([1-9][0-9]{0,8})([smhd])\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_HOST = re.compile(r"(\[[0-9a-fA-F:]+\]|[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)(:([0-9]{1,5}|\*))?\Z")
MAX_ITEMS = 200


class Fault(Exception):
    """A value that cannot be taken: one line that says what is needed. `line` is that of the item at fault, when it lies deeper.

    `also` are further faults of the same value.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.also: tuple[Fault, ...] = ()


def raise_all(faults: list[Fault]) -> None:
    """Raise the first, the others with it; nothing when there is none."""
    if faults:
        faults[0].also = tuple(faults[1:])
        raise faults[0]


@dataclass(frozen=True, slots=True)
class Kind:
    """`name` is what the documentation prints; `read` turns a node into the value or raises Fault."""

    name: str
    read: Callable[[Node], Any]


def shown(node: Node) -> str:
    """The value as the author wrote it, short, for a message."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    text = node.text if len(node.text) <= 40 else node.text[:37] + "..."
    if not text.isprintable():
        return "text with control characters"
    return text if node.plain and text else f'"{text}"'


def near(word: str, known: Iterable[str]) -> str:
    """` Did you mean "x"?`, or nothing."""
    spelled = {_folded(name): name for name in known}
    found = get_close_matches(_folded(word), list(spelled), n=1, cutoff=0.6)
    return f' Did you mean "{spelled[found[0]]}"?' if found else ""


def _folded(word: str) -> str:
    return word[:200].lower().replace("-", "_")


def _scalar(node: Node, wanted: str) -> Scalar:
    if not isinstance(node, Scalar) or is_null(node):
        raise Fault(f"needs {wanted}, not {'nothing' if is_null(node) else shown(node)}")
    if node.tag is not None:
        raise Fault(f"needs {wanted} without the tag {node.tag[:40]}")
    return node


def _number(node: Node, wanted: str, spelling: re.Pattern[str]) -> str:
    scalar = _scalar(node, wanted)
    if not scalar.plain:
        raise Fault(f"needs {wanted} without quotes, not {shown(node)}")
    if not spelling.match(scalar.text):
        raise Fault(f"needs {wanted}, not {shown(node)}")
    return scalar.text


def _read_bool(node: Node) -> bool:
    scalar = _scalar(node, "true or false")
    if scalar.plain and scalar.text in _BOOLS:
        return _BOOLS[scalar.text]
    if not scalar.plain and scalar.text in _BOOLS:
        raise Fault(f"needs true or false without quotes, not {shown(node)}")
    hint = " YAML 1.2 knows no yes, no, on and off." if scalar.text.lower() in _OTHER_BOOLS else near(scalar.text, ("true", "false"))
    raise Fault(f"needs true or false, not {shown(node)}.{hint}")


BOOL = Kind("true or false", _read_bool)


def whole(least: int, most: int) -> Kind:
    wanted = f"a whole number from {least:,} to {most:,}".replace(",", " ") if most >= 10_000 else f"a whole number from {least} to {most}"

    def read(node: Node) -> int:
        value = int(_number(node, wanted, _INT))
        if not least <= value <= most:
            raise Fault(f"needs {wanted}, not {value}")
        return value

    return Kind(wanted, read)


def seconds(least: float, most: float) -> Kind:
    wanted = f"seconds from {least:g} to {most:g}"

    def read(node: Node) -> float:
        value = float(_number(node, wanted, _FLOAT))
        if not least <= value <= most:
            raise Fault(f"needs {wanted}, not {value:g}")
        return value

    return Kind(wanted, read)


def parse_duration(text: str) -> int:
    """Seconds of `45s`, `30m`, `12h`, `90d`. Raises Fault."""
    found = _DURATION.match(text)
    if not found:
        raise Fault(f'needs a duration such as 30m, 12h or 90d, not "{text[:40]}"')
    return int(found[1]) * _SECONDS[found[2]]


DURATION = Kind("a duration such as 12h or 90d", lambda node: parse_duration(_scalar(node, "a duration such as 12h or 90d").text))


def choice(*words: str) -> Kind:
    wanted = " or ".join(words)

    def read(node: Node) -> str:
        text = _scalar(node, wanted).text
        if text not in words:
            raise Fault(f"needs {wanted}, not {shown(node)}.{near(text, words)}")
        return text

    return Kind(wanted, read)


def only(word: str, **reserved: str) -> Kind:
    """One word; of the reserved ones each has a line that says what holds instead."""

    def read(node: Node) -> str:
        text = _scalar(node, word).text
        if text in reserved:
            raise Fault(reserved[text])
        if text != word:
            raise Fault(f"needs {word}, not {shown(node)}.{near(text, (word,))}")
        return text

    return Kind(word, read)


def list_of(what: str, item: Callable[[str], str]) -> Kind:
    """A list of texts, each checked by `item`, which returns the value to keep or raises Fault."""

    def read(node: Node) -> tuple[str, ...]:
        if not isinstance(node, Sequence):
            if isinstance(node, Scalar) and not is_null(node):
                raise Fault(f"needs a list of {what}, not {shown(node)}; write [{shown(node)}]")
            raise Fault(f"needs a list of {what}, not {'nothing; for an empty one write []' if is_null(node) else shown(node)}")
        if len(node.items) > MAX_ITEMS:
            raise Fault(f"holds {len(node.items)} items; at most {MAX_ITEMS}")
        values, faults = [], []
        for entry in node.items:
            try:
                values.append(item(_scalar(entry, f"one of the {what}").text))
            except Fault as fault:
                faults.append(Fault(fault.message, entry.line))
        raise_all(faults)
        return tuple(dict.fromkeys(values))

    return Kind(f"a list of {what}", read)


def one_of(words: Iterable[str], what: str) -> Callable[[str], str]:
    known = tuple(words)

    def check(text: str) -> str:
        if text not in known:
            raise Fault(f'"{text[:60]}" is no {what}.{near(text, known)} Known: {", ".join(known)}')
        return text

    return check


def host(text: str) -> str:
    """As clients send it: in ASCII, without the dot of the root."""
    try:
        name = text.encode("idna").decode().removesuffix(".")
    except UnicodeError:
        name = ""
    if not _HOST.match(name):
        raise Fault(f'"{text[:60]}" is no host name; write "cms.example.org" or "cms.example.org:8443", without a scheme')
    return name.lower()


def origin(text: str) -> str:
    parts = _split(text)
    if parts is None or parts.scheme not in ("http", "https") or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        raise Fault(f'"{text[:60]}" is no origin; write "https://app.example.org", without a path')
    return text.lower()


def network(text: str) -> str:
    import ipaddress

    if text == "unix:":
        return text
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise Fault(f'"{text[:60]}" is no address or network; write "10.0.0.7", "10.0.0.0/8", or "unix:" for a unix socket') from None


def _split(text: str) -> Any:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        return parts if parts.hostname and (parts.port is None or parts.port) else None
    except ValueError:
        return None


def _read_url(node: Node) -> str:
    text = _scalar(node, "a URL").text
    parts = _split(text)
    if parts is None or parts.scheme not in ("http", "https") or parts.query or parts.fragment or "@" in parts.netloc:
        raise Fault(f"needs an http or https URL without user, query or fragment, not {shown(node)}")
    return text.rstrip("/")


URL = Kind("a URL", _read_url)


def _read_issuer_url(node: Node) -> str:
    """Kept to the letter: an issuer's name is compared, and one ends with a slash where another does not."""
    text = _scalar(node, "a URL").text
    parts = _split(text)
    if parts is None or parts.fragment or "@" in parts.netloc or not text.isprintable() or " " in text:
        raise Fault(f"needs an https URL without user or fragment, not {shown(node)}")
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")):
        raise Fault(f"needs https (http is for a loopback address alone), not {shown(node)}")
    return text


ISSUER_URL = Kind("an https URL", _read_issuer_url)


def _read_text(node: Node) -> str:
    text = _scalar(node, "text").text
    if len(text) > 200:
        raise Fault("is longer than 200 characters")
    return text


TEXT = Kind("text", _read_text)


def _read_locales(node: Node) -> tuple[str, ...]:
    """What the site reads there, strictly: its diagnostics are faults here, and so are keys it does not know."""
    if is_null(node) or isinstance(node, Scalar):
        raise Fault("needs a list such as [en, de], or a mapping such as {de-AT: {fallback: de}}")
    from cmsmcp.site.config.languages import read_locales

    locales, found = read_locales(node, "", ())
    faults = [Fault(f"is wrong: {diagnostic.message}", diagnostic.line) for diagnostic in found]
    for name, entry in node.entries.items() if isinstance(node, Mapping) else ():
        if not isinstance(entry, Mapping):
            if not is_null(entry):
                faults.append(Fault(f"{name[:40]} needs a mapping such as {{fallback: de}}, not {shown(entry)}", entry.line))
            continue
        for key, value in entry.entries.items():
            if key != "fallback":
                faults.append(Fault(f'{name[:40]} has an unknown key "{key[:40]}".{near(key, ("fallback",))} Known: fallback', value.line))
    raise_all(faults)
    return locales.codes


LOCALES = Kind("a list of locales, or a mapping of locale to {fallback: locale}", _read_locales)
