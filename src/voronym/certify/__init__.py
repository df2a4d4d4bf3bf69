"""Bounds and optimality: how little any k-anonymous partition of these records can lose.

`front` has the door, `lower_bound`; `bound` the result and its rounding; `neighbours` the cheap bound, for
any number of records; `exact` the optimum of few. Column generation: `columns` the work as a whole, `state`
what is known at any moment, `master` the linear problem, `pricing` the search for groups, `integer` the
partitions among them.
"""

from voronym.certify.bound import Bound
from voronym.certify.front import lower_bound, prove

__all__ = ["Bound", "lower_bound", "prove"]
