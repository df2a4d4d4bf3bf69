"""Differential privacy: noisy centres of groups that hardly depend on one person.

``budget``      what a release may cost, how costs add up, and what ε says about a person
``noise``       every random draw, by OpenDP
``domain``      public bounds and domains of columns
``cells``       records and cells; `GROUPINGS`, the registry of insensitive groupings
``order``       groups by rank in a total order from a public point
``individual``  groups by rank in each column, whose noisy centres make a grid with noisy counts
``tree``        a k-d tree with drawn cuts
``leaves``      what is counted and added up in its leaves
``presence``    a noisy number of rows, where it is private who is in the table at all

Groupings see records through `Question`s whose answers are whole numbers that add up, so that records may be
in many parts at many places.

Two tables are neighbours where the values of one unit differ and the number of rows is public; or, with the
help of `presence`, where one has a unit more. What each grouping's sums can change between neighbours is
proven in the documentation and attacked in the tests.
"""

from voronym.dp import individual as _individual
from voronym.dp import order as _order
from voronym.dp import tree as _tree
from voronym.dp.budget import Budget, Spent, caught, epsilon_of, odds, rho_of
from voronym.dp.cells import GROUPINGS, BoundedRecords, Cells, Grouping, grouping, meet

__all__ = [
    "GROUPINGS",
    "BoundedRecords",
    "Budget",
    "Cells",
    "Grouping",
    "Spent",
    "caught",
    "epsilon_of",
    "grouping",
    "meet",
    "odds",
    "rho_of",
]
del _individual, _order, _tree  # imported for their decorators
