"""Bounds and optimality: the least loss of any k-anonymous partition of these records.

``front``       `lower_bound`, the entry point
``bound``       the result and its rounding
``neighbours``  a cheap bound for any number of records
``exact``       the optimum for few records
``columns``     column generation: ``state`` holds its state, ``master`` the linear problem, ``pricing``
                searches for groups, ``integer`` for partitions into them
"""

from voronym.certify.bound import Bound
from voronym.certify.front import lower_bound, prove

__all__ = ["Bound", "lower_bound", "prove"]
