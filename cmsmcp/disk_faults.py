"""Why a file or a folder cannot be used, in one line with the way out, whoever noticed: the system or SQLite.

For operators: it names paths. Light: a stdio server imports it.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

_ELSEWHERE = "or set CMSMCP_STATE_DIR to a folder elsewhere"
_WAYS_OUT = {
    errno.ENOSPC: f"no room is left on the disk: free some, {_ELSEWHERE}",
    errno.EDQUOT: f"the disk quota is used up: free some, {_ELSEWHERE}",
    errno.EFBIG: f"the file may not grow any more: raise the limit (ulimit -f), {_ELSEWHERE}",
    errno.EROFS: f"the file system is read-only: make it writable, {_ELSEWHERE}",
    errno.EACCES: f"this user has no right to it: give it, {_ELSEWHERE}",
    errno.EPERM: f"this user has no right to it: give it, {_ELSEWHERE}",
    errno.EMFILE: "too many files are open: raise the limit (ulimit -n)",
    errno.ENFILE: "too many files are open on this machine: raise fs.file-max",
    errno.ENOMEM: "no memory is left on this machine",
    errno.EIO: "the disk cannot be read or written: look at the system's log",
    errno.ENAMETOOLONG: "the name is too long for this file system",
}
_OF_SQLITE = {
    "SQLITE_FULL": errno.ENOSPC, "SQLITE_READONLY": errno.EROFS, "SQLITE_CANTOPEN": errno.EACCES, "SQLITE_PERM": errno.EACCES,
    "SQLITE_IOERR": errno.EIO, "SQLITE_NOMEM": errno.ENOMEM,
}  # fmt: skip


def describe(error: BaseException, place: object = None) -> str | None:
    """None when it is about no file. `place` is named where the error names none."""
    if isinstance(error, OSError):
        number, named = error.errno or _elsewhere(error), error.filename
    else:
        number, named = _elsewhere(error), None
        if number is None:
            return None
    where = os.fsdecode(named) if isinstance(named, str | bytes | os.PathLike) else place
    why = _WAYS_OUT.get(number or 0) or (os.strerror(number) if number else str(error) or "it cannot be used")
    return f"{where}: {why}" if where is not None else why


@contextmanager
def naming(place: object) -> Iterator[None]:
    """What goes wrong within with a file that is not named is an OSError about `place`; SQLite's errors are one too."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno:
            raise OSError(error.errno, os.strerror(error.errno), str(place)) from error
        raise
    except Exception as error:
        number = _elsewhere(error)
        if number is None:
            raise
        raise OSError(number, os.strerror(number), str(place)) from error


def _elsewhere(error: BaseException) -> int | None:
    """The system's number of an error that a library tells in its own way: SQLite by a name, whose extended ones (SQLITE_IOERR_WRITE) begin
    with the plain one, libraries in Rust at the end of a text."""
    told = re.search(r"\(os error (\d+)\)", str(error))
    if told is not None:
        return int(told[1])
    name = getattr(error, "sqlite_errorname", "")
    return next((number for plain, number in _OF_SQLITE.items() if name == plain or name.startswith(plain + "_")), None)
