"""Which strings are secrets by their looks: private keys, tokens, passwords in URLs and connection strings, provider keys.

One expression (`_CANDIDATE`) sweeps a text for the rare characters that every rule hinges on and names the rules worth trying,
so that a page without secrets costs one sweep. Placeholders (`<token>`, `${TOKEN}`, `your-api-key`, runs of x) are
documentation and stay. Every expression is linear: what repeats is bounded, or starts only where its own run starts.
"""

from __future__ import annotations

import re

from cmsmcp.governance.names import is_secret

MARK = "[redacted]"
MAX_ASSIGNMENT = 4200

# What stands in a manual where a secret would stand.
_PLACEHOLDER = re.compile(
    r"[<{\[$%(].*|.*(?:\.\.\.|…)|[x*•_-]+|string|change[-_ ]?me|null|none|true|false|"
    r"(?:your|my|the|some|an?|new)?[-_ ]?(?:db|user|admin|example|bearer|access|api|auth|client|secret)?[-_ ]?"
    r"(?:password|passwd|pass|pwd|pw|secret|token|key|apikey|credentials?|example|placeholder|here|value)s?(?:[-_ ]?here)?",
    re.IGNORECASE | re.DOTALL,
)
_RUN = re.compile(r"(.)\1{7,}")

_HEADER_VALUE = r" *(?:(?i:bearer|basic|token|digest|apikey) +)?+(?P<secret>(?!https?:)(?=[^\s0-9]{0,200}[0-9])[^\s\"'`,;]{4,})"
_BEARER_VALUE = r"(?P<secret>(?=[A-Za-z._~+/-]{0,200}[0-9])[A-Za-z0-9._~+/-]{16,}=*)"

# rule -> (its candidate: one literal character and what stands around it; its pattern, with the secret in `secret`).
# A pattern starts with plain text where it can, which the expression engine looks for much faster than for a choice.
_RULES: dict[str, tuple[str, str]] = {
    "private_key": (
        r"-(?=----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY)",
        r"(?s)(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----BEGIN).)*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{32,})*))",
    ),
    "url": (
        r":(?=//[^\s/@:?#\"'<>]{0,100}:[^\s/@?#\"'<>]{1,300}@)",
        r"://[^\s/@:?#\"'<>]{0,100}:(?P<secret>[^\s/@?#\"'<>]{1,300})@",
    ),
    "header": (r":(?<=uthorization:)", r"uthorization:" + _HEADER_VALUE),
    "header_upper": (r":(?<=UTHORIZATION:)", r"UTHORIZATION:" + _HEADER_VALUE),
    "bearer_upper": (r"B(?=EARER )", r"BEARER +" + _BEARER_VALUE),
    "basic": (r"B(?=asic )", r"Basic +" + _BEARER_VALUE),
    "account_key": (
        r"=(?<=[Kk]ey=)",
        r"ey=(?:(?<=(?i:accountkey=))|(?<=(?i:sharedaccesskey=)))(?P<secret>[^;\s\"']+)",
    ),
    "connection": (
        r"=(?<=assword=)|=(?<=assword =)|=(?<=ASSWORD=)|=(?<=wd=)|=(?<=WD=)",
        r"(?i);[ \t]*(?:password|pwd)[ \t]*=[ \t]*(?P<secret>[^;\s\"']+)",
    ),
    "libpq": (r"=(?<= password=)", r" password=(?P<secret>'[^']*'|[^\s\"']+)"),
    "aws": (r"A(?=KIA|SIA)", r"(?P<secret>A[KS]IA(?<!\wA[KS]IA)[0-9A-Z]{16})\b"),
    "google": (r"A(?=Iza)", r"(?P<secret>AIza(?<!\wAIza)[\w-]{35})"),
    "age": (r"A(?=GE-SECRET)", r"(?P<secret>AGE-SECRET-KEY-1[0-9A-Z]{50,})"),
    "jwt": (r"J(?<=\beyJ)", r"(?P<secret>eyJ(?<![\w-]eyJ)[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*)"),
    "github": (r"_(?<=\bgh[pousr]_)", r"(?P<secret>gh[pousr]_(?<![\w-]gh[pousr]_)[A-Za-z0-9]{30,})"),
    "github_pat": (r"_(?<=\bgithub_)", r"(?P<secret>github_pat_(?<![\w-]github_pat_)\w{22,})"),
    "stripe": (r"_(?<=\bsk_)", r"(?P<secret>sk_(?<![\w-]sk_)(?:live|test)_[A-Za-z0-9]{16,})"),
    "stripe_restricted": (r"_(?<=\brk_)", r"(?P<secret>rk_(?<![\w-]rk_)(?:live|test)_[A-Za-z0-9]{16,})"),
    "npm": (r"_(?<=\bnpm_)", r"(?P<secret>npm_(?<![\w-]npm_)[A-Za-z0-9]{36})"),
    "hf": (r"_(?<=\bhf_)", r"(?P<secret>hf_(?<![\w-]hf_)[A-Za-z0-9]{30,})"),
    "digitalocean": (r"_(?<=\bdo[opr]_)", r"(?P<secret>do[opr]_v1_(?<![\w-]do[opr]_v1_)[a-f0-9]{64})"),
    "plank": (r"_(?<=\bplank_)", r"(?P<secret>plank_(?<![\w-]plank_)[0-9a-f]{64})"),
    "gitlab": (r"-(?<=\bglpat-)", r"(?P<secret>glpat-(?<![\w-]glpat-)[\w-]{20,})"),
    "slack": (r"-(?<=\bxox[abeoprs]-)", r"(?P<secret>xox[abeoprs]-(?<![\w-]xox[abeoprs]-)[A-Za-z0-9-]{10,})"),
    "openai": (r"-(?<=\bsk-)", r"(?P<secret>sk-(?<![\w-]sk-)(?=[A-Za-z_-]{0,60}[0-9])[\w-]{20,})"),
    "pypi": (r"-(?<=\bpypi-)", r"(?P<secret>pypi-Ag(?<![\w-]pypi-Ag)[\w-]{20,})"),
    "sendgrid": (r"G(?<=\bSG)(?=\.)", r"(?P<secret>SG\.(?<![\w-]SG\.)[\w-]{16,}\.[\w-]{16,})"),
    "argon2": (r"\$(?<=argon2id\$)|\$(?<=argon2[id]\$)", r"(?P<secret>argon2(?:id|i|d)\$[^\s\"'<>]{20,})"),
    "crypt": (r"\$(?=2[abxy]\$|[156]\$)", r"(?P<secret>\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|[156]\$[./\w=$]{22,}))"),
    "pbkdf2": (r"\$(?<=[0-9]\$)", r"(?P<secret>pbkdf2[\w-]{0,20}\$[^\s\"'<>]{20,})"),
    "scrypt": (r"\$(?<=crypt\$)", r"(?P<secret>scrypt\$[^\s\"'<>]{20,})"),
}
# Without groups, so that the expression engine can skip ahead to the first of the rare characters (measured: 60 times faster).
_CANDIDATE = re.compile("|".join(candidate for candidate, _ in _RULES.values()))
_RULES_AT = {
    char: [name for name, (candidate, _) in _RULES.items() if candidate.removeprefix("\\")[0] == char] for char in "-:=ABGJ_$"
}
_PATTERNS = {name: re.compile(pattern) for name, (_, pattern) in _RULES.items()}
# `host=… user=… password=…`: what must stand before the last for it to be a connection string.
_LIBPQ = re.compile(r"\b(?:host|hostaddr|user|dbname|port)=\S+(?: \S+){0,8}\Z")
# A quoted name and value inside a longer text, such as JSON in a code block.
_QUOTED = re.compile(r"\"(?P<name>[A-Za-z][\w.-]{1,63})\"\s{0,8}:\s{0,8}\"(?P<secret>(?:[^\"\\\n]|\\.){1,4096})\"")
_BEARER = re.compile(r"earer +" + _BEARER_VALUE)
# A whole string that is one assignment or one header: `API_KEY=…`, `X-Api-Key: …`.
_ASSIGNMENT = re.compile(r"\s*(?:export +)?([A-Za-z][\w.-]{1,63})(\s?=\s?|: +)((?i:bearer|basic|token) +)?+(?P<secret>\S{1,4096})\s*")


def redact_text(text: str, *, quoted: bool = True) -> str:
    """`text` with what looks like a secret replaced by the mark. `quoted` False: no quoted string in it names a secret."""
    for char in set(_CANDIDATE.findall(text)):
        for rule in _RULES_AT[char]:
            text = _PATTERNS[rule].sub(_MASK.get(rule, _mask_shaped), text)
    if "earer " in text:
        text = _BEARER.sub(_mask_free, text)
    if quoted and ('": "' in text or '":"' in text):
        text = _QUOTED.sub(_mask_quoted, text)
    if len(text) <= MAX_ASSIGNMENT and ("=" in text or ": " in text):
        text = _assignment(text)
    return text


def is_placeholder(secret: str) -> bool:
    """Whether this stands where a secret would stand in a manual."""
    return _PLACEHOLDER.fullmatch(secret[:200]) is not None


def _assignment(text: str) -> str:
    whole = _ASSIGNMENT.fullmatch(text)
    if whole is None or not is_secret(whole[1]) or is_placeholder(whole["secret"]):
        return text
    if whole[2].startswith(":") and not (whole[3] or _is_header(whole[1])):
        return text
    return _replaced(whole)


def _is_header(name: str) -> bool:
    """`Password: Tips` is a title, `X-Api-Key: abc` a header: no sentence starts with the second kind of word."""
    return "-" in name or "_" in name or not (name.islower() or name.istitle())


def _mask_free(found: re.Match[str]) -> str:
    return found[0] if is_placeholder(found["secret"]) else _replaced(found)


def _mask_shaped(found: re.Match[str]) -> str:
    return found[0] if _RUN.search(found["secret"]) and "PRIVATE" not in found[0] else _replaced(found)


def _mask_libpq(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 300) : found.start()]
    return _mask_free(found) if _LIBPQ.search(before) else found[0]


def _mask_quoted(found: re.Match[str]) -> str:
    return _mask_free(found) if is_secret(found["name"]) else found[0]


def _replaced(found: re.Match[str]) -> str:
    start, end = (edge - found.start() for edge in found.span("secret"))
    return found[0][:start] + MARK + found[0][end:]


_FREE_FORM = ("url", "header", "header_upper", "bearer_upper", "basic", "account_key", "connection")
"""Rules whose secret has no shape of its own, so that a placeholder can stand in its place."""
_MASK = {**dict.fromkeys(_FREE_FORM, _mask_free), "libpq": _mask_libpq}
