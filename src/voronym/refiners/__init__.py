"""Refiners: searches that improve a partition.

`front` has the door, `refine`; `registry` the decorator; each refiner has a file of its own: `icsm` iterative
constraint satisfaction, `exchange` local search with candidate lists. `work` has what they share, `tour` the
best cuts of a tour. `anneal` random moves that may go uphill (`chain` a run of it, `schedule` its
temperatures, `blocks` large tables in parts).
"""

from voronym.refiners import anneal, exchange, icsm, pairs  # noqa: F401 - importing registers
from voronym.refiners.front import refine

__all__ = ["refine"]
