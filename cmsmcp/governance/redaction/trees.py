"""Take secrets out of a JSON value: by the name of a key, and by what a string looks like (F40, C054).

Knows rules, nothing of where a value came from or goes. Names are read in words (`names.py`), never by substring; strings are read by
`texts.py`. Structure and key names stay: a masked string becomes `MARK`, a masked number null, and a boolean under
a secret name is a setting, not a secret (`password_hashes: true`). Redacting twice changes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from cmsmcp.governance.redaction.names import claim, is_count, is_secret
from cmsmcp.governance.redaction.texts import MARK, redact_text
from cmsmcp.governance.redaction.values import is_encoded, is_made, is_placeholder, is_variable

__all__ = ["MARK", "redact"]

MAX_DEPTH = 100
MAX_NESTED = 3
MAX_NESTED_CHARS = 1_000_000
SCHEMA_MAPS = frozenset({
    "properties", "patternProperties", "$defs", "definitions", "schemas", "dependentSchemas", "securitySchemes", "securityDefinitions",
})
"""Keys whose children are named declarations, not values: `properties.password` describes a password and holds none."""
_QUOTED_STRING = re.compile(r'"([^"\n]{2,256})"')
PAIR_NAMES = ("name", "key", "header")
PAIR_VALUES = ("value", "values")
SAMPLES = ("example", "examples", "default", "const")
"""What a declaration of a secret holds of it; `example: <your key>` is none."""
_CREDENTIALS = re.compile(r"[^\s:/]{1,100}:[^\s/][^\s]{2,300}\Z")
_SCHEME = re.compile(r"(?i)\s*(?:bearer|basic|token|digest|apikey)\s+\S")
_LOOKS: dict[str, Callable[[str], object]] = {
    "text": bool,
    "code": re.compile(r"(?=\D{0,64}\d)\S{4,64}\Z").match,
    "pairs": re.compile(r"\s*[^\s=;]{1,256}=\S").match,
    "made": lambda text: is_made(text) or is_encoded(text) or _CREDENTIALS.match(text),
    "header": lambda text: is_made(text) or _SCHEME.match(text),
}
"""By claim (`names.claim`): what a text starts with to be a secret."""


def redact(value: Any) -> Any:
    """A copy of a JSON value without its secrets. Deeper than `MAX_DEPTH`, nothing is shown but the mark."""
    return _visit(value, 0, 0)


def _visit(value: Any, depth: int, nested: int) -> Any:
    if isinstance(value, str):
        return _text(value, nested)
    if isinstance(value, Mapping):
        if depth >= MAX_DEPTH:
            return MARK
        return _mapping(value, depth + 1, nested)
    if isinstance(value, list | tuple):
        if depth >= MAX_DEPTH:
            return MARK
        return [_visit(item, depth + 1, nested) for item in value]
    return value


def _mapping(value: Mapping[Any, Any], depth: int, nested: int) -> dict[Any, Any]:
    masked, samples = _pair_values(value)
    clean = {}
    for key, child in value.items():
        if isinstance(key, str) and (key in masked or (is_secret(key) and not _is_count(key, child))):
            clean[key] = _mask(child, depth)
        elif key in SCHEMA_MAPS and isinstance(child, Mapping):
            clean[key] = _declarations(child, depth + 1, nested)
        else:
            clean[key] = _visit(_without_claimed(key, child), depth, nested)
            if samples and isinstance(key, str):
                clean[key] = _without_samples({key: clean[key]}, depth)[key]
    return clean


def _declarations(value: Mapping[Any, Any], depth: int, nested: int) -> Any:
    """Names here declare; under a secret name a plain value is still a value, and so is a sample in a declaration."""
    if depth >= MAX_DEPTH:
        return MARK
    clean = {}
    for key, child in value.items():
        if not (isinstance(key, str) and is_secret(key)):
            clean[key] = _visit(child, depth + 1, nested)
        elif isinstance(child, Mapping):
            clean[key] = _without_samples(_visit(child, depth + 1, nested), depth)
        else:
            clean[key] = _mask(child, depth)
    return clean


def _pair_values(value: Mapping[Any, Any]) -> tuple[tuple[str, ...], bool]:
    """In `{name: API_KEY, value: …}` the secret's name is a value, and its value has a harmless name. Also: whether it has samples."""
    for field in PAIR_NAMES:
        name = value.get(field)
        if isinstance(name, str) and is_secret(name):
            return PAIR_VALUES, True
    return (), False


def _without_samples(declared: Any, depth: int) -> Any:
    """A declaration of a secret, the samples in it and in its schema masked, placeholders kept."""
    if not isinstance(declared, Mapping):
        return declared
    clean = dict(declared)
    for key, child in declared.items():
        if key in SAMPLES and not (isinstance(child, str) and is_placeholder(child)):
            clean[key] = _mask(child, depth)
        elif key in ("schema", "items"):
            clean[key] = _without_samples(child, depth)
    return clean


def _without_claimed(key: Any, value: Any) -> Any:
    """`value`, masked where it looks like what `key` may announce. Only texts, numbers and lists of them: a map is settings."""
    claimed = claim(key) if isinstance(key, str) else ""
    if not claimed:
        return value
    if isinstance(value, list | tuple):
        return [one if isinstance(one, Mapping | list | tuple) else _without_claimed(key, one) for one in value]
    if isinstance(value, str):
        return MARK if value and _LOOKS[claimed](value) else value
    if isinstance(value, int) and not isinstance(value, bool) and claimed == "code":
        return None if value >= 1000 else value
    return value


def _is_count(key: str, child: Any) -> bool:
    """`accessTokens: 3` says how many there are."""
    return isinstance(child, int | float) and is_count(key)


def _mask(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if not value or is_variable(value) else MARK
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, Mapping):
        return MARK if depth >= MAX_DEPTH else {key: _mask(child, depth + 1) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return MARK if depth >= MAX_DEPTH else [_mask(item, depth + 1) for item in value]
    return None


def _text(text: str, nested: int) -> str:
    if len(text) < 8:
        return text
    if nested < MAX_NESTED and text.lstrip()[:1] in ("{", "[", '"'):
        if not _may_name_secrets(text):
            return redact_text(text)
        text = _nested_json(text, nested + 1)
    return redact_text(text)


def _may_name_secrets(text: str) -> bool:
    """Whether parsing is worth it: an escape may hide anything, else a secret's name must stand among the quoted strings."""
    return "\\" in text or any(is_secret(name) or claim(name) for name in set(_QUOTED_STRING.findall(text)))


def _nested_json(text: str, nested: int) -> str:
    """A string that is JSON is redacted as JSON; it stays as it was written unless something had to go."""
    if len(text) > MAX_NESTED_CHARS:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    clean = _visit(value, 0, nested)
    return text if clean == value else json.dumps(clean, ensure_ascii=False)
