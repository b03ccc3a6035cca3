"""The signing keys of a site served without `CMSMCP_SECRET_KEY`: a file that its owner alone can read, one key a line, newest first.

Knows the file and how long a replaced key still verifies. Must not know what is signed. A running server asks `changed()` and so
follows a rotation without a restart.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cmsmcp.identity.keys import MAX_SECRETS, MIN_SECRET_BYTES


@dataclass(frozen=True, slots=True)
class KeptKey:
    """`until`: epoch seconds at which a replaced key stops verifying; None for the one that signs."""

    secret: bytes = field(repr=False)
    until: int | None = None


class KeyFile:
    """`<key>` or `<key> <epoch seconds>` a line. ValueError says what is wrong with it and never shows a key."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock
        self._seen: tuple[int, int, int] | None = None
        self._lapses = float("inf")

    def secrets(self) -> tuple[bytes, ...]:
        """The keys that verify now, the signing one first; none when there is no file."""
        try:
            self._seen = self._stamp()
            kept = self._read()
        except FileNotFoundError:
            return ()
        self._lapses = min((key.until for key in kept if key.until is not None), default=float("inf"))
        return tuple(key.secret for key in kept)

    def changed(self) -> tuple[bytes, ...] | None:
        """The keys, if they differ from those last given out; None when they do not, or when the file cannot be used now."""
        try:
            if self._stamp() == self._seen and self._clock() < self._lapses:
                return None
            return self.secrets() or None
        except (OSError, ValueError):
            return None

    def make(self) -> bool:
        """Write a first key. False if there is a file already."""
        if self.path.exists():
            return False
        draft = self._draft([KeptKey(_new())])
        try:
            os.link(draft, self.path)  # whole or not at all, and never over another one
        except FileExistsError:
            return False
        finally:
            draft.unlink()
        return True

    def rotate(self, keep: int) -> int:
        """A new key signs from now on; the one before it verifies for `keep` more seconds. Returns how many still verify beside it."""
        kept = self._read()
        until = int(self._clock()) + keep
        older = [KeptKey(key.secret, until if key.until is None else min(key.until, until)) for key in kept]
        if len(older) >= MAX_SECRETS:
            raise ValueError(f"{len(older)} keys still verify, the most there can be; wait for one to end, or end them with --keep 1s")
        self._draft([KeptKey(_new()), *older]).replace(self.path)
        return len(older)

    def _read(self) -> list[KeptKey]:
        now = self._clock()
        lines = self.path.read_text(encoding="ascii", errors="replace").splitlines()
        keys = [_parse(line, self.path) for line in lines if line.strip()]
        if not keys:
            raise _damaged(self.path)
        return [key for key in keys if key.until is None or key.until > now]

    def _stamp(self) -> tuple[int, int, int]:
        found = self.path.stat()
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _draft(self, keys: Sequence[KeptKey]) -> Path:
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        lines = (key.secret.decode() + (f" {key.until}" if key.until is not None else "") for key in keys)
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write("\n".join(lines) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise OSError(error.errno, error.strerror, str(self.path)) from None  # a write names no file by itself
        return draft


def _new() -> bytes:
    return secrets.token_urlsafe(48).encode()


def _parse(line: str, path: Path) -> KeptKey:
    secret, _, until = line.strip().partition(" ")
    if len(secret) < MIN_SECRET_BYTES or not (secret.isascii() and secret.isprintable()) or (until and not until.isdecimal()):
        raise _damaged(path)
    return KeptKey(secret.encode(), int(until) if until else None)


def _damaged(path: Path) -> ValueError:
    return ValueError(f"{path} is damaged; delete it (tokens made with it end) or set CMSMCP_SECRET_KEY")
