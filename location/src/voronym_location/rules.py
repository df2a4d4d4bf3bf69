"""The choices about epochs; this module imports almost nothing, so that reading settings is fast."""

from __future__ import annotations

from dataclasses import dataclass

from voronym.core.options import Options, number, one_of, option, share, whole
from voronym.errors import InputError

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings(Options):
    """The choices about epochs.

    With more headroom or a larger budget, more people are served, nearer to home. With less, fewer people
    get a new place each time. Only ``k`` is a promise.
    """

    k: int = option(10, "least number of active addresses that share a history", check=whole(2))
    headroom: int = option(2, "addresses beyond k with which a group is formed", check=whole(0))
    wait: int = option(5, "epochs after which waiting people accept a far group", check=whole(0))
    compact: float = option(
        2.0,
        "largest distance to a group that people join at once, in usual distances",
        check=number(above=0.0),
    )
    budget: float = option(0.05, "share of the people who may get a new place in an epoch", check=share)
    redesign: int = option(0, "epochs between two designs of the whole town; 0 for never", check=whole(0))
    worse: float = option(
        0.0,
        "growth of the rms distance that makes the service design the whole town again; 0 for never",
        check=number(0.0),
    )
    homes: int = option(3, "least number of different places of a group's homes", check=whole(1))
    radius: float = option(
        0.0, "least rms distance of a group's homes from its place, metres", check=number(0.0)
    )
    grid: float = option(10.0, "width of the finest grid of places, metres", check=number(0.0))
    grouping: str = option(
        "pairs", "the method that groups a whole town: a search over pairs of groups, or PCL, the method of "
        "the paper",
        check=one_of("pairs", "pcl"),
    )  # fmt: skip
    young: int = option(
        14,
        "epochs for which newcomers count as young; at most a third of k in a group may be young",
        check=whole(0),
    )
    linked: bool = option(
        False,
        "give nobody a second place, so that k also holds against an intruder who links pseudonyms",
    )
    seed: int = option(0, "seed of the random choices of the search", check=whole(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.linked and (self.redesign or self.worse):
            raise InputError(
                "with 'linked' nobody gets a second place, and a redesign gives one to everybody: choose "
                "linked = false, or redesign = 0 and worse = 0"
            )
