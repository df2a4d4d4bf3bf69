"""An independent look at a database of the service: plain SQL, and nothing of the library.

`Audit.look` is called between epochs or after a crash; it remembers what it saw and fails where the promise,
as the tables tell it, is broken between two looks.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from contextlib import closing
from typing import Any


class Audit:
    """Looks at a database again and again.

    Parameters
    ----------
    url : str
        A file of SQLite, or an address of PostgreSQL.
    k : int
        The promise.
    """

    def __init__(self, url: str, k: int) -> None:
        self.url, self.k = url, k
        self.epoch = 0
        self.smallest: list[int] = []
        self._places: dict[int, tuple[float, float]] = {}
        self._members: dict[int, set[int]] = {}
        self._pseudonyms: dict[int, tuple[int, bytes]] = {}

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return what a query finds, over a connection of its own."""
        if "://" not in self.url:
            with closing(sqlite3.connect(self.url)) as base:
                return base.execute(query).fetchall()
        import psycopg

        with psycopg.connect(self.url.replace("postgresql+psycopg", "postgresql")) as base:
            return base.execute(query).fetchall()

    def look(self) -> int:
        """Check what is in force against the promise and against the last look; return the epoch's number."""
        last = self.rows("select number, k, figures from epoch order by number desc limit 1")
        if not last:
            assert self.epoch == 0, "a published epoch was lost"
            return 0
        number, k, figures = last[0]
        assert k == self.k
        assert number >= self.epoch, "a published epoch was lost"
        members = self.rows(
            "select person, cohort, household, counting, pseudonym from member "
            f"where epoch = {number} order by person"
        )
        assert len(members) == json.loads(figures)["people"], "half an epoch"
        groups: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for row in members:
            if row[1] >= 0:
                groups[row[1]].append(row)
        self._check_groups(number, groups)
        self._check_people(groups)
        self.epoch = number
        return int(number)

    def _check_groups(self, number: int, groups: dict[int, list[tuple[Any, ...]]]) -> None:
        living = {
            first: (born, latitude, longitude)
            for first, born, latitude, longitude in self.rows(
                f"select id, born, latitude, longitude from cohort where ended is null and born <= {number}"
            )
        }
        assert set(living) == set(groups), "groups that live and groups that have people are not the same"
        sizes = [len({row[2] for row in rows if row[3]}) for rows in groups.values()]
        assert all(size >= self.k for size in sizes), f"a group of {min(sizes)}"
        self.smallest.append(min(sizes, default=0))
        for first, (born, latitude, longitude) in living.items():
            if first in self._places:
                assert self._places[first] == (latitude, longitude), "a place moved"
                assert {row[0] for row in groups[first]} <= self._members[first], (
                    "somebody joined a living group"
                )
            else:
                assert born > self.epoch, "a number of a group was used again"
        self._places = {first: row[1:] for first, row in living.items()}
        self._members = {first: {row[0] for row in rows} for first, rows in groups.items()}

    def _check_people(self, groups: dict[int, list[tuple[Any, ...]]]) -> None:
        now: dict[int, tuple[int, bytes]] = {}
        for first, rows in groups.items():
            for person, _, _, _, pseudonym in rows:
                if pseudonym is None:  # deleted since; only a number is left until the next epoch
                    continue
                now[person] = (first, bytes(pseudonym))
                if person in self._pseudonyms:
                    was, before = self._pseudonyms[person]
                    assert (before == pseudonym) == (was == first), (
                        "a pseudonym outlived its group, or fell short"
                    )
        drawn = [pseudonym for _, pseudonym in now.values()]
        assert len(set(drawn)) == len(drawn), "two people with one pseudonym"
        self._pseudonyms = now
