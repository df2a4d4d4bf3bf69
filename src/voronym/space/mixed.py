"""Mixed space: records with a separate metric for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voronym._kernels import mixed as kernels
from voronym.errors import InputError
from voronym.space.base import Space
from voronym.space.field import SMALL, Field
from voronym.space.mapping import DistanceMap, Spread, spread
from voronym.space.medoid import CANDIDATES, least, medoids

if TYPE_CHECKING:
    from voronym.space.levels import Codes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mixed(Space):
    """The weighted sum of mapped distances over the columns, and the centroid that minimises it.

    ``cost(x, y) = sum_c w_c map_c(d_c(x_c, y_c))``. Records are rows of levels: the number of each value
    among the distinct ones of its column (`codes`). Made by `Mixed.fit`.

    Parameters
    ----------
    fields : sequence of Field
        The columns.
    maps : sequence of DistanceMap
        One for each column.
    weights : sequence of float
        One for each column, 0 or more.
    spreads : sequence of Spread
        The distributions that the maps were made from.

    Examples
    --------
    >>> from voronym.space.metrics import Absolute, Nominal
    >>> age = Field(("age",), "absolute", Absolute().geometry(np.array([20, 60]), "age"), np.array([0, 0, 1]))
    >>> sex = Field(("sex",), "nominal", Nominal().geometry(["f", "m"], "sex"), np.array([0, 1, 1]))
    >>> space = Mixed.fit([age, sex])
    >>> space.cost(space.codes[:1], space.codes).round(2).tolist()
    [[0.0, 1.37, 2.74]]
    """

    fields: tuple[Field, ...]
    maps: tuple[DistanceMap, ...]
    weights: tuple[float, ...]
    spreads: tuple[Spread, ...] = ()
    name: str = "mixed"
    tables: kernels.ColumnTables = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.fields:
            raise InputError("a mixed space needs a column")
        object.__setattr__(self, "tables", _tables(self.fields, self.maps, self.weights))

    @classmethod
    def fit(
        cls,
        fields: Sequence[Field],
        *,
        weights: Mapping[str, float] | None = None,
        reference: str | ArrayLike | None = "normal",
        rng: np.random.Generator | None = None,
    ) -> Mixed:
        """Learn the map of each column.

        Parameters
        ----------
        fields : sequence of Field
            The columns.
        weights : mapping, optional
            Weights by column; 1 by default. A column of weight 0 does not count in the cost.
        reference : {"normal", "uniform"}, array or None
            See `DistanceMap.fit`; None adds up the distances as they are.
        rng : Generator, optional
            Draws pairs of records if a column has many distinct values.
        """
        rng = np.random.default_rng(0) if rng is None else rng
        given = dict(weights or {})
        known = {name: at for at, item in enumerate(fields) for name in (item.name, *item.columns)}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise InputError(f"weights name columns that have no metric: {', '.join(map(repr, unknown))}")
        chosen = np.ones(len(fields))
        for name, weight in given.items():
            if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0.0 <= weight < np.inf:
                raise InputError(f"the weight of {name!r} must be a finite number, 0 or more, not {weight!r}")
            chosen[known[name]] = weight
        spreads = tuple(spread(field, rng=rng) for field in fields)
        if reference is None:
            maps = tuple(DistanceMap.identity() for _ in fields)
        else:
            maps = tuple(DistanceMap.fit(entry, reference=reference) for entry in spreads)
        return cls(tuple(fields), maps, tuple(chosen.tolist()), spreads)

    @property
    def codes(self) -> NDArray[np.int64]:
        """The records of the table, shape (n, d), as levels."""
        return np.ascontiguousarray(np.stack([field.codes for field in self.fields], axis=1))

    def cost(self, X: ArrayLike, Y: ArrayLike) -> Array:
        """Return the costs between the rows of X and of Y, shape (len(X), len(Y))."""
        a, b = self.check(X), self.check(Y)
        out = np.empty((len(a), len(b)))
        kernels.costs(self.tables, a, b, out)
        return out

    def centroid(self, X: ArrayLike) -> Array:
        """Return the levels, shape (d,), that minimise the summed cost to the rows of X, column by column.

        For a column with at most 512 distinct values over all of them; otherwise over up to 256
        values of the rows.
        """
        codes = self.check(X)
        together = np.zeros(len(codes), np.int64)
        out = np.empty(len(self.fields))
        for column, item in enumerate(self.fields):
            bend = self.maps[column]
            if item.levels <= SMALL:
                out[column] = least(bend(item.table()), codes[:, column], together, 1)[0]
                continue
            values, counts = np.unique(codes[:, column], return_counts=True)
            tried = values[np.unique(np.linspace(0, len(values) - 1, CANDIDATES).astype(np.int64))]
            sums = bend(item.distance(tried[:, None], values[None, :])) @ counts
            out[column] = tried[np.argmin(sums)]
        return out

    def medoids(self, codes: NDArray[np.int64], labels: NDArray[np.int64], m: int) -> NDArray[np.int64]:
        """Return the centroids of m cells under the columns' own metrics (equation 3), shape (m, d)."""
        made = [medoids(item, codes[:, at], labels, m) for at, item in enumerate(self.fields)]
        return np.ascontiguousarray(np.stack(made, axis=1))

    def check(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return rows of levels as whole numbers; raise if they are invalid."""
        given = np.asarray(X)
        if given.ndim != 2 or given.shape[1] != len(self.fields):
            raise InputError(
                f"records must have {len(self.fields)} columns of levels; got shape {given.shape}"
            )
        codes = np.ascontiguousarray(given, dtype=np.int64)
        if (codes != given).any() or (codes < 0).any() or (codes >= self.tables.levels).any():
            raise InputError("records of a mixed space are levels, as in Mixed.codes; encode them first")
        return codes

    def records(self, X: ArrayLike) -> Codes:
        """Return rows of levels as records."""
        from voronym.space.levels import Codes  # it knows about partitions, which a space need not

        return Codes(self, self.check(X))

    def __repr__(self) -> str:
        return f"Mixed({', '.join(f'{field.name}: {field.metric}' for field in self.fields)})"


def _tables(
    fields: Sequence[Field], maps: Sequence[DistanceMap], weights: Sequence[float]
) -> kernels.ColumnTables:
    """Return the flat arrays that kernels read."""
    coords: list[Array] = []
    tables: list[Array] = []
    mapped: list[Array] = []
    at: dict[str, list[int]] = {"coords": [], "tables": [], "mapped": []}
    sums = dict.fromkeys(at, 0)

    def put(where: str, store: list[Array], part: Array | None) -> None:
        at[where].append(-1 if part is None else sums[where])
        if part is not None:
            store.append(np.ascontiguousarray(part, dtype=np.float64).reshape(-1))
            sums[where] += part.size

    for result, bend, weight in zip(fields, maps, weights, strict=True):
        few = result.levels <= SMALL or (not result.geometry.coords.size and result.geometry.table.size > 0)
        table = result.table() if few else None
        put("coords", coords, result.geometry.coords)
        put("tables", tables, table)
        put("mapped", mapped, None if table is None else weight * bend(table))
    knots = [bend.knots for bend in maps]
    return kernels.ColumnTables(
        np.array([field.geometry.shape for field in fields]),
        np.array([item.missing for item in fields]),
        np.array([entry.levels for entry in fields]),
        np.array([element.far for element in fields]),
        np.array([member.geometry.size for member in fields]),
        np.array([result.geometry.coords.shape[1] for result in fields]),
        np.concatenate([*coords, np.empty(0)]),
        np.array(at["coords"]),
        np.concatenate([*tables, np.empty(0)]),
        np.array(at["tables"]),
        np.concatenate([*mapped, np.empty(0)]),
        np.array(at["mapped"]),
        np.concatenate(knots),
        np.concatenate([bend.heights for bend in maps]),
        np.cumsum([0, *map(len, knots)]),
        np.array(weights, dtype=np.float64),
    )
