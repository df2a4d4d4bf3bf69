"""Bounds and optimality: the least loss of any k-anonymous partition of these records.

`front` has the entry point, `lower_bound`; `bound` the result and its rounding; `neighbours` a cheap bound
for any number of records; `exact` the optimum for few. Column generation: `columns` runs the whole work,
`state` holds its state, `master` the linear problem, `pricing` the search for groups, `integer` the
partitions among them.
"""

from voronym.certify.bound import Bound
from voronym.certify.front import lower_bound, prove

__all__ = ["Bound", "lower_bound", "prove"]
