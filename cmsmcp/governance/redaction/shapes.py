"""Secrets known by a shape of their own, wherever they stand: keys of providers and hashes of passwords. Knows no names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cmsmcp.governance.redaction.hinges import hinged

Span = tuple[int, int]

_WORD, _DASHED, _HEX = "[A-Za-z0-9]", r"[\w-]", "[0-9a-fA-F]"
# What a key starts with -> the rest of it. Nothing but a border may stand before the first.
PREFIXES = {
    **{f"gh{kind}_": f"{_WORD}{{30,}}" for kind in "pousr"},
    "github_pat_": r"\w{22,}",
    **{f"gl{kind}-": rf"{_DASHED}{{20,}}" for kind in ("pat", "rt", "dt", "cbt", "ptt", "ft", "imt", "agent", "oas", "soat")},
    **{f"xox{kind}-": r"[A-Za-z0-9-]{10,}" for kind in "abeoprs"},
    "xapp-": r"[A-Za-z0-9-]{10,}",
    "xoxe.xox": r"[bp]-[A-Za-z0-9-]{10,}",
    **{f"{kind}_{mode}_": f"{_WORD}{{16,}}" for kind in ("sk", "rk", "rzp") for mode in ("live", "test")},
    "whsec_": r"[A-Za-z0-9+/]{16,}=*",
    **{f"shp{kind}_": f"{_HEX}{{32,}}" for kind in ("at", "ca", "pa", "ss", "ua")},
    "sq0atp-": rf"{_DASHED}{{20,}}",
    "sq0csp-": rf"{_DASHED}{{20,}}",
    "sk-": r"(?=[A-Za-z_-]{0,60}[0-9])[\w-]{20,}",
    "gsk_": f"{_WORD}{{30,}}",
    "xai-": f"{_WORD}{{30,}}",
    "pplx-": f"{_WORD}{{30,}}",
    "r8_": f"{_WORD}{{30,}}",
    "nvapi-": rf"{_DASHED}{{30,}}",
    "tvly-": rf"{_DASHED}{{20,}}",
    "lsv2_pt_": r"\w{30,}",
    "lsv2_sk_": r"\w{30,}",
    "hf_": f"{_WORD}{{30,}}",
    "hvs.": rf"{_DASHED}{{20,}}",
    "hvb.": rf"{_DASHED}{{20,}}",
    "hvr.": rf"{_DASHED}{{20,}}",
    **{f"dp.{kind}.": rf"(?:[a-z0-9_-]{{1,35}}\.)?{_WORD}{{30,}}" for kind in ("pt", "st", "ct", "sa", "scim", "audit")},
    "lin_api_": f"{_WORD}{{20,}}",
    "lin_oauth_": f"{_WORD}{{20,}}",
    "key-": rf"{_HEX}{{32}}(?!\w)",
    "ntn_": f"{_WORD}{{30,}}",
    "secret_": f"{_WORD}{{43}}",
    "glsa_": r"\w{30,}",
    "glc_": r"[A-Za-z0-9+/]{30,}=*",
    "sntrys_": r"[\w+/=-]{30,}",
    "sntryu_": f"{_HEX}{{40,}}",
    "dapi": rf"{_HEX}{{32}}(?:-\d)?(?!\w)",
    "ATATT3": r"[\w=-]{30,}",
    "ATCTT3": r"[\w=-]{30,}",
    "PMAK-": rf"{_HEX}{{24}}-{_HEX}{{34}}",
    "figd_": rf"{_DASHED}{{20,}}",
    "phx_": f"{_WORD}{{30,}}",
    "npm_": f"{_WORD}{{36}}",
    "pypi-Ag": rf"{_DASHED}{{20,}}",
    "rubygems_": f"{_HEX}{{40,}}",
    "dckr_pat_": rf"{_DASHED}{{20,}}",
    "dckr_oat_": rf"{_DASHED}{{20,}}",
    "nfp_": f"{_WORD}{{30,}}",
    "nfc_": f"{_WORD}{{30,}}",
    "CFPAT-": rf"{_DASHED}{{30,}}",
    "sbp_": f"{_HEX}{{40,}}",
    "tskey-": rf"{_DASHED}{{16,}}",
    "fm2_": r"[\w+/=-]{30,}",
    **{f"pscale_{kind}_": r"[\w.=-]{30,}" for kind in ("pw", "tkn", "oauth")},
    "pat-na1-": rf"{_HEX}{{8}}-[0-9a-f-]{{20,}}",
    "pat-eu1-": rf"{_HEX}{{8}}-[0-9a-f-]{{20,}}",
    "shippo_live_": f"{_HEX}{{40}}",
    "ops_eyJ": rf"{_DASHED}{{60,}}",
    **{f"do{kind}_v1_": f"{_HEX}{{64}}" for kind in "opr"},
    "plank_": "[0-9a-f]{64}",
    "AKIA": r"[0-9A-Z]{16}\b",
    "ASIA": r"[0-9A-Z]{16}\b",
    "LTAI": rf"{_WORD}{{16,24}}\b",
    "AIza": rf"{_DASHED}{{35}}",
    "ya29.": rf"{_DASHED}{{20,}}",
    "1//0": rf"{_DASHED}{{30,}}",
    "GOCSPX-": rf"{_DASHED}{{16,}}",
    "AGE-SECRET-KEY-1": r"[0-9A-Z]{50,}",
    "SG.": r"[\w-]{16,}\.[\w-]{16,}",
    "SK": r"[0-9a-f]{32}\b",
    "eyJ": r"[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
}
# Hashes of passwords; these may stand after anything.
_HASHES = {
    "$2a$": r"\d\d\$[./A-Za-z0-9]{53}",
    "$2b$": r"\d\d\$[./A-Za-z0-9]{53}",
    "$2x$": r"\d\d\$[./A-Za-z0-9]{53}",
    "$2y$": r"\d\d\$[./A-Za-z0-9]{53}",
    **{f"${kind}$": r"[./\w=$-]{20,}" for kind in ("1", "5", "6", "apr1", "y", "gy", "7", "sha1", "sm3")},
    "$P$": r"[./\w]{31}",
    "$H$": r"[./\w]{31}",
    **{f"argon2{kind}$": r"[^\s\"'<>]{20,}" for kind in ("id", "i", "d")},
    "scrypt$": r"[^\s\"'<>]{20,}",
    "scrypt:": r"\d+:\d+:\d\$[^\s\"'<>]{20,}",
    **{f"pbkdf2{kind}$": r"[^\s\"'<>]{20,}" for kind in ("", "-sha1", "-sha256", "-sha512", "_sha1", "_sha256", "_sha512")},
    "pbkdf2:sha": r"\d+(?::\d+)?\$[^\s\"'<>]{20,}",
    **{f"{{{kind}}}": r"[A-Za-z0-9+/]{20,}={0,2}" for kind in ("SHA", "SSHA", "MD5", "SMD5", "SSHA512")},
}
_SHAPES = re.compile(hinged(PREFIXES, r"(?<![\w-])") + "|" + hinged(_HASHES))
# The same character again and again, or one sequence: a stand-in.
_RUN = re.compile(r"(.)\1{7,}")


def shaped(text: str) -> Iterator[Span]:
    """Where each of them starts and ends."""
    for found in _SHAPES.finditer(text):
        assert found.lastindex is not None
        start = found.start(found.lastindex)
        if not _RUN.search(text, start, found.end()):
            yield start, found.end()
