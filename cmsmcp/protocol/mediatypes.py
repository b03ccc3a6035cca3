"""Which media types a client takes (RFC 9110 §12.5.1). Pure."""

from __future__ import annotations

from collections.abc import Sequence


def choose(header: str, offers: Sequence[str]) -> str | None:
    """The first of `offers` that an `Accept` header admits; the first of all when there is none (or a blank one)."""
    return next((offer for offer in offers if not header.strip() or accepts(header, offer)), None)


def names(header: str, wanted: str) -> bool:
    """Whether the header asks for `wanted` by its very name."""
    return any(entry.partition(";")[0].strip() == wanted for entry in header.lower().split(",")) and accepts(header, wanted)


def prefers(header: str, wanted: str, other: str) -> bool:
    """Whether the header asks for `wanted` and `other` by name, and for `wanted` first; a `q` decides before the order does."""
    named: dict[str, float] = {}
    for entry in header.lower().split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
        try:
            named.setdefault(name, float(quality))
        except ValueError:
            return False
    if wanted not in named or other not in named or not accepts(header, wanted):
        return False
    ranked = sorted(named, key=lambda name: -named[name])  # stable: the order decides between equals
    return ranked.index(wanted) < ranked.index(other)


def accepts(header: str, wanted: str) -> bool:
    """Whether an `Accept` header admits the type `wanted` ("application/json"): its most specific range decides, `q=0` excludes."""
    ranks = {wanted: 3, wanted.split("/", maxsplit=1)[0] + "/*": 2, "*/*": 1}
    best, admitted = 0, False
    for entry in header.lower().split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        rank = ranks.get(name, 0)
        if not rank or rank < best:
            continue
        quality = next((parameter[2:].strip() for parameter in parameters if parameter.startswith("q=")), "1")
        usable = quality.strip("0") not in ("", ".")
        admitted = usable or (admitted and rank == best)
        best = rank
    return admitted
