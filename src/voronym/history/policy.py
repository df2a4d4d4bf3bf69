"""The choices about groups over time."""

from __future__ import annotations

from dataclasses import dataclass

from voronym.core.options import Options, one_of, option, share, whole

RETIRED = -1
"""In place of the number of releases waited: the person is not published again."""


@dataclass(frozen=True)
class Policy(Options):
    """The settings of groups over time.

    Examples
    --------
    >>> Policy(headroom=2).headroom
    2
    """

    headroom: int = option(
        0, "people beyond k in a group that is formed, so that it outlives some of them", check=whole(0)
    )
    dissolved: str = option(
        "rejoin",
        "treatment of people whose group fell below k: rejoin (in groups with other such people and new "
        "ones), or retire (never published again)",
        check=one_of("rejoin", "retire"),
    )
    waiting: float = option(
        0.04, "the largest share of people left out until similar people arrive", check=share
    )
    patience: int = option(
        3, "largest number of releases that a person may wait for similar people", check=whole(0)
    )
    neighbours: int = option(
        1, "number of near groups that are dissolved with each group below k", check=whole(0)
    )
    renewed: float = option(
        0.01,
        "the largest share of the people whose groups are dissolved as neighbours",
        check=share,
    )
    method: str = option("auto", "the method that divides people into new groups")
