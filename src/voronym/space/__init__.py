"""Spaces: a cost between records, and the centroid that minimises it.

A distance never travels without its centroid. `base` has the protocol, `euclidean` the squared distance and
its mean.
"""

from voronym.space.base import Space
from voronym.space.euclidean import Euclidean

__all__ = ["Euclidean", "Space"]
