"""The reason for refusing a release because of earlier ones, and the ways out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voronym.errors import hint
from voronym.history.check import Standing


@dataclass(frozen=True)
class Refusal:
    """Counts of the people who would be singled out; as text, the reason for the refusal.

    Parameters
    ----------
    standing, bare : Standing
        The counts, and the counts if no value had changed.
    releases : int
        Number of earlier releases.
    few : int
        People whose history fewer than k people share.
    came_now : bool
        Whether none of them was in the release before.
    late : int
        People who already wait.
    many, unknown : int
        People of the table, and how many of them were in no release.
    left_before : int
        Number of people left out of an earlier release.
    ledger : str
        The name of the ledger.
    """

    standing: Standing
    bare: Standing
    releases: int
    few: int
    came_now: bool
    late: int
    many: int
    unknown: int
    left_before: int
    ledger: str

    def __str__(self) -> str:
        standing, bare = self.standing, self.bare
        if not bare.below:
            return (
                f"{standing.below:,} of {standing.people:,} people would be told apart because values "
                "outside the keys changed since an earlier release, or did not, for fewer than "
                f"k={standing.k} people of a group: anybody who knows whose values changed finds their "
                f"rows. Nothing was released. {hint('changed', 'publish')} releases them all the same"
            )
        out = (
            f". {self.left_before:,} of the people were left out of an earlier release: "
            f"{hint('suppress')} leaves them out again"
            if self.left_before
            else ""
        )
        if self.came_now:
            share = (self.few + self.late) / self.many
            return (
                f"{self.few:,} of {standing.people:,} people were not in the release before, and would be "
                f"fewer than k={standing.k} of their groups: the difference of the two releases would show "
                "their values. Nothing was released. Let them wait for others "
                f"({hint('waiting', float(np.ceil(100 * share) / 100))}), or build on the groups of the "
                f"earlier releases ({hint('keep_groups')}){out}"
            )
        return (
            f"{bare.below:,} of {bare.people:,} people would be in groups that, together with those of "
            f"{self.releases} earlier releases in the ledger, fewer than k={bare.k} people share (the "
            f"fewest: {bare.smallest}): anybody who keeps the releases could tell them apart. Nothing was "
            f"released. Three ways out: (1) {hint('keep_groups')} builds this release on the groups of the "
            f"earlier ones; (2) release only the {self.unknown:,} people who were in none of them, with "
            f"{hint('strangers')}; (3) if an earlier release never left the house, forget it: voronym "
            f"ledger forget {self.ledger} --release NUMBER{out}"
        )
