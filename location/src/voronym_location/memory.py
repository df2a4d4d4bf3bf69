"""The memory of a service while its database is unavailable."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from voronym_location.statements import Statement

__all__ = ["Memory"]


class Memory:
    """Recent statements, for times when the database cannot be reached.

    Parameters
    ----------
    most : int
        Largest number of statements, and of people who left, that are remembered.
    """

    def __init__(self, most: int = 100_000) -> None:
        self._said: OrderedDict[bytes, tuple[int, Statement]] = OrderedDict()
        self._left: set[int] = set()
        self._most, self._lock = most, Lock()

    def put(self, digest: bytes, person: int, statement: Statement) -> None:
        """Keep the statement of a token's owner."""
        with self._lock:
            self._said[digest] = (person, statement)
            self._left.discard(person)
            self._said.move_to_end(digest)
            if len(self._said) > self._most:
                self._said.popitem(last=False)

    def get(self, digest: bytes) -> Statement | None:
        """Return the statement of a token's owner, unless they left."""
        with self._lock:
            person, statement = self._said.get(digest, (0, None))
            return None if person in self._left else statement

    def drop_token(self, digest: bytes) -> None:
        """Forget the statement of a token."""
        with self._lock:
            self._said.pop(digest, None)

    def drop_person(self, person: int) -> None:
        """Forget a person's statements."""
        with self._lock:
            if len(self._left) >= self._most:  # a service that runs for years forgets
                self._said.clear()
                self._left.clear()
            self._left.add(person)
