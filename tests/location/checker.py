"""An independent count of who shares what: plain dictionaries over what was handed out, and nothing of ours.

Feed it every epoch, as a provider who keeps everything would see it: who is active and at which address (from
the database, or from whoever made people up), and what each was handed: a pseudonym and a place.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any


class Checker:
    """Histories of pseudonyms, epoch by epoch."""

    def __init__(self) -> None:
        self.epoch = 0
        self.seen: dict[Hashable, list[tuple[int, Any]]] = {}  # what was published under each pseudonym
        self.owner: dict[Hashable, Hashable] = {}
        self.life: dict[Hashable, list[tuple[int, Any]]] = {}  # the same for people, to whom it links

    def observe(
        self,
        active: Mapping[Hashable, Hashable],
        handed: Mapping[Hashable, tuple[Hashable, Any]],
    ) -> tuple[int, int]:
        """Take in an epoch; return the smallest sets of addresses: under pseudonyms, and when they link.

        ``active`` maps people to addresses; ``handed`` those who are served to a pseudonym and a place.
        """
        self.epoch += 1
        strangers = set(handed) - set(active)
        assert not strangers, f"{len(strangers)} people are served who are not active"
        for person, (pseudonym, place) in handed.items():
            assert self.owner.setdefault(pseudonym, person) == person, "two people had one pseudonym"
            self.seen.setdefault(pseudonym, []).append((self.epoch, place))
            self.life.setdefault(person, []).append((self.epoch, place))
        return (
            self._smallest({item: tuple(self.seen[handed[item][0]]) for item in handed}, active),
            self._smallest({item: tuple(self.life[item]) for item in handed}, active),
        )

    @staticmethod
    def _smallest(histories: Mapping[Hashable, Hashable], active: Mapping[Hashable, Hashable]) -> int:
        alike: dict[Hashable, set[Hashable]] = {}
        for person, history in histories.items():
            alike.setdefault(history, set()).add(active[person])
        return min((len(addresses) for addresses in alike.values()), default=0)
