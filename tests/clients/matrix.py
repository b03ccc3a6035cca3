"""docs/clients.md: which client was seen doing what, written by the tests that saw it and held to them."""

from __future__ import annotations

import datetime
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "clients.md"
FEATURES = ("list, call, read", "prompts", "completion", "progress", "asked", "told of changes")
Row = tuple[str, str, str, str]
"""Client, version, door, revision."""
HEAD = """# Clients

What official clients were seen doing with `cmsmcp`, over each door and in each revision they speak. The tests in `tests/clients` drive
them against a started server and write this table (`make clients`); `make test` fails when a client does less or more than it says.

*Asked*: a tool asked the client's user a question (elicitation) and got the answer. *Told of changes*: a file of the site was edited, and
the client heard of it. `–`: the client has no such feature there, or none that a program can drive.

"""


def rows() -> dict[Row, str]:
    """The table as it stands: what a client was seen doing, as its cells joined by `|`."""
    found = {}
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if DOCUMENT.exists() else ():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 4 + len(FEATURES) and not cells[0].startswith("Client"):
            found[(cells[0], cells[1], cells[2], cells[3])] = "|".join(cells[4:])
    return found


def cells(seen: frozenset[str]) -> str:
    assert seen <= set(FEATURES)
    return "|".join("yes" if feature in seen else "–" for feature in FEATURES)


def write(seen: dict[Row, frozenset[str]]) -> None:
    head = ("Client", "Version", "Door", "Revision", *FEATURES)
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(row)} | {cells(features).replace('|', ' | ')} |" for row, features in sorted(seen.items())]
    day = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    DOCUMENT.write_text(HEAD + "\n".join(lines) + f"\n\nSeen on {day}.\n", encoding="utf-8")
