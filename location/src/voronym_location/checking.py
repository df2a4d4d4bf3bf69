"""The promise, counted again before anything is published. It shares no code with the planner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voronym.errors import GuaranteeError

if TYPE_CHECKING:
    from voronym_location.epochs import Epoch, Standing
    from voronym_location.population import Population


def check(population: Population, epoch: Epoch, before: Standing, k: int, *, linked: bool = False) -> None:
    """Refuse an epoch that would break the promise; return nothing if it may be published.

    ``before`` is the standing after the last epoch, and the population has everybody's group at that
    time. Refused: a served person who shares their history with fewer than k counted addresses (of young
    people at most a third of k); a change of a living group's published place; somebody joining a living
    group; a reused number; and a pseudonym kept in a new group.

    Parameters
    ----------
    population : Population
        The active people, as given to `plan`.
    epoch : Epoch
        The result of `plan`.
    before : Standing
        The standing before this epoch.
    k : int
        The least number.
    linked : bool
        Whether to refuse second places, too: an intruder who links pseudonyms would intersect the two groups.
    """
    lived, lives = _published(before), _published(epoch.standing)
    people = pl.DataFrame(
        {
            "was": population.group,
            "now": epoch.group,
            "home": population.household,
            "counts": population.counts,
            "told": epoch.told,
            "young": population.young,
            "published": population.published,
        }
    )
    served = people.filter(pl.col("now") >= 0)
    if len(lives) < len(epoch.standing.groups):
        _refuse("a group occurs twice")
    if any(place != lives[item] for item, place in lived.items() if item in lives):
        _refuse("the place of a living group moved, or an attribute that it tells changed")
    if any(entry <= before.top for entry in lives.keys() - lived.keys()):
        _refuse("the number of a group was used again")
    if not set(served["now"].unique().to_list()) <= lives.keys():
        _refuse("somebody is served in a group that does not live")
    joined = served.filter(pl.col("now").is_in(list(lived)) & (pl.col("now") != pl.col("was")))
    if len(joined):
        _refuse(f"{len(joined)} people joined an existing group")
    kept = served.filter((pl.col("now") != pl.col("was")) != pl.col("told"))
    if len(kept):
        _refuse(f"{len(kept)} people would keep a pseudonym in a new group, or lose it in an old one")
    again = served.filter(pl.col("told") & pl.col("published"))
    if linked and len(again):
        _refuse(f"{len(again)} people would get a second place")
    homes = served.filter("counts").group_by("now", "home").agg(pl.col("young").all())
    sizes = homes.group_by("now").agg(
        (~pl.col("young")).sum().alias("old"), pl.col("young").sum().alias("fresh")
    )
    result = {now: old + min(fresh, k // 3) for now, old, fresh in sizes.iter_rows()}
    small = [result.get(live, 0) for live in lives if result.get(live, 0) < k]
    if small:
        _refuse(f"{len(small)} groups have fewer than k={k} addresses of active people who count")


def _published(standing: Standing) -> dict[int, tuple[object, ...]]:
    """Return the published data of each group: its place and its attributes."""
    both = zip(standing.centroids.tolist(), standing.attributes.tolist(), strict=True)
    return dict(zip(standing.groups.tolist(), ((*place, *rest) for place, rest in both), strict=True))


def _refuse(why: str) -> None:
    raise GuaranteeError(f"the epoch is not published: {why}")
