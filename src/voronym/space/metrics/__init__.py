"""Distances between the values of one column, each with a name.

`base` what a metric offers and the registry; `line` numbers, times and ranks; `circle` hours and angles;
`labels` categories without structure; `taxonomy` categories in a hierarchy; `text` edit distance; `globe`
pairs of latitude and longitude; `overlap` sets; `own` a function or a matrix of the user.

A metric turns the distinct values of a column into a `Geometry`: coordinates, where distances can be
computed from them, or a table of distances, where the values are few. So nothing ever looks at all pairs of
records.
"""

from voronym.space.metrics.base import TABLE_LEVELS, Geometry, Metric, metric, metrics, pairwise
from voronym.space.metrics.circle import Circular
from voronym.space.metrics.globe import Geographic
from voronym.space.metrics.labels import Nominal
from voronym.space.metrics.line import Absolute, Elapsed, Rank
from voronym.space.metrics.overlap import Overlap
from voronym.space.metrics.own import Function, Matrix
from voronym.space.metrics.taxonomy import Taxonomy
from voronym.space.metrics.text import Edit

__all__ = [
    "TABLE_LEVELS",
    "Absolute",
    "Circular",
    "Edit",
    "Elapsed",
    "Function",
    "Geographic",
    "Geometry",
    "Matrix",
    "Metric",
    "Nominal",
    "Overlap",
    "Rank",
    "Taxonomy",
    "metric",
    "metrics",
    "pairwise",
]
