"""The cost model of ranges: what a group publishes covers all its members, and the wider, the dearer.

The cost of a cell is its size times the sum over columns of the certainty penalty of its range. A range is
two numbers, ``one`` and ``other``: on a line the least and the greatest code, in a tree the level of the
lowest common ancestor and a leaf below it, of a set the codes as bits. On a line the last code is missing,
which shares nothing with the others.
"""

from __future__ import annotations

LINE, TREE, SET = range(3)
