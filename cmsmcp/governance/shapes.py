"""The expressions by which a secret is known: shapes of their own, and what stands beside a name in a text. Knows no names.

Every expression is linear: what repeats is bounded, or starts only where its own run starts.
"""

from __future__ import annotations

import re

# What stands in a manual where a secret would stand.
PLACEHOLDER = re.compile(
    r"[<{\[$%(].*|.*(?:\.\.\.|…)|[x*•_-]+|string|.*change[-_ ]?me|(?:your|replace|insert|enter)[-_ ].*|"
    r"(?-i:_*[A-Z]+(?:_[A-Z]+)+_*)|null|none|true|false|"
    r"(?:your|my|the|some|an?|new)?[-_ ]?(?:db|user|admin|example|bearer|access|api|auth|client|secret)?[-_ ]?"
    r"(?:password|passwd|pass|pwd|pw|secret|token|key|apikey|credentials?|example|placeholder|here|value)s?(?:[-_ ]?here)?",
    re.IGNORECASE | re.DOTALL,
)
# The same character again and again.
RUN = re.compile(r"(.)\1{7,}")
# Values that a machine made, or a person who was told to use digits; but no versions, places in code or names of algorithms.
MADE_UP = re.compile(
    r"(?!https?:|.*:\Z|v?\d+(?:\.\d+)*\Z|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z"
    r"|(?i:argon2(?:id|i|d)?|[a-z]{0,6}-?sha-?\d+|md5|bcrypt\d*|pbkdf2|base64(?:url)?|ed25519|[a-z]{1,8}\d{3,4})\Z)(?=\D{0,200}\d).{6}"
)

# A digit, a capital inside a word or padding: no English word has one.
_HEADER_VALUE = (
    r" *(?:(?i:bearer|basic|token|digest|apikey) +)?+"
    r"(?P<secret>(?!https?:)(?=[^\s0-9=]{0,200}[0-9=]|[^\s\"'`,;]{0,200}[a-z][A-Z])[^\s\"'`,;]{4,})"
)
_BEARER_VALUE = r"(?P<secret>(?=[A-Za-z._~+/-]{0,200}[0-9])[A-Za-z0-9._~+/-]{16,}=*)"

# How names of secrets end, in texts (names in capitals may end otherwise, as in `API_KEY_PROD=`). The last letters are asked first: cheap.
_END = "(?:" + "|".join(
    "".join(f"[{char}{char.upper()}]" for char in end) for end in ("key", "ken", "ret", "ord", "swd", "pwd")
) + ")"
_LAST = "[yntdYNTD]"
_VALUE_AHEAD = r"(?=[ \t]{0,4}[\"'`]?[^\s\"'`<>{}()=]{0,60}[0-9])"
_EQUALS = (
    rf"(?<=[A-Z0-9]=)(?=[\"'\w])|(?<={_LAST}=)(?<={_END}=)|(?<={_LAST} =)(?<={_END} =)"
    r"|(?<=[pP]ass=)|(?<=(?:sig|ure)=)"
)
_COLON = rf"(?<=[yntdsYNTD'\"]:)(?:(?<={_END}:)|(?<={_END}['\"]:)|(?<=[pP]ass:)){_VALUE_AHEAD}"
_ASSIGNED = (
    r"[ \t]{0,4}[\"'`]?(?P<secret>(?<=\")[^\s\"][^\"\n]{2,1022}[^\s\"](?=\")|(?<=')[^\s'][^'\n]{2,1022}[^\s'](?=')"
    r"|[^\s\"'`<>(){}\[\];|&\\,$](?:[^\s\"'`<>(){}\[\];|&\\,]|,(?=\w)){3,1023}+(?![(\[{<\\]))"
)

# rule -> (a rare character, what stands around it where the rule is worth trying, its pattern with the secret in `secret`).
# A pattern starts with plain text where it can, which the expression engine looks for much faster than for a choice.
RULES: dict[str, tuple[str, str, str]] = {
    "private_key": (
        r"-", r"(?=----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY)",
        r"(?s)(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----BEGIN).)*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{32,})*))",
    ),
    "url": (
        r":", r"(?=//[^\s/@:?#\"'<>]{0,100}:[^\s/@?#\"'<>]{1,300}@)",
        r"://[^\s/@:?#\"'<>]{0,100}:(?P<secret>[^\s/@?#\"'<>]{1,300})@",
    ),
    "header": (r":", r"(?<=uthorization:)", r"uthorization:" + _HEADER_VALUE),
    "header_upper": (r":", r"(?<=UTHORIZATION:)", r"UTHORIZATION:" + _HEADER_VALUE),
    "bearer_upper": (r"B", r"(?=EARER )", r"BEARER +" + _BEARER_VALUE),
    "basic": (r"B", r"(?=asic )", r"Basic +" + _BEARER_VALUE),
    "equals": ("=", _EQUALS, "=" + f"(?:{_EQUALS})" + _ASSIGNED),
    "colon": (":", _COLON, ":" + _COLON + _ASSIGNED),
    "flag": (
        r"-", r"(?<=--)(?=[a-z][a-z-]{0,40} +[^\s0-9]{0,60}[0-9])",
        r"--(?P<name>[a-z][a-z-]{1,40}) +[\"']?(?P<secret>[^\s\"'`<>(){}\[\]$-][^\s\"'`]{3,1023})",
    ),
    "user": (r"-", r"(?=u |-user[ =])(?<!\w-)", r"-(?:u|-user)[ =][\"']?[^\s:\"'$<]{1,100}:(?P<secret>[^\s\"'$<][^\s\"']{0,300})"),
    "cookie": (r":", r"(?<=[oO]okie:)", r"ookie: *(?P<secret>(?=[^\s0-9]{1,200}[0-9])(?:[^\s=;\"'<]{1,100}=[^\s;\"'<]{6,4096}(?:; )?)+)"),
    "telegram": (r":", r"(?=AA)", r":(?<=\d{6}:)(?P<secret>AA[\w-]{30,})"),
    "aws": (r"A", r"(?=KIA|SIA)", r"(?P<secret>A[KS]IA(?<!\wA[KS]IA)[0-9A-Z]{16})\b"),
    "google": (r"A", r"(?=Iza)", r"(?P<secret>AIza(?<!\wAIza)[\w-]{35})"),
    "age": (r"A", r"(?=GE-SECRET)", r"(?P<secret>AGE-SECRET-KEY-1[0-9A-Z]{50,})"),
    "jwt": (r"J", r"(?<=\beyJ)", r"(?P<secret>eyJ(?<![\w-]eyJ)[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*)"),
    "github": (r"_", r"(?<=\bgh[pousr]_)", r"(?P<secret>gh[pousr]_(?<![\w-]gh[pousr]_)[A-Za-z0-9]{30,})"),
    "github_pat": (r"_", r"(?<=\bgithub_)", r"(?P<secret>github_pat_(?<![\w-]github_pat_)\w{22,})"),
    "stripe": (r"_", r"(?<=\bsk_)", r"(?P<secret>sk_(?<![\w-]sk_)(?:live|test)_[A-Za-z0-9]{16,})"),
    "stripe_restricted": (r"_", r"(?<=\brk_)", r"(?P<secret>rk_(?<![\w-]rk_)(?:live|test)_[A-Za-z0-9]{16,})"),
    "shopify": (r"_", r"(?<=\bshp[a-z]{2}_)", r"(?P<secret>shp[a-z]{2}_(?<![\w-]shp[a-z]{2}_)[a-fA-F0-9]{32,})"),
    "webhook": (r"_", r"(?<=\bwhsec_)", r"(?P<secret>whsec_(?<![\w-]whsec_)[A-Za-z0-9+/]{16,}=*)"),
    "npm": (r"_", r"(?<=\bnpm_)", r"(?P<secret>npm_(?<![\w-]npm_)[A-Za-z0-9]{36})"),
    "hf": (r"_", r"(?<=\bhf_)", r"(?P<secret>hf_(?<![\w-]hf_)[A-Za-z0-9]{30,})"),
    "digitalocean": (r"_", r"(?<=\bdo[opr]_)", r"(?P<secret>do[opr]_v1_(?<![\w-]do[opr]_v1_)[a-f0-9]{64})"),
    "plank": (r"_", r"(?<=\bplank_)", r"(?P<secret>plank_(?<![\w-]plank_)[0-9a-f]{64})"),
    "gitlab": (r"-", r"(?<=\bglpat-)", r"(?P<secret>glpat-(?<![\w-]glpat-)[\w-]{20,})"),
    "slack": (r"-", r"(?<=\bxox[abeoprs]-)", r"(?P<secret>xox[abeoprs]-(?<![\w-]xox[abeoprs]-)[A-Za-z0-9-]{10,})"),
    "slack_app": (r"-", r"(?<=\bxapp-)", r"(?P<secret>xapp-(?<![\w-]xapp-)[A-Za-z0-9-]{10,})"),
    "google_client": (r"-", r"(?<=\bGOCSPX-)", r"(?P<secret>GOCSPX-(?<![\w-]GOCSPX-)[\w-]{16,})"),
    "openai": (r"-", r"(?<=\bsk-)", r"(?P<secret>sk-(?<![\w-]sk-)(?=[A-Za-z_-]{0,60}[0-9])[\w-]{20,})"),
    "pypi": (r"-", r"(?<=\bpypi-)", r"(?P<secret>pypi-Ag(?<![\w-]pypi-Ag)[\w-]{20,})"),
    "sendgrid": (r"G", r"(?<=\bSG)(?=\.)", r"(?P<secret>SG\.(?<![\w-]SG\.)[\w-]{16,}\.[\w-]{16,})"),
    "twilio": (r"K", r"(?<=\bSK)(?=[0-9a-f])", r"(?P<secret>SK(?<!\wSK)[0-9a-f]{32})\b"),
    "argon2": (r"\$", r"(?<=argon2id\$)|(?<=argon2[id]\$)", r"(?P<secret>argon2(?:id|i|d)\$[^\s\"'<>]{20,})"),
    "crypt": (r"\$", r"(?=2[abxy]\$|[156]\$)", r"(?P<secret>\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|[156]\$[./\w=$]{22,}))"),
    "pbkdf2": (r"\$", r"(?<=[0-9]\$)", r"(?P<secret>pbkdf2[\w-]{0,20}\$[^\s\"'<>]{20,})"),
    "scrypt": (r"\$", r"(?<=crypt\$)", r"(?P<secret>scrypt\$[^\s\"'<>]{20,})"),
}
# Tried wherever `equals` is.
WITH_EQUALS = {
    "account_key": r"ey=(?:(?<=(?i:accountkey=))|(?<=(?i:sharedaccesskey=)))(?P<secret>[^;\s\"']+)",
    "connection": r"(?i);[ \t]*(?:password|pwd)[ \t]*=[ \t]*(?P<secret>[^;\s\"']+)",
    "libpq": r" password=(?P<secret>'[^']*'|[^\s\"']+)",
}
# One choice by character, so that the expression engine can skip ahead to the first of them (measured: 60 times faster).
CANDIDATE = re.compile("|".join(
    f"{char}(?:" + "|".join(f"(?P<{name}>{around})" for name, (own, around, _) in RULES.items() if own == char) + ")"
    for char in dict.fromkeys(char for char, _, _ in RULES.values())
))
PATTERNS = {name: re.compile(pattern) for name, pattern in {**{name: row[2] for name, row in RULES.items()}, **WITH_EQUALS}.items()}
BEARER = re.compile(r"earer +" + _BEARER_VALUE)
# No character of these is rare, so they are looked for only where the text is short or says where to look. The first: a bot's token,
# whose first part of three is a number in base64, which is no secret.
PLAIN = (
    re.compile(r"\.(?<=[\w-]{22}\.)(?P<secret>(?=[\w-]{6}\.[A-Za-z_-]{0,27}[0-9])[\w-]{6}\.[\w-]{27,40})(?![\w.-])"),
    re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/\w{4,20}/\w{4,20}/(?P<secret>[\w/-]{8,})"),
    re.compile(r"/api/webhooks/\d{6,24}/(?P<secret>[\w-]{30,})"),
)
# `host=… user=… password=…`: what must stand before the last for it to be a connection string.
LIBPQ = re.compile(r"\b(?:host|hostaddr|user|dbname|port)=\S+(?: \S+){0,8}\Z")
# What must stand before `-u user:password` for it to be one.
CLIENT = re.compile(r"\b(?:curl|wget|https?)\b")
# A quoted name and value inside a longer text, such as JSON in a code block.
QUOTED = re.compile(r"\"(?P<name>[A-Za-z][\w.-]{1,63})\"\s{0,8}:\s{0,8}\"(?P<secret>(?:[^\"\\\n]|\\.){1,4096})\"")
# The name before a sign, read backwards.
EMAN = re.compile(r"[ \t]?['\"]?(?P<eman>[\w.-]{1,64})(?P<before>.{0,2})", re.DOTALL)
# A whole string that is one assignment or one header: `API_KEY=…`, `X-Api-Key: …`.
ASSIGNMENT = re.compile(r"\s*(?:export +)?([A-Za-z][\w.-]{1,63})(\s?=\s?|: +)((?i:bearer|basic|token) +)?+(?P<secret>\S{1,4096})\s*")
