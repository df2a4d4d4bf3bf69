"""The release: a masked table that keeps its promise, and the means to write it and tell about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.certify import Bound, lower_bound
from voronym.errors import GuaranteeError, WriteError
from voronym.evaluate.risk import Risk, risk
from voronym.evaluate.utility import Utility, utility
from voronym.masking import Masked
from voronym.partition import Partition
from voronym.partitioners import information_loss
from voronym.privacy import Finding
from voronym.recipe import Recipe
from voronym.table.codebook import labels_of
from voronym.table.codec import Codec
from voronym.table.conform import conform
from voronym.table.frame import as_frame
from voronym.table.read import read
from voronym.table.schema import Schema
from voronym.table.write import WriteReceipt, write

_CHEAP = 100_000
"""Records up to which a gap is worth the search for every record's nearest neighbours."""

_FEW = 16
"""Records up to which the optimum is a matter of milliseconds."""


@dataclass(frozen=True)
class Evidence:
    """What the data holder knows and the public does not: originals, cells and where each row came from."""

    original: nw.DataFrame[Any]
    X: NDArray[np.float64] | None
    """The original keys as numbers; None where a key is of a kind that has none, such as text."""
    partition: Partition | None
    """The cells; None where the method made none."""
    centroids: NDArray[np.float64] | None
    codec: Codec | None
    order: NDArray[np.int64]
    """Released row r came from original row ``order[r]``."""
    published_loss: float | None
    """Percent of variance lost in what is published, after means were rounded to values that can occur."""
    bound: Bound | None = None
    """What the method proved about the loss, where it did."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    costs: tuple[Cost, ...] = ()
    """What each guarantee cost, in the order given; k-anonymity first."""
    masked: Masked | None = None
    """What a method that masks record by record has to say."""
    figures: Mapping[str, Any] = field(default_factory=dict)
    """What was measured beside the loss of variance: in a mixed space, the cost by metric."""
    steps: tuple[str, ...] = ()
    fates: Mapping[str, str] = field(default_factory=dict)
    """How each key is published, where it is not as the codec says."""


@dataclass(frozen=True)
class Cost:
    """What a guarantee cost: the percent of variance that is lost once it holds, with all those before it.

    Parameters
    ----------
    guarantee : str
        Such as "k-anonymity=5" or "t-closeness=0.2".
    loss : float
        Information loss of the cells, in percent, found with this guarantee and those before it. Not proven
        to be the least.
    method : str
        How cells were made to obey it; "none" where they did already.
    """

    guarantee: str
    loss: float
    method: str = "none"


class Release:
    """A masked table with its recipe, findings, utility and gap.

    Guarantee: it cannot be built unless every required model holds on the decoded table, and `write` counts
    again in the file it wrote before the file gets its name.

    Parameters
    ----------
    frame : narwhals DataFrame
        The masked table.
    recipe : Recipe
        How it was made, and what it must fulfil.
    evidence : Evidence, optional
        Kept in memory only, for the internal report and the utility figures.
    notes : sequence of str
        Warnings for the data holder.
    """

    def __init__(
        self,
        frame: nw.DataFrame[Any],
        recipe: Recipe,
        *,
        evidence: Evidence | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self._frame = frame
        self.recipe = recipe
        self.schema: Schema = recipe.schema
        self.warnings = tuple(notes)
        self._evidence = evidence
        self.information_loss: float | None = None
        """Percent of the keys' variance that the cells lost: 100 SSE / SST over the standardised keys."""
        if evidence is not None and evidence.X is not None and evidence.partition is not None:
            self.information_loss = information_loss(evidence.X, evidence.partition)
        self.published_loss = None if evidence is None else evidence.published_loss
        self.costs: tuple[Cost, ...] = () if evidence is None else evidence.costs
        """What each guarantee cost, in the order given; k-anonymity first."""
        masked = None if evidence is None else evidence.masked
        told = masked if masked is not None else evidence
        self.figures: dict[str, Any] = {} if told is None else dict(told.figures)
        """What a method that masks record by record measured, such as distortion and risk of a channel; in a
        mixed space the cost by metric."""
        self.steps: tuple[str, ...] = () if told is None else told.steps
        """What was done in such cases, a sentence each."""
        identifiers = [name for name in recipe.schema.identifiers if name in frame.columns]
        if identifiers:
            raise GuaranteeError(f"identifiers are still in the table: {', '.join(identifiers)}")
        self.findings: tuple[Finding, ...] = tuple(
            model.measure(frame, recipe.schema) for model in recipe.required()
        )
        broken = [finding for finding in self.findings if not finding.holds]
        if broken:
            raise GuaranteeError(
                "the table does not keep its promise: "
                + "; ".join(map(str, broken))
                + ". Nothing was released."
            )

    @property
    def table(self) -> Any:
        """The masked table, in the dataframe library that the original came in."""
        return self._frame.to_native()

    @cached_property
    def risk(self) -> Risk:
        """Sizes of the classes and the re-identification risks that follow from them."""
        return risk(self._frame, self.schema.keys)

    @cached_property
    def gap(self) -> float | None:
        """How many percent the loss of the cells is above the least possible one, at most.

        From the bound that the method proved, or from the cheap one by nearest neighbours, on first use.
        None where there are too many records for that, where nothing but 0 is proven, where cells had to obey
        other models than k-anonymity, where the method made no cells, or made them in another space.
        """
        if self._evidence is None:
            return None
        X, part, bound = self._evidence.X, self._evidence.partition, self._evidence.bound
        if (
            X is None or part is None or len(self.costs) > 1 or self.recipe.space != "euclidean"
        ):  # the bound knows of k alone
            return None
        k = self.recipe.least
        if len(X) < 2 * k or self.information_loss < 1e-10:  # type: ignore[operator]
            return 0.0  # a single cell is all there can be; or nothing but rounding is lost
        if bound is None and len(X) <= _CHEAP:
            bound = lower_bound(X, k, kind="auto" if len(X) <= _FEW else "neighbours")
        gap = None if bound is None else bound.gap(part.sse(X))
        return gap if gap is not None and np.isfinite(gap) else None

    @cached_property
    def utility(self) -> Utility | None:
        """How far the table's statistics moved; computed on first use, from the originals in memory."""
        if self._evidence is None:
            return None
        return utility(self._evidence.original, self._frame, self.schema, aligned=self._evidence.order)

    def write(
        self, path: str | Path, *, overwrite: bool = False, delimiter: str | None = None
    ) -> WriteReceipt:
        """Write the table, measure it again in the written file, and only then give it its name.

        k is counted in the bytes by code of its own; other models are measured in the file, read back.

        Parameters
        ----------
        path : str or Path
            Where to; the suffix chooses CSV, Parquet, Arrow and so on.
        overwrite : bool
            Whether a file that is there may be replaced.
        delimiter : str
            Between the cells of a CSV; by default a comma, or a tab for ``.tsv``.

        Raises
        ------
        WriteError
            The file could not be written or did not pass its check; nothing is left in its place.
        """
        labels = None if self._evidence is None else labels_of(self._evidence.original)
        models = [m for m in self.recipe.required() if m.required is not None and m.name != "k-anonymity"]

        def verify(file: Path) -> None:
            """Measure the other models in the file, as a reader of it would see them."""
            found = as_frame(read(file, delimiter=delimiter) if delimiter else read(file))
            names = dict(zip(found.columns, self._frame.columns, strict=True))  # names may be guarded
            table = conform(found.rename(names), self.schema)
            broken = [f for f in (model.measure(table, self.schema) for model in models) if not f.holds]
            if broken:
                raise WriteError(
                    f"read back from the written file, {'; '.join(map(str, broken))}: values that differ in "
                    "the table look alike in this format, such as '1' and '1.0', or an empty text and a "
                    "missing one. Make them alike in the table, or write Parquet. Nothing was left behind"
                )

        return write(
            self._frame,
            path,
            keys=self.schema.keys,
            k=self.recipe.least,
            overwrite=overwrite,
            delimiter=delimiter,
            labels=labels,
            verify=verify if models else None,
        )

    def report(self, path: str | Path, *, audience: Literal["internal", "public"] = "internal") -> Path:
        """Write a self-contained HTML page about the release.

        The internal version compares with the originals. The public one is built from the release alone.
        """
        from voronym.report import write_report  # a layer above: only when asked for

        return write_report(self, path, audience=audience)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures about this release as plain data, without a single record."""
        return {
            "records": len(self._frame),
            "cells": self.risk.n_classes,
            "information_loss": self.information_loss,
            "published_loss": self.published_loss,
            "gap": self.gap,
            "figures": self.figures,
            "costs": [vars(cost) for cost in self.costs],
            "findings": [finding.to_dict() for finding in self.findings],
            "risk": self.risk.to_dict(),
            "utility": None if self.utility is None else self.utility.to_dict(),
            "warnings": list(self.warnings),
            "seconds": {} if self._evidence is None else dict(self._evidence.seconds),
            "recipe": self.recipe.to_dict(),
        }

    def __getstate__(self) -> dict[str, Any]:
        """Leave the originals behind: a pickled release holds no more than the table and its figures."""
        self.gap  # noqa: B018 - found while the originals are here
        return {name: value for name, value in vars(self).items() if name not in ("_evidence", "utility")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _evidence=None)

    def __repr__(self) -> str:
        loss = self.information_loss
        stated = "" if loss is None else f", information loss {loss:.2f} %"
        return f"Release({len(self._frame)} records, {self.risk.n_classes} classes, k={self.risk.k}{stated})"


def published_loss(X: NDArray[np.float64], Y: NDArray[np.float64]) -> float:
    """Return 100 SSE / SST of publishing the rows of Y for the rows of X, in percent.

    At least the loss of the cells: whole numbers and real categories are not the mean.
    """
    total = float(np.square(X - X.mean(axis=0)).sum())
    return 100 * float(np.square(X - Y).sum()) / total if total else 0.0
