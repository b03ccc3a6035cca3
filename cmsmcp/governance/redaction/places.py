"""Secrets known by the place they stand in: private keys between their lines, passwords in URLs, in headers, after `curl -u`, in a webhook.

Every expression is linear: what repeats is bounded, or starts only where its own run starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cmsmcp.governance.redaction.names import is_secret
from cmsmcp.governance.redaction.values import is_made, is_placeholder, looks_random

Span = tuple[int, int]
MAX_PLACES = 10_000
"""Names, or places of one kind, that one text may have; from there on it is not shown, so that no text takes long to judge."""
Judge = Callable[["re.Match[str]", str], bool]

_BREAK = r"(?:\s|\\{1,4}[nrt])"
"""Between the lines of a key, escapes too."""
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"


@dataclass(frozen=True, slots=True)
class Place:
    """`hint` must be in the text, in lower case, for `pattern` to be tried; `judge` says whether its group `secret` is one."""

    hint: str
    pattern: re.Pattern[str]
    judge: Judge


def _any(found: re.Match[str], secret: str) -> bool:
    return True


def _given(found: re.Match[str], secret: str) -> bool:
    return not is_placeholder(secret)


def _made(found: re.Match[str], secret: str) -> bool:
    return len(secret) >= 12 and is_made(secret) and not is_placeholder(secret)


def _header(found: re.Match[str], secret: str) -> bool:
    """After a scheme in a header, and between quotes, whatever is no placeholder; in a sentence what no sentence has: digits, odd capitals,
    or more letters than a word."""
    if is_placeholder(secret):
        return False
    opened, closing = found["quote"], found.string[found.end() : found.end() + 1]
    if found["scheme"] and opened and closing and closing in opened:
        return True
    if not found["scheme"] and re.fullmatch(r"[A-Za-z]+\d{0,2}", secret):
        return looks_random(secret)
    return _unworded(secret)


def _bearer(found: re.Match[str], secret: str) -> bool:
    if secret.isalpha() and secret in (secret.lower(), secret.capitalize()):
        return len(secret) >= 24
    return not is_placeholder(secret) and _unworded(secret)


def _unworded(secret: str) -> bool:
    return (
        any(map(str.isdigit, secret))
        or secret.endswith("=")
        or looks_random(secret)
        or (len(secret) >= 16 and secret.isalpha() or re.search(r"[a-z][A-Z]", secret) is not None and len(secret) >= 8)
    )


def _filled(found: re.Match[str], secret: str) -> bool:
    """A key block with something in it: `…` between the lines is a manual's."""
    return re.search(r"[A-Za-z0-9+/=_-]{6}", re.sub(r"-----[A-Z0-9 ]{1,80}-----", "", secret)) is not None


def _netrc(found: re.Match[str], secret: str) -> bool:
    """After a machine whatever is no placeholder; `login and password` are words too."""
    before = found.string[max(0, found.start() - 300) : found.start()]
    return _given(found, secret) and (is_made(secret) or _MACHINE.search(before) is not None)


_MACHINE = re.compile(r"\b(?:machine\s{1,20}\S{1,200}|default)\s{1,20}\Z")


def _named(found: re.Match[str], secret: str) -> bool:
    return is_secret(found["name"]) and not is_placeholder(secret)


def _after(command: str) -> Judge:
    """`-u user:password` of an HTTP client is one; of Docker it is a user and a group."""
    pattern = re.compile(command)
    return lambda found, secret: (
        not is_placeholder(secret) and pattern.search(found.string, max(0, found.start() - 300), found.start()) is not None
    )


_BASE64 = r"[A-Za-z0-9+/=._~-]"
PLACES = (
    Place(
        "private key",
        re.compile(
            r"(?s)(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            rf"(?:(?:(?!-----BEGIN).)*?{_END}"
            rf"|(?:{_BREAK}*+(?:[A-Za-z-]{{1,20}}: [^\n\\]{{1,80}}(?:\n|\\n){{1,2}})*+[A-Za-z0-9+/=]{{16,}}+)*+"
            rf"(?:{_BREAK}{{1,4}}[A-Za-z0-9+/=]{{1,15}}(?=[\s.…]*(?:\Z|[\"'`])))?))",
        ),
        _filled,
    ),
    Place("://", re.compile(r"://[^\s/@:?#\"'<>`]{0,100}:(?P<secret>[^\s/?#\"'<>`]{1,300})@(?=[\w.\[$-])"), _given),
    Place("://", re.compile(r"://(?P<secret>[^\s/@:?#\"'<>`]{12,300}):?@(?=[\w.\[-])"), _made),
    Place(
        "authorization",
        re.compile(
            r"(?i)(?P<quote>[\"'`]?)\bauthorization(?:\\?[\"'`])?\s{0,3}(?::|=>|=|,)\s{0,3}(?:\\?[\"'`])?"
            r"(?P<scheme>(?:bearer|basic|token|digest|apikey|negotiate|ntlm|aws4-hmac-sha256|splunk|bot)\s{1,3})?+"
            r"(?P<secret>(?!https?:)[^\s\"'`,;<>\\]{4,4096})"
        ),
        _header,
    ),
    Place("bearer", re.compile(rf"(?i)\bbearer[ :=]{{1,3}}(?P<secret>{_BASE64}{{16,}})"), _bearer),
    Place("basic ", re.compile(rf"\b(?i:basic) {{1,3}}(?P<secret>{_BASE64}{{16,}})"), _bearer),
    Place(
        "cookie",
        re.compile(r"(?i)\bcookie: {0,3}(?P<secret>(?=[^\s0-9]{1,200}[0-9])(?:[^\s=;\"'<]{1,100}=[^\s;\"'<]{6,4096}(?:; )?){1,50})"),
        _given,
    ),
    Place(
        "-u",
        re.compile(r"(?<![\w-])-(?:u|-user|-proxy-user|U)(?: |=|(?<=u))[\"']?[^\s:\"'$<]{1,100}:(?P<secret>[^\s\"'$<][^\s\"']{0,300})"),
        _after(r"\b(?:curl|wget|https?|xh)\b"),
    ),
    Place("identified", re.compile(r"(?i)\bidentified (?:with \S{1,40} )?by (?:password )?['\"](?P<secret>[^'\"\n]{1,200})['\"]"), _given),
    Place("accountkey=", re.compile(r"(?i)accountkey=(?P<secret>[^;\s\"'<>]{4,200})"), _given),
    Place("sharedaccesskey=", re.compile(r"(?i)sharedaccesskey=(?P<secret>[^;\s\"'<>]{4,200})"), _given),
    Place(
        "hooks.slack.com",
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/\w{4,20}/\w{4,20}/(?P<secret>[\w/-]{8,100})"),
        _any,
    ),
    Place("/api/webhooks/", re.compile(r"/api/webhooks/\d{6,24}/(?P<secret>[\w-]{30,100})"), _any),
    Place(".webhook.office.com", re.compile(r"\.webhook\.office\.com/\S{0,100}/IncomingWebhook/(?P<secret>[\w/-]{30,120})"), _any),
    Place(":aa", re.compile(r"(?<!\d)\d{6,12}:(?P<secret>AA[\w-]{30,60})"), _any),
    # a bot's token, whose first part of three is a number in base64
    Place(".", re.compile(r"[MNO](?<![\w.-].)[\w-]{22,27}\.(?P<secret>[\w-]{6}\.[\w-]{27,40})(?![\w.-])"), _any),
    Place("-us", re.compile(r"-us(?<=(?P<secret>[0-9a-f]{32}-us))\d{1,2}\b"), _any),
    Place("login", re.compile(r"\blogin\s{1,20}\S{1,200}\s{1,20}password\s{1,20}(?P<secret>\S{1,400})"), _netrc),
    Place("sshpass", re.compile(r"\bsshpass\s{1,4}-p\s{0,4}[\"']?(?P<secret>[^\s\"'$]{1,200})"), _given),
    Place("my", re.compile(r" -p(?P<secret>[^\s\"'$][^\s\"']{2,200})"), _after(r"\b(?:mysql\w{0,8}|mariadb)\s")),
    Place("redis-cli", re.compile(r" -a\s{0,4}[\"']?(?P<secret>[^\s\"'$]{3,200})"), _after(r"\bredis-cli\s")),
    Place("jdbc:oracle", re.compile(r"jdbc:oracle:\w{1,10}:[^\s/@:]{1,100}/(?P<secret>[^\s@/]{1,200})@"), _given),
    Place(
        "setx",
        re.compile(r"(?im)^[ \t]{0,40}setx[ \t]{1,8}(?P<name>\w{1,64})[ \t]{1,8}[\"']?(?P<secret>[^\s\"'$=][^\s\"']{0,400})"),
        _named,
    ),
    Place(
        "env",
        re.compile(r"(?m)^[ \t]{0,40}(?:ENV|setenv)[ \t]{1,8}(?P<name>\w{1,64})[ \t]{1,8}[\"']?(?P<secret>[^\s\"'$=][^\s\"']{0,400})"),
        _named,
    ),
)


# A key whose beginning is cut off, read backwards from its end.
_TAIL = re.compile(r"(?:\s|[nrt]\\{1,4})*[A-Za-z0-9+/=]{1,80}(?:(?:\s|[nrt]\\{1,4})+[A-Za-z0-9+/=]{30,80})*")
_LAST_LINE = re.compile(_END)
_MAX_KEY = 16_000


def placed(text: str, lower: str) -> Iterator[Span]:
    """Where each of them starts and ends."""
    for place in PLACES:
        if place.hint in lower:
            for number, found in enumerate(place.pattern.finditer(text)):
                if number >= MAX_PLACES:
                    yield found.start(), len(text)
                    break
                if place.judge(found, found["secret"]):
                    yield found.span("secret")
    if "private key" in lower:
        yield from _beheaded(text)


def _beheaded(text: str) -> Iterator[Span]:
    for number, end in enumerate(_LAST_LINE.finditer(text)):
        if number >= MAX_PLACES:
            yield end.start(), len(text)
            return
        tail = _TAIL.match(text[max(0, end.start() - _MAX_KEY) : end.start()][::-1])
        if tail is not None and len(tail[0]) >= 30:
            yield end.start() - len(tail[0].rstrip()), end.end()
