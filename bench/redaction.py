"""How long redaction takes: `python -m bench.redaction`. Prints milliseconds of CPU, the best of five, a line each.

200 KB of prose without a name of a secret in it; a megabyte of each of a few texts that name one at every turn.
"""

from __future__ import annotations

import random
import time

from bench.corpus import vocabulary
from cmsmcp.governance.redaction import redact

ROUNDS = 5
PROSE, LONG = 200_000, 1_000_000
PIECES = (
    "password ", "password=", "token: a1b2c3 ", "| user | password |\n|--|--|\n", '"name":"password",', "://a:",
    "-----BEGIN PRIVATE KEY-----",
    "MIIEabcdefghijklmnopqrstuvwxyz0123\n", '{"a":', "bearer a", "ENV A ", "mysql -p",
)  # fmt: skip


def best_ms(text: str) -> float:
    took = []
    for _ in range(ROUNDS):
        began = time.process_time()
        redact({"body": text})
        took.append(time.process_time() - began)
    return min(took) * 1000


def main() -> None:
    dice = random.Random(1)
    prose = " ".join(vocabulary("en", dice).draw(dice, PROSE // 4))[:PROSE]
    print(f"prose, {len(prose) // 1000} KB: {best_ms(prose):.1f} ms")
    for piece in PIECES:
        print(f"1 MB of {piece!r}: {best_ms((piece * (LONG // len(piece) + 1))[:LONG]):.0f} ms")


if __name__ == "__main__":
    main()
