"""Keys of a table as records of a mixed space, and the centroids of their cells as values of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from voronym.core.context import Context
from voronym.keyspaces import Keys, Published, key_space
from voronym.partition import Partition
from voronym.records.fields import Choice, gathered, make_fields
from voronym.records.figures import MixedColumn, MixedFigures
from voronym.request.choices import ReleaseChoices
from voronym.space.mixed import Mixed
from voronym.space.records import Records
from voronym.table.schema import Schema
from voronym.table.table import Table


@dataclass(frozen=True, eq=False)
class MixedKeys(Keys):
    """The keys of a table with a metric each.

    Parameters
    ----------
    table : Table
        The records.
    space : Mixed
        The keys; ``space.codes`` are the records.
    notes : tuple of str
        Remarks of the metrics.

    Examples
    --------
    >>> import voronym as vr
    >>> from voronym.table import Table
    >>> patients = vr.datasets.hospital(100, seed=1)
    >>> keys = MixedKeys.fit(Table.build(patients, keys=["age", "diagnosis"], drop_undeclared=True))
    >>> part = vr.microaggregate(keys.space.codes, 5, method="mdav", space=keys.space)
    >>> keys.publish(part).frame.shape == (part.n_cells, 2)
    True
    """

    table: Table
    space: Mixed
    notes: tuple[str, ...] = ()

    @cached_property
    def records(self) -> Records:  # type: ignore[override]
        """The keys as rows of levels."""
        return self.space.records(self.space.codes)

    @classmethod
    def fit(
        cls,
        table: Any,
        schema: Schema | None = None,
        *,
        metrics: Mapping[str, Choice] | None = None,
        weights: Mapping[str, float] | None = None,
        rng: np.random.Generator | None = None,
    ) -> MixedKeys:
        """Choose the metrics of the keys, and learn how to combine them.

        Parameters
        ----------
        table : Table or frame
            The records.
        schema : Schema
            Roles and kinds; a `Table` has them.
        metrics, weights : mappings, optional
            For each column, as for `voronym.records.anonymize_records`.
        rng : Generator, optional
            Draws pairs of records if a column has more than 512 distinct values.
        """
        records = Table.of(table, schema)
        fields, notes = make_fields(records, records.keys, metrics)
        return cls(records, Mixed.fit(fields, weights=weights, rng=rng), notes)

    def publish(self, part: Partition) -> Published:
        """Return the centroids as real values, each of which occurs in its column.

        All records of a group get the same row, so its k records are equal.
        """
        space, codes = self.space, self.space.codes
        records = space.records(codes)
        result = records.centres(part)
        whole = records.centres(Partition(np.zeros(part.n, np.int64)))
        made: dict[str, nw.Series[Any]] = {}
        columns: dict[str, MixedColumn] = {}
        for column, field in enumerate(space.fields):
            made |= gathered(self.table, field, result.levels[:, column])
            columns[field.name] = MixedColumn(
                metric=field.metric,
                loss=_percent(float(result.costs[:, column].sum()), float(whole.costs[0, column])),
                kept=float((result.levels[part.labels, column] == codes[:, column]).mean()),
            )
        loss = _percent(result.total, whole.total)
        return Published(
            nw.from_dict({name: made[name] for name in self.table.keys}),
            result.levels,
            MixedFigures(mixed_loss=loss, columns=columns),
            self._log(loss),
            self._published_as(),
        )

    def _log(self, loss: float) -> tuple[str, ...]:
        """Return the log of the work, a sentence each."""
        return (
            "Groups were made by mixed distances, without turning categories into numbers: "
            + ", ".join(f"{field.name} {field.metric}" for field in self.space.fields)
            + ".",
            f"The published centres cost {loss:.2f} % of what one centre for all would.",
        )

    def _published_as(self) -> dict[str, str]:
        """Describe how each key is published."""
        words = "{}; published is the value with the least sum of mapped distances to the group’s"
        return {
            name: words.format(f"metric {field.metric}")
            for field in self.space.fields
            for name in field.columns
        }


@key_space("mixed")
def mixed(table: Table, ctx: Context, choices: ReleaseChoices) -> Keys:
    """Return the keys of a table, each with its own metric."""
    return MixedKeys.fit(table, metrics=choices.metrics, weights=choices.importance, rng=ctx.rng)


def _percent(cost: float, whole: float) -> float:
    return 100.0 * cost / whole if whole > 0.0 else 0.0
