"""Publish sampling weights: unchanged, or as group means if they would identify somebody.

A rare weight is a fingerprint: an intruder who has seen the sample, or can compute the weight, finds the
record. The mean weight of a group reveals no more than the group. The weights of each group keep their sum,
so weighted totals of the keys stay the same.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from voronym.keyspaces import weights_of
from voronym.request.choices import ReleaseChoices
from voronym.table.classes import equivalence_classes
from voronym.table.table import Table


def rare(table: Table, name: str, k: int) -> int:
    """Count the records whose weight is shared by fewer than k records."""
    codes = table.codes(name)
    return int((np.bincount(codes[codes >= 0])[codes[codes >= 0]] < k).sum())


def averaged(table: Table, choices: ReleaseChoices, k: int) -> str | None:
    """Return the column of weights if groups publish its mean; None if it is published unchanged."""
    name, way = choices.weights, choices.publish_weights
    if name is None or name not in table.columns or name in table.keys or way == "own":
        return None
    return name if way == "mean" or rare(table, name, k) else None


def publish_weights(
    table: Table, frame: nw.DataFrame[Any], choices: ReleaseChoices, k: int
) -> tuple[nw.DataFrame[Any], str | None, tuple[str, ...], tuple[str, ...]]:
    """Return a masked table with its weights averaged in each group, if required; and a remark.

    Parameters
    ----------
    table : Table
        The originals.
    frame : narwhals DataFrame
        The published table so far, in the order of the originals.
    choices : ReleaseChoices
        The column of weights, and the way to publish it.
    k : int
        Least size of a group.

    Returns
    -------
    frame, averaged, log, notes
        The table; the column if it was averaged; sentences about the work; remarks for the data holder.
    """
    name = choices.weights
    if name is None:
        return frame, None, (), ()
    if averaged(table, choices, k) is None:
        alone = rare(table, name, k)
        note = (
            f"the weights {name!r} of {alone:,} of {table.n:,} records are shared by fewer than k={k} and "
            "are published as they are: anybody who knows a person's weight finds the record. Without "
            "publish_weights=own, each group publishes its mean weight"
        )
        return frame, None, (), (note,) if alone else ()
    weights = weights_of(table, name)
    assert weights is not None  # noqa: S101 - there is a name
    classes = equivalence_classes(frame, table.keys)  # groups that publish the same keys are one
    means = np.bincount(classes.labels, weights, minlength=len(classes.sizes)) / classes.sizes
    made = nw.new_series(name, means[classes.labels].tolist(), nw.Float64(), backend=frame.implementation)
    why = f", because fewer than k={k} records share some" if choices.publish_weights == "auto" else ""
    return (
        frame.with_columns(made),
        name,
        (
            f"The weights {name!r} were averaged in each group{why}: the sum of the weights of each group "
            "stays the same, and so do weighted totals of the keys.",
        ),
        (),
    )
