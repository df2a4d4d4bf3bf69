"""Places of tables other than local files: how to read from each, and how to deliver a release.

A release is made and counted as files in a folder that only its owner can read. When reports and recipe are
complete, too, its `Sink` moves the rows to the place, and counts them again before they become visible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import polars as pl

from voronym.core.atomic import accompany, at_the_end, sealed, together
from voronym.core.locks import passing_folder
from voronym.core.place import CHANGED, digest_of
from voronym.core.registry import Registry
from voronym.errors import ReadError, WriteError
from voronym.table.frame import listing

MARK = "a release by voronym"
"""Marks a table as replaceable: no original is lost."""
ROWS = 50_000
"""Number of rows held in memory on the way from or to a place."""


@dataclass(frozen=True)
class Load:
    """A release to deliver: complete files, and their place.

    Parameters
    ----------
    address : str
        Address of the place.
    table : str
        Name of the table in a database.
    files : mapping
        Each file, and the digest that it had when it was counted.
    keys, k
        Every combination of keys occurs k times or more, over all files.
    overwrite : bool
        Whether an earlier release may be replaced.
    """

    address: str
    table: str
    files: Mapping[Path, str | None]
    keys: tuple[str, ...]
    k: int
    overwrite: bool

    def scan(self) -> pl.LazyFrame:
        """Return the rows of all Parquet files, lazily."""
        return pl.concat([pl.scan_parquet(file) for file in self.files])

    def check_files(self) -> None:
        """Refuse files that differ from the counted ones."""
        for file, digest in self.files.items():
            if digest not in (None, digest_of(file)):
                raise WriteError(CHANGED.format(file.name))


class Place(ABC):
    """A kind of place; its name stands in messages and documentation."""

    name: str
    holds_files: bool = False
    """Whether the place holds files of any format, which are moved as a whole."""
    takes_query: bool = False
    """Whether the place may hold a database, which needs a query."""
    source: bool = True
    """Whether tables can be read from it."""

    @abstractmethod
    def address(self, text: str) -> str | None:
        """Return the address in a text; None if it belongs to another place.

        A `Path` merges double slashes into one; they are restored.
        """

    def shown(self, address: str) -> str:
        """Return an address in a form to show."""
        return address

    @abstractmethod
    def read(self, address: str, query: str | None) -> pl.DataFrame:
        """Return a table."""

    def lay_down(self, address: str, query: str | None, folder: Path) -> None:
        """Write a table to files in a folder, a part of it at a time."""
        self.read(address, query).write_parquet(folder / "table.parquet", row_group_size=ROWS)

    @abstractmethod
    def check(self, address: str, table: str, *, overwrite: bool) -> None:
        """Refuse, before the work, a place that does not answer or is occupied."""

    def check_many(self, address: str) -> None:
        """Refuse an address that cannot take a release over many parts."""
        del address

    def send(self, load: Load) -> None:
        """Deliver a release when the open block of `together` ends."""
        accompany(self.sink(load))

    def sink(self, load: Load) -> Sink:
        """Return the sink of a release."""
        raise NotImplementedError


@dataclass
class Sink(ABC):
    """Delivers a release, invisible until everything that belongs to it is complete."""

    load: Load
    begun: bool = field(default=False, init=False)

    def before(self) -> None:
        """Deliver the rows, and count them."""
        self.load.check_files()
        try:
            self.begun = True
            self.fill()
            again = self.count()
        except BaseException as error:
            self.undo()
            reason = self.reason(error)
            if reason is None:
                raise
            raise WriteError(f"could not write {self.called}: {reason}; nothing was released") from None
        if again is None:
            return
        rows, smallest = again
        whole = self.load.scan().select(pl.len()).collect().item()
        if rows != whole or smallest < self.load.k:
            self.undo()
            raise WriteError(
                f"{self.called} came back with {rows} of {whole} rows, the smallest combination of "
                f"{listing(list(self.load.keys))} {smallest} times (k = {self.load.k}); nothing was released"
            )

    @property
    def called(self) -> str:
        """The name of the result in messages."""
        return f"table {self.load.table!r}"

    @abstractmethod
    def fill(self) -> None:
        """Deliver the rows."""

    @abstractmethod
    def count(self) -> tuple[int, int] | None:
        """Return the number of rows and the smallest combination's size; None if the file was counted."""

    def reason(self, error: BaseException) -> str | None:
        """Return the reason for a refusal, without any value; None if the error message suffices."""
        return (
            None
            if isinstance(error, WriteError) or not isinstance(error, Exception)
            else type(error).__name__
        )

    def after(self) -> None:  # noqa: B027 - most stores have nothing to do
        """Make the result visible to everybody."""

    @abstractmethod
    def undo(self) -> None:
        """Undo the delivery."""


PLACES: Registry[Place] = Registry("place")


def place_of(path: object) -> tuple[Place, str] | None:
    """Return the place and the address of a path; None for a file or folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> place, address = place_of(Path("s3://bucket/people.csv"))
    >>> place.name, address, place_of("people.csv")
    ('store', 's3://bucket/people.csv', None)
    """
    text = str(path)
    for _, place in PLACES.entries():
        address = place.address(text)
        if address is not None:
            return place, address
    return None


def refuse_taken(name: str, mark: object, *, overwrite: bool) -> None:
    """Refuse to replace a table without permission, or one that voronym did not write."""
    if not overwrite:
        raise WriteError(f"{name} exists already; choose another name, or allow overwriting")
    if mark != MARK:
        raise WriteError(f"{name} was not written by voronym, and is never replaced; choose another name")


def shown(path: object) -> str:
    """Return the place of a table in a form to show, without a password."""
    place = place_of(path)
    return str(path) if place is None else place[0].shown(place[1])


def passing_till_the_end(home: Path | None = None) -> Path:
    """Return a folder that only its owner can read, removed when the block of `together` ends."""
    stack = ExitStack()
    folder = stack.enter_context(passing_folder(home))
    at_the_end(lambda _: stack.close())
    return folder


@contextmanager
def sent(
    place: Place, address: str, table: str, keys: Sequence[str], k: int, *, overwrite: bool
) -> Iterator[Path]:
    """Yield a temporary path; its file moves to the place when its companions are complete."""
    with together():
        name = PurePosixPath(address).name if place.holds_files else "release.parquet"
        path = passing_till_the_end() / name
        yield path
        place.send(Load(address, table, {path: sealed(path)}, tuple(keys), k, overwrite))


def counted(frame: pl.LazyFrame, keys: Sequence[str]) -> tuple[int, int]:
    """Return the number of rows of a table, and of its smallest combination of keys."""
    sizes = frame.group_by(list(keys)).len().select(pl.sum("len"), least=pl.min("len")).collect()
    rows, least = sizes.row(0)
    return int(rows or 0), int(least or 0)


def mended(text: str, start: str) -> str:
    """Return an address with both slashes after its prefix, of which a `Path` drops one.

    Examples
    --------
    >>> mended("delta:s3:/bucket/table", "delta:"), mended("delta:/data/table", "delta:")
    ('s3://bucket/table', '/data/table')
    """
    rest = text[len(start) :]
    scheme, sign, path = rest.partition(":/")
    return f"{scheme}://{path.lstrip('/')}" if sign and len(scheme) > 1 else rest


def no_query(query: str | None, what: str) -> None:
    """Refuse a query to a place without queries."""
    if query is not None:
        raise ReadError(f"{what} is not a database, so it takes no query")
