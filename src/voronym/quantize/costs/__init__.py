"""Costs per cell that give the cells their prescribed sizes: solvers behind one interface.

``transport``  exact, for cells of any size
``newton``     smooths the counts and follows their derivatives
``base``       the result and the checks
``sources``    computes distances
``guess``      estimates costs from counts
``repair``     finds exact sizes by shortest paths

Each solver is called as ``solver(X, centroids, sizes)``, with ``space``, ``start`` and ``progress`` as in
`transport`, and returns an `Assignment`. `SOLVERS` lists them by name. The papers' own solver is in the
distribution voronym-papers.
"""

from collections.abc import Callable

from voronym.core.registry import Registry
from voronym.quantize.costs.base import Assignment
from voronym.quantize.costs.newton import newton
from voronym.quantize.costs.transport import transport

SOLVERS: Registry[Callable[..., Assignment]] = Registry("cost solver")
SOLVERS.add("transport", transport)
SOLVERS.add("newton", newton)

__all__ = ["SOLVERS", "Assignment", "newton", "transport"]
