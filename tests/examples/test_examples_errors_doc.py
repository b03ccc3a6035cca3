"""docs/errors.md is the table of cmsmcp/protocol/errors.py in prose: the two are held together here."""

import re
from pathlib import Path

from cmsmcp.protocol import errors

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (-?\d+) \| `([A-Z_]+)` \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)

CODES = {name: value for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)}
TEXT = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
ROWS = {name: (int(code), status) for code, name, _, status, _ in ROW.findall(TEXT)}


def test_every_code_is_described_and_none_is_invented():
    assert {name: code for name, (code, _) in ROWS.items()} == CODES


def test_our_own_codes_stay_outside_the_range_that_is_closed_to_servers():
    """MCP 2026-07-28 basic: -32768..-32000 belongs to the specification."""
    specified = {-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022, -32002, -32004}
    assert all(code > 0 for code in CODES.values() if code not in specified)


def test_the_statuses_are_those_the_service_gives():
    """A refusal has the status named here; whatever answers a well-formed request has 200."""
    from cmsmcp.core.outcome import STATUS

    for name, (code, text) in ROWS.items():
        if code > 0:
            assert int(text) == STATUS.get(code, 200), name


def test_the_bodies_of_the_door_are_quoted_as_sent():
    """P23: the seed's bodies, word for word, as the door spells them."""
    files = ("transports/http/door.py", "transports/http/replies.py", "identity/gate.py", "identity/tokens.py")
    source = "".join((ROOT / "cmsmcp" / file).read_text(encoding="utf-8") for file in files)
    bodies = re.findall(r'`\{"error":"(.+?)"(?:,"hint":…)?\}`', TEXT)
    assert len(bodies) >= 6
    assert [body for body in bodies if f'"{body}"' not in source] == []
