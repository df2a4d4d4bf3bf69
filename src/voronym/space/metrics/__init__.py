"""Distances between the values of one column, each with a name.

``base``      the interface of a metric, and the registry
``line``      numbers, times and ranks
``circle``    hours and angles
``taxonomy``  categories, with or without a hierarchy
``texts``     edit distance, and sets
``globe``     pairs of latitude and longitude
``custom``    a function or a matrix of the user

A metric turns the distinct values of a column into a `Geometry`: coordinates, if distances can be computed
from them, or a table of distances, if the values are few. So no code compares all pairs of records.
"""

from voronym.space.metrics.base import TABLE_LEVELS, Geometry, Metric, metric, metrics, pairwise
from voronym.space.metrics.circle import Circular
from voronym.space.metrics.custom import Function, Matrix
from voronym.space.metrics.globe import Geographic
from voronym.space.metrics.line import Absolute, Elapsed, Rank
from voronym.space.metrics.taxonomy import Nominal, Taxonomy
from voronym.space.metrics.texts import Edit, Overlap

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
