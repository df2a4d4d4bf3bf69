"""Differential privacy: noisy centres of groups that hardly depend on one person.

``budget``      the cost of releases, the sum of costs, and the meaning of ε for a person
``noise``       every random draw, by OpenDP
``domain``      public bounds and domains of columns
``cells``       records and cells; `GROUPINGS`, the registry of insensitive groupings
``order``       groups by rank in a total order from a public point
``individual``  groups by rank in each column; their noisy centres make a grid with noisy counts
``tree``        a k-d tree with randomly drawn cuts
``leaves``      counts and sums in the leaves of the tree
``presence``    a noisy number of rows, if it is private who is in the table

Groupings see records only through `Question`s. Their answers are whole numbers that add up, so the records
may be in many parts at many places.

Two tables are neighbours if they differ in the values of one unit; then the number of rows is public. With
`presence`, they are neighbours if one has a unit more. The documentation proves how much the sums of each
grouping can change between neighbours, and the tests attack it.
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
