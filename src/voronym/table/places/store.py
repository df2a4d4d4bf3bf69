"""Tables in stores, such as ``s3://bucket/people.parquet``: read and written as a whole.

A table is copied to a folder that only its owner can read, and removed after reading; the next run removes
the remains of a killed run. A release is made and counted in such a folder. It is uploaded in one piece when
all its companion files are complete. If one of them fails, the earlier content of the address is restored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from voronym.core.locks import passing_folder
from voronym.errors import MissingExtraError, ReadError, WriteError
from voronym.table.check import count_columnar
from voronym.table.places.base import ROWS, Load, Place, Sink

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/{1,3}(?=[^/])")
_OTHERS = ("postgresql", "postgres", "http", "https", "delta", "iceberg")
"""Addresses that other modules read, or that cannot be read."""


class Store(Place):
    """Files in stores that fsspec opens."""

    name = "store"
    holds_files = True
    takes_query = True

    def address(self, text: str) -> str | None:
        """Return the address with both slashes; a `Path` drops one of them."""
        start = _ADDRESS.match(text)
        if start is None or start[1] in _OTHERS:
            return None
        rest = text[start.end() :]
        return f"{start[1]}:///{rest}" if start[1] == "file" else f"{start[1]}://{rest}"

    def read(self, address: str, query: str | None) -> pl.DataFrame:
        """Refuse to read directly: `voronym.table.read` reads the copy that `fetched` makes."""
        raise NotImplementedError

    def has_parts(self, address: str) -> bool:
        """Whether an address names several files: a pattern, or a folder of its store."""
        if any(sign in address for sign in "*?["):
            return True
        store, place = store_of(address)
        try:
            return bool(store.isdir(place))
        except Exception:  # each store has its own errors; reading raises them
            return False

    def lay_down(self, address: str, query: str | None, folder: Path) -> None:
        """Copy the files of a pattern or a folder in the store, or a single file."""
        del query  # of a database, which is asked when it is here
        store, place = store_of(address)
        name = PurePosixPath(place).name
        try:
            pattern = any(sign in place for sign in "*?[")
            files = store.glob(place) if pattern else store.find(place)
            root = re.split(r"[*?\[]", place)[0].rpartition("/")[0] if pattern else place
            for file in sorted(files):
                inside = file.removeprefix(root).strip("/") or PurePosixPath(file).name
                if inside.startswith(("_", ".")) or "/_" in inside or "/." in inside:
                    continue
                target = folder / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                store.get_file(file, str(target))
        except Exception as error:
            raise ReadError(f"{name!r} could not be fetched ({type(error).__name__})") from None
        if not any(folder.iterdir()):
            raise ReadError(f"there is nothing at the address of {name!r}; check it")

    def check(self, address: str, table: str, *, overwrite: bool) -> None:
        """Refuse an address that is occupied, and a store that does not answer."""
        del table
        store, place = store_of(address)
        name = PurePosixPath(place).name
        try:
            taken = store.exists(place)
        except Exception as error:
            raise WriteError(f"the store of {name!r} does not answer ({type(error).__name__})") from None
        if taken and not overwrite:
            raise WriteError(f"{name!r} exists already; choose another name, or allow overwriting")

    def check_many(self, address: str) -> None:
        """Refuse several files, unless they can be joined into one Parquet file."""
        if not address.endswith(".parquet"):
            raise WriteError(
                "a store cannot give several files their names at once: end the address in .parquet, for one "
                "file, or name a Delta table there, such as delta:s3://bucket/release"
            )

    def sink(self, load: Load) -> Sink:
        """Return the sink of the file."""
        return _Upload(load)


def store_of(address: str) -> tuple[Any, str]:
    """Return the store behind an address, and the place in it."""
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError(
            f"{_scheme(address)}:// needs fsspec: pip install 'voronym[remote]'"
        ) from None
    try:
        store, place = fsspec.core.url_to_fs(address)
    except ImportError as error:
        reason = " ".join(str(error).split())
        raise MissingExtraError(f"{_scheme(address)}:// needs another library: {reason}") from None
    except ValueError:
        raise ReadError(f"no store is known for addresses that start with {_scheme(address)}://") from None
    return store, place


def _scheme(address: str) -> str:
    return address.split("://", 1)[0]


@contextmanager
def fetched(address: str) -> Iterator[Path]:
    """Yield the path of a local copy of an address, for the length of the block."""
    store, place = store_of(address)
    with passing_folder() as folder:
        path = folder / PurePosixPath(place).name
        try:
            store.get_file(place, str(path))
        except FileNotFoundError:
            raise ReadError(f"there is nothing at the address of {path.name!r}; check it") from None
        except Exception as error:  # each store has errors of its own
            raise ReadError(f"{path.name!r} could not be fetched ({type(error).__name__})") from None
        yield path


def settings_of(address: str) -> dict[str, str] | None:
    """Return extra settings for libraries with their own stores; None in most cases."""
    plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
    return {"AWS_ALLOW_HTTP": "true"} if plain and address.startswith("s3") else None


@dataclass
class _Upload(Sink):
    """A finished file to upload to a store."""

    store: Any = field(default=None, init=False)
    place: str = field(default="", init=False)
    earlier: bytes | None = field(default=None, init=False)
    put: bool = field(default=False, init=False)

    @property
    def called(self) -> str:
        """Its name in messages."""
        return repr(PurePosixPath(self.load.address).name)

    def fill(self) -> None:
        """Put the file into the store, in one piece."""
        load = self.load
        Store().check(load.address, "", overwrite=load.overwrite)
        self.store, self.place = store_of(load.address)
        if self.store.exists(self.place):
            self.earlier = self.store.cat_file(self.place)
        self.put = True
        if len(load.files) == 1:
            self.store.put_file(str(next(iter(load.files))), self.place)
            return
        with passing_folder() as folder:
            load.scan().sink_parquet(folder / "release.parquet", row_group_size=ROWS)
            _, least = count_columnar(folder / "release.parquet", list(load.keys), "parquet")
            if least < load.k:
                raise WriteError(f"the files together hold a combination {least} times; nothing was released")
            self.store.put_file(str(folder / "release.parquet"), self.place)

    def count(self) -> tuple[int, int] | None:
        """Return None, because the file itself was counted before."""
        return None

    def undo(self) -> None:
        """Restore the earlier file."""
        if not self.put:
            return
        if self.earlier is not None:
            self.store.pipe_file(self.place, self.earlier)
        elif self.store.exists(self.place):
            self.store.rm_file(self.place)
