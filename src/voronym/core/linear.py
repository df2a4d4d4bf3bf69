"""Linear and integer programmes, solved by HiGHS and interrupted by a context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym.core.context import Context

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

INFINITY = float("inf")


class Programme:
    """Minimise ``costs @ x`` with ``low <= A x <= high`` and ``0 <= x <= upper``; A grows by columns.

    Columns and rows are added to a live model, so the simplex method continues from its last basis.

    Parameters
    ----------
    low, high : arrays, shape (rows,)
        The bounds of the rows.
    **options
        Options of HiGHS.

    Attributes
    ----------
    values, duals : arrays
        The columns of the last solution, and the prices of the rows.
    objective : float
        The cost of the solution.

    Examples
    --------
    >>> programme = Programme([1.0, 1.0], [1.0, 1.0])
    >>> programme.add_columns([3.0, 1.0, 1.0], [np.array([0, 1]), np.array([0]), np.array([1])])
    >>> programme.run(Context())
    True
    >>> programme.values.tolist(), programme.objective
    ([0.0, 1.0, 1.0], 2.0)
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, **options: Any) -> None:
        import highspy  # takes a while to load

        self.solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._optimal = highspy.HighsModelStatus.kOptimal
        settings = {"output_flag": False, "threads": 1, "solver": "simplex", "simplex_strategy": 1}
        for name, value in {**settings, "presolve": "off", **options}.items():
            self.solver.setOptionValue(name, value)
        self._stopped = False
        self.values, self.duals, self.objective = np.empty(0), np.empty(0), INFINITY
        self.solver.cbSimplexInterrupt.subscribe(self._look)
        self.solver.cbMipInterrupt.subscribe(self._look)
        least, most = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        rows = len(least)
        nothing = np.zeros(rows, np.int32), np.empty(0, np.int32), np.empty(0)
        self.solver.addRows(rows, least, most, 0, *nothing)

    def add_columns(
        self, costs: ArrayLike, rows: Sequence[Integers], *, upper: float = INFINITY, entry: float = 1.0
    ) -> None:
        """Add columns with the same entry in the given rows."""
        prices = np.asarray(costs, dtype=np.float64)
        count, sizes = len(prices), np.array([len(row) for row in rows])
        starts = (np.cumsum(sizes) - sizes).astype(np.int32)
        indices = np.concatenate(rows).astype(np.int32)
        bounds = np.zeros(count), np.full(count, upper)
        self.solver.addCols(
            count, prices, *bounds, len(indices), starts, indices, np.full(len(indices), entry)
        )

    def add_matrix(self, costs: ArrayLike, columns: Any, *, lower: float = 0.0) -> None:
        """Add the columns of a sparse matrix in the format CSC."""
        prices = np.asarray(costs, dtype=np.float64)
        count = len(prices)
        starts, indices = columns.indptr[:-1].astype(np.int32), columns.indices.astype(np.int32)
        bounds = np.full(count, lower), np.full(count, INFINITY)
        self.solver.addCols(count, prices, *bounds, columns.nnz, starts, indices, columns.data)

    def add_row(self, high: float, columns: Integers) -> None:
        """Add a row: the sum of some columns is at most ``high``."""
        self.solver.addRow(-INFINITY, high, len(columns), columns.astype(np.int32), np.ones(len(columns)))

    def make_integer(self, start: Floats) -> None:
        """Require whole values of all columns, and set the starting values."""
        import highspy

        count = len(start)
        kinds = np.full(count, highspy.HighsVarType.kInteger)
        self.solver.changeColsIntegrality(count, np.arange(count, dtype=np.int32), kinds)
        solution = highspy.HighsSolution()
        solution.col_value = start.tolist()
        self.solver.setSolution(solution)

    def change_costs(self, costs: Floats, first: int = 0) -> None:
        """Set the costs of the columns from ``first`` on."""
        columns = np.arange(first, first + len(costs), dtype=np.int32)
        self.solver.changeColsCost(len(costs), columns, costs)

    def change_lower(self, column: int, low: float) -> None:
        """Set the lower bound of a column."""
        self.solver.changeColBounds(column, low, INFINITY)

    def run(self, ctx: Context, *, tell: Callable[[], None] | None = None) -> bool:
        """Solve from the last basis; return whether the optimum was found before time or user ended it."""
        self._stopped = False
        if ctx.timed:  # where HiGHS asks its clock more often than its callback
            self.solver.setOptionValue("time_limit", self.solver.getRunTime() + max(ctx.left, 0.1))
        ctx.apart(self.solver.run, self._stop, tell=tell)
        solution = self.solver.getSolution()
        self.values, self.duals = np.array(solution.col_value), np.array(solution.row_dual)
        self.objective = float(self.solver.getInfo().objective_function_value)
        return bool(self.solver.getModelStatus() == self._optimal)

    def _stop(self) -> None:
        self._stopped = True

    def _look(self, event: Any) -> None:
        event.interrupt(self._stopped)
