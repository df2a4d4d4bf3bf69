"""The ledger: a file with the people and groups of earlier releases, without anybody's values."""

# promise: doc-ledger
from __future__ import annotations

import json
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voronym.core.formats import check_format, program_version
from voronym.core.place import digest_of
from voronym.errors import InputError, WriteError
from voronym.history.people import SIZE, Prints
from voronym.history.policy import RETIRED

Ints = NDArray[np.int64]

LEFT_OUT = -2
"""The group of people that a release left out, which an intruder may know."""

FORMAT = 2
_TABLES = """
create table facts (name text primary key, value blob);
create table release (
    number integer primary key autoincrement, made text, k integer, about text, waiting integer,
    path text, sha256 text, pending integer,
    people blob, groups blob, begun blob, waited blob, published text, loose blob, marks blob, cells blob
);
"""
_SINCE_2 = ("loose", "marks", "cells")
"""Fields of releases in ledgers of format 2 that format 1 lacks."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One release in a ledger.

    Parameters
    ----------
    number : int
        Counted from 1.
    made : str
        When, in UTC.
    k : int
        The least size of a group.
    about : mapping
        Keys, columns, identifying columns, method, and figures about groups.
    people : array, shape (n,)
        Fingerprints, ascending, including people who waited.
    groups : array of int, shape (n,)
        The group of each; -1 for people who waited, -2 for people who were left out.
    begun : array of int, shape (n,)
        The number of the release at which the history of each person began.
    waited : array of int, shape (n,)
        Number of releases for which each person has been waiting; `RETIRED` for people of dissolved groups
        who are not published again.
    published : mapping
        The published values of groups, by key, which are also in the release.
    loose : array, shape (n,), optional
        Fingerprints that other spellings of a name share.
    marks : array of uint16, shape (n, columns), optional
        Marks of each person's value in every column, which show changes (see `voronym.history.marks`);
        ``about["marked"]`` names the columns.
    cells : array of bool, shape (n, 2 figures + 1), optional
        For each figure of a column (``about["cells"]``), the people in it, and the ordinary ones among them;
        last, the people who dominate some k people of their group.
    """

    number: int
    made: str
    k: int
    about: Mapping[str, Any]
    people: Prints
    groups: Ints
    begun: Ints
    waited: Ints
    path: str = ""
    published: Mapping[str, Any] = field(default_factory=dict)
    loose: Prints | None = None
    marks: NDArray[np.uint16] | None = None
    cells: NDArray[np.bool_] | None = None

    @property
    def released(self) -> int:
        """Number of people in the release."""
        return int((self.groups >= 0).sum())

    @property
    def waiting(self) -> int:
        """Number of people who waited."""
        return int(((self.groups == -1) & (self.waited != RETIRED)).sum())

    @property
    def retired(self) -> int:
        """Number of people of dissolved groups who are not published again."""
        return int((self.waited == RETIRED).sum())

    @property
    def left_out(self) -> int:
        """Number of people who were left out."""
        return int((self.groups == LEFT_OUT).sum())

    @property
    def heavy(self) -> NDArray[np.bool_]:
        """The people who dominate some k people of their group by their weight; none in old ledgers."""
        figures = len(self.about.get("cells", ()))
        if self.cells is None or self.cells.shape[1] != 2 * figures + 1:
            return np.zeros(len(self.people), bool)
        return np.asarray(self.cells[:, -1])

    def find(self, people: Prints) -> tuple[NDArray[np.bool_], Ints]:
        """Return which of these people are in this entry, and their positions."""
        place = np.searchsorted(self.people, people)
        place[place == len(self.people)] = 0
        there = self.people[place] == people if len(self.people) else np.zeros(len(people), bool)
        return there, place

    def of(self, values: Ints, people: Prints, missing: int = -1) -> Ints:
        """Return this entry's data about people."""
        there, place = self.find(people)
        return np.where(there, values[place], missing) if len(self.people) else np.full(len(people), missing)


class Ledger:
    """A file that remembers the people of each release and their groups.

    For each release it holds keyed fingerprints of its people (HMAC-SHA256, with a key that is only in
    the ledger), their group numbers, k, the names of keys and columns, the time, and the published values
    of the groups. Keyed marks of 16 bits show whether a person's value in a column changed. It holds
    nobody's values. Anybody with the ledger *and* a list of people can find out who is in it, and can
    test a guess of a value. So only its owner can read it (mode 0600). Keep it where the original table
    is.

    Parameters
    ----------
    path : str or Path
        The file; `open` makes it if it is missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Ledger.open(pathlib.Path(folder, "ledger.db"))
    Ledger(0 releases)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._settle()

    @classmethod
    def open(cls, path: str | Path) -> Ledger:
        """Open a ledger, or make one if there is no file yet."""
        return cls(path) if Path(path).exists() else cls.new(path)

    @classmethod
    def new(cls, path: str | Path, *, key_of: Ledger | None = None) -> Ledger:
        """Make an empty ledger, with a new key, or with the key of another ledger to compare both later."""
        path = Path(path)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise InputError(f"{path.name!r} exists already; choose another name for a new ledger") from None
        except OSError as error:
            raise WriteError(f"cannot make the ledger {path.name!r}: {error.strerror}") from None
        key = secrets.token_bytes(32) if key_of is None else key_of.key
        with _opened(path) as base:
            base.executescript(_TABLES)
            facts = [("format", FORMAT), ("key", key), ("voronym", program_version())]
            base.executemany("insert into facts values (?, ?)", facts)
        return cls(path)

    @property
    def key(self) -> bytes:
        """The key of the fingerprints."""
        with _opened(self.path) as base:
            return bytes(base.execute("select value from facts where name = 'key'").fetchone()[0])

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All releases, from the first to the last."""
        with _opened(self.path) as base:
            return tuple(self._entries(base))

    def _entries(self, base: sqlite3.Connection) -> Iterator[Entry]:
        wanted = "number, made, k, about, people, groups, begun, waited, path, published, loose, marks, cells"
        for row in base.execute(f"select {wanted} from release where pending = 0 order by number"):  # noqa: S608
            number, made, k, about, people, *arrays, path, published, loose, marks, cells = row
            prints = np.frombuffer(people, f"S{SIZE}")
            groups, begun, waited = (np.frombuffer(array, np.int64) for array in arrays)
            facts, n = json.loads(about), len(prints)
            yield Entry(
                number, made, k, facts, prints, groups, begun, waited, path, json.loads(published),
                None if loose is None else np.frombuffer(loose, f"S{SIZE}"),
                None if marks is None else np.frombuffer(marks, np.uint16).reshape(n, -1 if n else 0),
                None if cells is None else np.frombuffer(cells, np.bool_).reshape(n, -1 if n else 0),
            )  # fmt: skip

    @property
    def next_group(self) -> int:
        """The first unused group number."""
        return max((int(entry.groups.max(initial=-1)) for entry in self.entries), default=-1) + 1

    def enter(self, entry: Entry, *, path: Path, sha256: str, expect: int) -> int:
        """Enter a release that is about to get its name; call `confirm` or `withdraw` afterwards.

        Parameters
        ----------
        entry : Entry
            An entry without a number; ``begun`` is 0 for people whose history begins with it.
        path, sha256
            The file, so that an entry of a killed process can be confirmed or removed later.
        expect : int
            Number of entries when the release was checked. If it has changed, nothing is entered.
        """
        with _opened(self.path) as base:
            base.execute("begin immediate")
            if base.execute("select count(*) from release where pending = 0").fetchone()[0] != expect:
                raise WriteError(
                    "another release was entered in the ledger meanwhile, and this one was not checked "
                    "against it: nothing was written. Run it again"
                )
            values = (
                entry.made, entry.k, json.dumps(dict(entry.about)), entry.waiting,
                str(path.resolve()), sha256, 1, entry.people.tobytes(), _bytes(entry.groups), b"",
                _bytes(entry.waited), json.dumps(dict(entry.published)), *_blobs(entry),
            )  # fmt: skip
            marks = ", ".join("?" * len(values))
            done = base.execute(f"insert into release values (null, {marks})", values)  # noqa: S608
            number = int(done.lastrowid or 0)
            begun = np.where(entry.begun == 0, number, entry.begun)
            base.execute("update release set begun = ? where number = ?", (_bytes(begun), number))
        return number

    def confirm(self, number: int) -> None:
        """Mark a release as written."""
        with _opened(self.path) as base:
            done = base.execute("update release set pending = 0 where number = ?", (number,))
            if done.rowcount != 1:  # somebody who opened the ledger meanwhile took its maker for dead
                raise WriteError("the entry in the ledger was lost: nothing was written. Run it again")

    def withdraw(self, number: int) -> None:
        """Remove a release."""
        with _opened(self.path) as base:
            base.execute("delete from release where number = ?", (number,))

    def forget(self, number: int) -> None:
        """Forget a release that was never published: later releases are not checked against it."""
        if number not in [entry.number for entry in self.entries]:
            raise InputError(f"the ledger has no release {number}; `voronym ledger show` lists them")
        self.withdraw(number)

    def forget_people(self, people: Prints) -> int:
        """Remove people from all releases, and return their number. They count as people who left."""
        gone: set[bytes] = set()
        with _opened(self.path) as base:
            for entry in list(self._entries(base)):
                out = np.isin(entry.people, people)
                gone |= set(entry.people[out].tolist())
                keep = ~out
                arrays = (entry.groups, entry.begun, entry.waited)
                base.execute(
                    "update release set people = ?, groups = ?, begun = ?, waited = ?, loose = ?, marks = ?, "
                    "cells = ? where number = ?",
                    (
                        entry.people[keep].tobytes(),
                        *(_bytes(array[keep]) for array in arrays),
                        *_blobs(entry, keep),
                        entry.number,
                    ),
                )
        return len(gone)

    def _settle(self) -> None:
        """Recover from a crash: keep pending entries whose file exists, drop the others."""
        _check_file(self.path)
        with _opened(self.path) as base:
            try:
                row = base.execute("select value from facts where name = 'format'").fetchone()
            except sqlite3.DatabaseError:
                row = None
            if row is None:
                raise InputError(f"{self.path.name!r} is no ledger")
            check_format(f"the ledger {self.path.name!r}", row[0], FORMAT)
            if row[0] == 1:
                for name in _SINCE_2:
                    base.execute(f"alter table release add column {name} blob")
                base.execute("update facts set value = ? where name = 'format'", (FORMAT,))
                base.commit()
            base.execute("begin immediate")
            open_ones = base.execute("select number, path, sha256 from release where pending = 1").fetchall()
            for number, path, digest in open_ones:
                verb = "update release set pending = 0" if _is(path, digest) else "delete from release"
                base.execute(f"{verb} where number = ?", (number,))

    def __len__(self) -> int:
        with _opened(self.path) as base:
            return int(base.execute("select count(*) from release where pending = 0").fetchone()[0])

    def __repr__(self) -> str:
        return f"Ledger({len(self)} releases)"


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection; changes are kept if the block succeeds, and deleted rows are wiped."""
    try:
        base = sqlite3.connect(path, timeout=10, isolation_level="DEFERRED")
        try:
            base.execute("pragma secure_delete = on")
            with base:
                yield base
        finally:
            base.close()
    except sqlite3.Error as error:
        raise WriteError(f"the ledger {path.name!r} could not be used: {error}") from None


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"there is no ledger {path.name!r} in that folder; check the path")
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise InputError(
            f"other users of this machine may open the ledger {path.name!r}, which can tell who is in a "
            f"release: run chmod 600 {path.name}"
        )


def _is(path: str, digest: str) -> bool:
    try:
        return digest_of(Path(path)) == digest
    except OSError:
        return False


def _bytes(values: Sequence[int] | Ints) -> bytes:
    return np.ascontiguousarray(values, np.int64).tobytes()


def _blobs(entry: Entry, keep: NDArray[np.bool_] | slice = slice(None)) -> list[bytes | None]:
    """Return the fields of `_SINCE_2` for some people."""
    arrays = (getattr(entry, name) for name in _SINCE_2)
    return [None if array is None else np.ascontiguousarray(array[keep]).tobytes() for array in arrays]


def now() -> str:
    """Return the time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass
class Entering:
    """An entry that becomes valid when a file gets its name (see `voronym.core.atomic.accompany`)."""

    ledger: Ledger
    entry: Entry
    path: Path
    sha256: str
    expect: int
    number: int = 0

    def before(self) -> None:
        """Enter the release provisionally."""
        self.number = self.ledger.enter(self.entry, path=self.path, sha256=self.sha256, expect=self.expect)

    def after(self) -> None:
        """Make the entry final."""
        self.ledger.confirm(self.number)

    def undo(self) -> None:
        """Remove the entry."""
        self.ledger.withdraw(self.number)
