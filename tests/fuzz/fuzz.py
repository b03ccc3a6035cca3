"""`make fuzz`: a million mutated messages at the service, in as many processes as there are cores. Exit code 1 at the first fault.

python tests/fuzz/fuzz.py [--messages N] [--seed N]
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections import Counter
from multiprocessing import Pool
from typing import Any

from mutations import messages
from target import Fault, Target

SLICE = 20_000


def throw(seed: int, count: int) -> dict[str, Any]:
    logging.disable(logging.CRITICAL)  # internal errors are faults here, and shown as such
    target = Target()
    fault = None
    try:
        for sent in messages(seed, count):
            target.throw(sent)
    except Fault as found:
        fault = str(found)
    return {
        "thrown": target.thrown, "parsed": target.parsed, "answered": target.answered, "codes": target.codes, "fault": fault, "seed": seed,
        "unreached": target.unreached(),
    }  # fmt: skip


def throw_slice(slice_: tuple[int, int]) -> dict[str, Any]:
    return throw(*slice_)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    wanted = parser.parse_args()
    slices = [min(SLICE, wanted.messages - start) for start in range(0, wanted.messages, SLICE)]
    seeds = [wanted.seed + number for number in range(len(slices))]
    print(f"{wanted.messages} messages from seed {wanted.seed}", flush=True)
    thrown = parsed = 0
    unreached: set[str] | None = None
    codes: Counter[int] = Counter()
    began = time.monotonic()
    with Pool(len(os.sched_getaffinity(0)), maxtasksperchild=5) as pool:
        for done in pool.imap(throw_slice, zip(seeds, slices, strict=True)):
            if done["fault"]:
                print(f"FAULT (seed {done['seed']}): {done['fault']}", file=sys.stderr)
                return 1
            thrown, parsed = thrown + done["thrown"], parsed + done["parsed"]
            codes += done["codes"]
            unreached = done["unreached"] if unreached is None else unreached & done["unreached"]
            if sys.stdout.isatty() or thrown % 200_000 == 0:
                print(f"{thrown} thrown, {time.monotonic() - began:.0f} s", flush=True)
    print(f"{thrown} thrown, {parsed / thrown:.0%} were JSON, no fault, {time.monotonic() - began:.0f} s")
    print("errors by code:", ", ".join(f"{code} × {count}" for code, count in codes.most_common()))
    print("methods without a result:", ", ".join(sorted(unreached or ())) or "none")
    return 1 if unreached or parsed < 0.3 * thrown else 0


if __name__ == "__main__":
    sys.exit(main())
