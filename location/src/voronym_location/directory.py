"""The directory of addresses and their places. No outside service is ever queried."""

from __future__ import annotations

import csv
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects import postgresql, sqlite

from voronym_location.attributes import Attributes
from voronym_location.errors import BadRequest, TooLarge
from voronym_location.store.tables import directory
from voronym_location.streets import streets

__all__ = ["Entry", "address_key", "nearest", "read_rows", "resolve", "tile_of"]

METRES = 111_194.93
"""Metres per degree of latitude."""
STREETS = 200_000
"""Number of addresses of the largest town whose streets are drawn."""
TILE = 200.0
"""Side in metres of the raster squares that index addresses."""
NONE = Attributes()


@dataclass(frozen=True)
class Entry:
    """A row of a directory; with an e-mail address it is a person, who counts as signed up."""

    address: str
    latitude: float
    longitude: float
    email: str | None = None
    attributes: str = ""


def check_place(latitude: object, longitude: object) -> tuple[float, float]:
    """Return coordinates; raise if they are invalid."""
    try:
        lat, lon = float(latitude), float(longitude)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise BadRequest("a place has a latitude and a longitude, both numbers in degrees") from None
    if not (math.isfinite(lat) and math.isfinite(lon) and abs(lat) <= 90 and abs(lon) <= 180):
        raise BadRequest("a latitude is between -90 and 90 degrees, a longitude between -180 and 180")
    return lat, lon


def tile_of(latitude: float, longitude: float, size: float) -> int:
    """Return the number of the raster square, in metres, that holds a place."""
    row = math.floor(latitude * METRES / size)
    return _tile(row, _column(row, longitude, size))


def _column(row: int, longitude: float, size: float) -> int:
    width = max(math.cos(math.radians((row + 0.5) * size / METRES)), 0.01) * METRES
    return math.floor(longitude * width / size)


def _tile(row: int, column: int) -> int:
    return (row << 32) + column


LOOKED = 2000
"""Number of addresses with the same beginning, and with the same number, that are compared with a mistyped
one.
"""


def address_key(address: str) -> str:
    """Return an address in the form used for comparison: no case, accents, punctuation or doubled blanks."""
    plain = unicodedata.normalize("NFKD", address.casefold())
    kept = "".join(sign if sign.isalnum() else " " for sign in plain if not unicodedata.combining(sign))
    return " ".join(kept.split())[:300]


def resolve(connection: Connection, address: str) -> tuple[int, float, float]:
    """Return household and place of an address of the directory."""
    result = connection.execute(
        select(directory.c.id, directory.c.latitude, directory.c.longitude).where(
            directory.c.key == address_key(address)
        )
    ).first()
    if result is None:
        raise BadRequest(
            "that address is not in the directory of this service: write it as in the directory, or send "
            "coordinates"
        )
    return result.id, result.latitude, result.longitude


def suggest(connection: Connection, address: str, most: int = 5) -> list[str]:
    """Return addresses of the directory with a similar spelling, the likeliest first.

    Only addresses with the same first letters or the same house number are compared: a typing error is
    rarely in both.
    """
    key = address_key(address)
    if len(key) < 3:
        return []
    start = key[: max(2, len(key) // 4)]
    number = key.split()[-1]
    begins = (directory.c.key >= start) & (directory.c.key < start[:-1] + chr(ord(start[-1]) + 1))
    rows: dict[str, str] = {}
    for where in (begins, directory.c.key.endswith(f" {number}", autoescape=True)):
        query = select(directory.c.key, directory.c.address).where(where).limit(LOOKED)
        rows |= {row.key: row.address for row in connection.execute(query)}
    return [rows[close] for close in get_close_matches(key, rows, most, 0.75)]


def household(connection: Connection, latitude: float, longitude: float, reach: float, snap: float) -> int:
    """Return the household of a place: the nearest address, or a small square without a directory."""
    if connection.execute(select(directory.c.id).limit(1)).first() is None:
        return -2 - (tile_of(latitude, longitude, snap) & (2**62 - 1))
    result = nearest(connection, latitude, longitude, reach)
    if result is None:
        raise BadRequest(
            f"there is no address of the directory within {reach:.0f} metres of that place: check the "
            "coordinates"
        )
    return result


def nearest(connection: Connection, latitude: float, longitude: float, reach: float) -> int | None:
    """Return the address nearest to a place, if one is within reach."""
    middle, around = math.floor(latitude * METRES / TILE), math.ceil(reach / TILE)
    tiles = []
    for row in range(middle - around, middle + around + 1):
        column = _column(row, longitude, TILE)
        tiles += [_tile(row, item) for item in range(column - around, column + around + 1)]
    rows = connection.execute(
        select(directory.c.id, directory.c.latitude, directory.c.longitude).where(directory.c.tile.in_(tiles))
    ).all()
    scale = math.cos(math.radians(latitude))
    far = [
        (math.hypot(row.latitude - latitude, (row.longitude - longitude) * scale) * METRES, row.id)
        for row in rows
    ]
    best = min(far, default=(math.inf, 0))
    return best[1] if best[0] <= reach else None


def read_rows(lines: Iterable[str], most: int, asked: Attributes = NONE) -> Iterator[Entry]:
    """Read a directory: CSV with the columns address, latitude, longitude and optionally email.

    Rows with an e-mail address need a column for each declared attribute.

    Errors name the line, and repeat no value.
    """
    from voronym_location.accounts import check_email

    reader = csv.DictReader(lines)
    try:
        reader.fieldnames = names = [name.strip().lower() for name in reader.fieldnames or ()]
        needed = set(asked.names) if "email" in names else set()
        missing = ({"address", "latitude", "longitude"} | needed) - set(names)
        if missing:
            raise BadRequest(
                f"the directory lacks the column {sorted(missing)[0]!r}; its first line names columns"
            )
        for number, row in enumerate(reader, start=2):
            if number > most + 1:
                raise TooLarge(f"the directory has more than {most:,} rows")
            try:
                yield _entry(row, check_email, asked)
            except BadRequest as error:
                raise BadRequest(f"line {number} of the directory: {error}") from None
    except csv.Error:
        raise BadRequest("the directory is no CSV text: check quotes and the length of its fields") from None
    except UnicodeDecodeError:
        raise BadRequest("the directory is not in UTF-8: save it again as CSV with that encoding") from None


def _entry(row: Mapping[str, Any], check_email: Any, asked: Attributes) -> Entry:
    if None in row or any(value is None for value in row.values()):
        raise BadRequest("it has more or fewer fields than the first line")
    if not address_key(row["address"]) or len(row["address"]) > 300:
        raise BadRequest("the address is empty or longer than 300 characters")
    email = (row.get("email") or "").strip()
    return Entry(
        row["address"].strip(), *check_place(row["latitude"], row["longitude"]),
        check_email(email) if email else None,
        asked.write({name: row[name] for name in asked.names}) if email else "",
    )  # fmt: skip


def insert_for(connection: Connection) -> Any:
    """Return the insert statement of this database that also handles existing rows."""
    return postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert


def enter(connection: Connection, entries: Iterable[Entry]) -> dict[str, int]:
    """Add addresses to the directory, replacing existing ones; return the number of each address."""
    rows = {
        address_key(entry.address): {
            "key": address_key(entry.address), "address": entry.address, "latitude": entry.latitude,
            "longitude": entry.longitude, "tile": tile_of(entry.latitude, entry.longitude, TILE),
        }
        for entry in entries
    }  # fmt: skip
    statement = insert_for(connection)(directory)
    fresh = {name: statement.excluded[name] for name in ("address", "latitude", "longitude", "tile")}
    connection.execute(
        statement.on_conflict_do_update(index_elements=[directory.c.key], set_=fresh), list(rows.values())
    )
    result: dict[str, int] = {}
    keys = iter(rows)
    while part := list(islice(keys, 500)):
        query = select(directory.c.key, directory.c.id).where(directory.c.key.in_(part))
        result |= {row.key: row.id for row in connection.execute(query)}
    return result


def state(connection: Connection) -> tuple[Any, ...]:
    """Return figures that change with the directory; much faster than an outline."""
    sums = (func.sum(directory.c.latitude), func.sum(directory.c.longitude))
    return tuple(connection.execute(select(func.count(), func.max(directory.c.id), *sums)).one())


def outline(connection: Connection, k: int, most: int = 64) -> dict[str, Any] | None:
    """Return the town's outline: its bounds, raster squares and streets with at least k addresses."""
    columns = (directory.c.latitude, directory.c.longitude)
    ends = [f(column) for column in columns for f in (func.min, func.max)]
    south, north, west, east, rows = list(connection.execute(select(*ends, func.count())).one())
    if south is None:
        return None
    height, width = max(north - south, 1e-4), max(east - west, 1e-4)
    counts: dict[tuple[int, int], int] = {}
    named: list[tuple[str, float, float]] = []
    for address, latitude, longitude in connection.execute(select(directory.c.address, *columns)):
        place = (
            min(int((latitude - south) / height * most), most - 1),
            min(int((longitude - west) / width * most), most - 1),
        )
        counts[place] = counts.get(place, 0) + 1
        if rows <= STREETS:
            named.append((address, latitude, longitude))
    return {
        "south": south, "north": north, "west": west, "east": east, "squares": most,
        "inhabited": sorted(place for place, count in counts.items() if count >= k),
        "streets": streets(named, k),
    }  # fmt: skip
