"""Line breaks that JSON leaves raw inside strings: U+0085, U+2028, U+2029. Readers that split lines as Unicode does take them for the end
of a message, so they leave escaped. The control characters that would break a line too are escaped by every JSON writer. Pure."""

from __future__ import annotations

_ESCAPES = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


def escape_line_breaks(encoded: bytes) -> bytes:
    """JSON in UTF-8 in, the same value out. What holds none of them comes back as it is."""
    if encoded.isascii():  # a hundred times as fast as looking for each
        return encoded
    for raw, escaped in _ESCAPES:
        encoded = encoded.replace(raw, escaped)
    return encoded
