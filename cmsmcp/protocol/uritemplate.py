"""The part of RFC 6570 that MCP resources need: `{var}` (one path segment) and `{+var}` (the rest, slashes included).

Matching is the inverse of expansion and decodes percent escapes exactly once. What a decoded value may mean (`..`, an absolute
path) is for whoever reads it to judge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote_to_bytes

_EXPRESSION = re.compile(r"\{(\+?)([A-Za-z_][A-Za-z0-9_]*)\}")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
# Reserved characters that `{+var}` keeps. `?` and `#` are escaped although RFC 6570 lets them stand: expansion must match back.
_RESERVED = ":/[]@!$&'()*+,;="


class UriTemplate:
    """One template. ValueError when it holds an expression other than `{var}` and `{+var}`, or a variable twice."""

    __slots__ = ("template", "variables", "_pattern")

    def __init__(self, template: str) -> None:
        literals = _EXPRESSION.sub("", template)
        names = [name for _, name in _EXPRESSION.findall(template)]
        if "{" in literals or "}" in literals or len(set(names)) != len(names):
            raise ValueError(f"{template!r}: only {{var}} and {{+var}}, each once")
        self.template = template
        self.variables = tuple(names)
        self._pattern = re.compile(_pattern_of(template), re.DOTALL)

    def match(self, uri: str) -> dict[str, str] | None:
        """The decoded variables, or None. A broken escape or bytes that are not UTF-8 match nothing."""
        found = self._pattern.fullmatch(uri)
        if found is None:
            return None
        values = {}
        for name, raw in found.groupdict().items():
            if _BAD_ESCAPE.search(raw):
                return None
            try:
                values[name] = unquote_to_bytes(raw).decode("utf-8")
            except UnicodeDecodeError:
                return None
        return values

    def expand(self, values: Mapping[str, str]) -> str:
        """The URI for these values; every variable is needed (KeyError)."""

        def replace(found: re.Match[str]) -> str:
            return quote(values[found[2]], safe=_RESERVED if found[1] else "")

        return _EXPRESSION.sub(replace, self.template)


def _pattern_of(template: str) -> str:
    parts, end = [], 0
    for found in _EXPRESSION.finditer(template):
        parts.append(re.escape(template[end : found.start()]))
        # A query or fragment is no part of a segment: a URI with one is a different resource.
        parts.append(rf"(?P<{found[2]}>[^?#]+)" if found[1] else rf"(?P<{found[2]}>[^/?#]+)")
        end = found.end()
    return "".join(parts) + re.escape(template[end:])
