"""Bytes into lines: the same verdict however a pipe was chunked (C029, ST-02)."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.transports.stdio.streams import Stop, read_lines

LIMIT = 20


def lines_of(chunks: list[bytes]) -> list[bytes | None]:
    """What the reader yields when each chunk is read on its own."""
    incoming, outgoing = os.pipe()
    stop = Stop()
    turn = threading.Semaphore(0)

    def feed() -> None:
        for chunk in chunks:
            os.write(outgoing, chunk)
            turn.acquire()
        os.close(outgoing)

    class Stepped:
        requested = False

        @staticmethod
        def read(source: int) -> bytes:
            chunk = stop.read(source)
            turn.release()
            return chunk

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        return list(read_lines(incoming, Stepped(), LIMIT))  # type: ignore[arg-type]
    finally:
        feeder.join()
        os.close(incoming)
        stop.close()


def expected(data: bytes) -> list[bytes | None]:
    found = [None if len(line) > LIMIT else line for line in data.split(b"\n")]
    return [line for line in found if line is None or line.strip()]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=120).map(lambda data: data.replace(b"\x07", b"\n")), st.lists(st.integers(0, 120), max_size=6))
def test_chunks_make_no_difference(data: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    chunks = [data[start:end] for start, end in zip(places, places[1:], strict=False) if start < end]
    assert lines_of(chunks) == expected(data)


@pytest.mark.parametrize("size", [LIMIT - 1, LIMIT, LIMIT + 1, 3 * LIMIT])
@pytest.mark.parametrize("ending", [b"", b"\n", b"\nnext"])
def test_the_limit_is_exact_with_and_without_a_newline(size: int, ending: bytes) -> None:
    line = b"x" * size
    for step in (1, 7, LIMIT, 1000):
        data = line + ending
        assert lines_of([data[start : start + step] for start in range(0, len(data), step)]) == expected(data)


def test_a_stop_ends_reading_without_an_end_of_input() -> None:
    incoming, outgoing = os.pipe()
    stop = Stop()
    reader = threading.Thread(target=lambda: list(read_lines(incoming, stop, LIMIT)))
    reader.start()
    os.write(outgoing, b"half a line")
    stop.request()
    reader.join(60)
    assert not reader.is_alive()
    for descriptor in (incoming, outgoing):
        os.close(descriptor)
    stop.close()
