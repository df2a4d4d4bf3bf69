"""Costs per cell that give the cells their prescribed sizes.

`base` has the answer, `Assignment`, and the checks that all solvers share.
"""

from voronym.quantize.costs.base import Assignment

__all__ = ["Assignment"]
