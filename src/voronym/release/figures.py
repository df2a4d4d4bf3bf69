"""The table of a release, and its figures: risks, loss, and distance from the optimum."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from voronym.certify.front import COLUMNS, priceable
from voronym.certify.words import closeness
from voronym.core.context import Context
from voronym.core.figures import Figures
from voronym.errors import InputError
from voronym.evaluate.moved import KeyChange
from voronym.evaluate.penalty import Penalty, penalty
from voronym.evaluate.risk import Risk, risk
from voronym.evaluate.utility import Utility, utility
from voronym.privacy import Finding
from voronym.problem import Problem
from voronym.release.evidence import Evidence
from voronym.release.proof import prove_release
from voronym.request.recipe import Recipe
from voronym.result import Cost, Folder
from voronym.space.published import PublishedPoints
from voronym.steps.effect import Effect, Exposed
from voronym.table.engines import frame_of
from voronym.table.schema import Schema
from voronym.table.source import Source
from voronym.table.table import Table

if TYPE_CHECKING:
    from voronym.attacks import Exposure
    from voronym.dossier import Dossier
    from voronym.history.booking import Booking


class ReleaseFigures:
    """The known facts about a release; built by `voronym.Release`."""

    recipe: Recipe
    schema: Schema
    """The schema of the published table; columns of ranges are texts in it."""
    warnings: tuple[str, ...]
    public_warnings: tuple[str, ...]
    folder: Folder | None
    """The folder of the release, if it is not in memory."""
    checklist: Any
    """The policy's checklist (`voronym.policy.Checklist`); None without a policy."""
    booking: Booking | None
    """The ledger's knowledge of these people; None without a ledger. `write` adds the release to it."""
    findings: tuple[Finding, ...]
    """The measurement of each required model."""
    information_loss: float | None
    """Percent of the keys' variance that the published table lost: 100 SSE / SST over the standardised keys,
    with centres rounded to possible values. None if a key is text and has no variance.
    """
    group_loss: float | None
    """Loss of the groups in percent, before centres were rounded to possible values. Methods minimise this
    loss, and bounds apply to it. In other spaces than the Euclidean one it is a loss of that space's cost.
    """
    costs: tuple[Cost, ...]
    """The cost of each guarantee, in the order given; k-anonymity first."""
    figures: Figures
    """Figures of the method, such as the distortion and risk of a channel. Each method has its own class. In
    a mixed space they hold the cost of each metric.
    """
    log: tuple[str, ...]
    """Sentences about the work of the method."""
    effects: tuple[Effect, ...]
    """The change by each step on columns, and its benefit; for the data holder."""
    changes: tuple[KeyChange, ...]
    """For each key, the number of unchanged records and the distances of the others; for the data holder.
    Over several leaves of many files, only for keys that no step changed.
    """
    exposure: Exposure | None
    """The success of intruders in the attacks that were run; for the data holder."""
    _table: Table | None
    _mark: tuple[Any, ...]
    _evidence: Evidence | None
    _dossier: Dossier | None

    @property
    def _held(self) -> Table:
        """The masked table, if it is in memory."""
        if self._table is None:
            raise InputError("the release is in a folder of files: read them, or write it elsewhere")
        return self._table

    @property
    def table(self) -> Any:
        """The masked table, in the dataframe library of the original; or the path of its folder."""
        return self.folder.path if self.folder is not None else self._held.frame.to_native()

    def frame(self, engine: str = "polars", **options: Any) -> Any:
        """Return the masked table as a frame of an engine, lazily: files of a folder are read when it works.

        Parameters
        ----------
        engine : str
            "polars", "dask", "spark", "duckdb", "pandas", or another engine that `narwhals` knows. Spark uses
            its active session, unless ``session`` is given.
        **options
            For the engine's reader of Parquet or CSV files.

        Examples
        --------
        >>> import voronym as vr
        >>> table = vr.datasets.hospital(60)
        >>> release = vr.anonymize(table, keys=["age", "weight"], k=3, drop_undeclared=True)
        >>> release.frame().collect().shape
        (60, 2)
        """
        return frame_of(self._held.frame if self.folder is None else self.folder.path, engine, options)

    @property
    def rows(self) -> int:
        """The number of records."""
        return self._held.n if self.folder is None else self.folder.rows

    @property
    def k(self) -> int:
        """The least number of records that share a combination of keys."""
        return self.risk.k

    @property
    def source(self) -> Source | None:
        """The file of the original; the release is written in its dialect."""
        return None if self._table is None else self._table.source

    @property
    def unnamed(self) -> Table:
        """The masked table without pseudonyms, which the originals lack."""
        names = [name for name in self._held.columns if name not in self.schema.identifiers]
        if len(names) == len(self._held.columns):
            return self._held  # with its counted risk
        return self._held.select(names)

    @cached_property
    def risk(self) -> Risk:
        """Sizes of the classes and the re-identification risks that follow from them."""
        held = self._held
        return risk(held.frame, held.keys, units=held.units, classes=held.classes)

    @property
    def exposed(self) -> tuple[Exposed, Exposed] | None:
        """Numbers of records whose keys few others share, in the original and in the release.

        `effects` has the numbers after each step. None if the original is not in memory.
        """
        return None if self._evidence is None else self._evidence.exposed

    @cached_property
    def gap(self) -> float | None:
        """An upper limit on the loss above the optimum, in percent.

        It compares published values if the method minimised their loss, and otherwise the groups'
        means. It counts a missing key as a value of its own, which may be more than the published
        table loses; `closeness` says so.

        The lower bound comes from the method. Without one, column generation runs on first use, for
        at most 3 s, up to 5,000 records and k = 12 (k = 30 with up to three columns of numbers); it
        ends at 5 %, or if these are out of reach. For other tables the bound uses each record's
        nearest neighbours, for no longer than the search took. None if that is too short, if only the
        bound 0 is proven, if groups obey other models than k-anonymity, or if the method made no
        groups or made them in another space.
        """
        return find_gap(self, Context())

    @property
    def by_published(self) -> bool:
        """Whether groups were made by published values and the gap refers to these; otherwise to means."""
        grouped = None if self._evidence is None else self._evidence.grouped
        return grouped is not None and isinstance(grouped.records, PublishedPoints)

    @cached_property
    def least(self) -> float | None:
        """A proven lower limit on the loss of any groups, in percent; None if unknown.

        It limits `information_loss` if the gap compares published values, and otherwise `group_loss`. None
        if the gap counts loss differently, as `closeness` says: after steps, by importance, or with
        missing values as values of their own.
        """
        grouped = None if self._evidence is None else self._evidence.grouped
        lost = self.information_loss if self.by_published else self.group_loss
        if grouped is None or self._terms or self.gap is None or lost is None:
            return None
        return lost / (1.0 + self.gap / 100.0)

    @cached_property
    def _terms(self) -> str:
        """How the gap counts loss differently from the published figures, in words."""
        grouped = None if self._evidence is None else self._evidence.grouped
        records = None if grouped is None else grouped.records
        if grouped is None or not isinstance(records, PublishedPoints):
            return " by the importance of keys" if self.recipe.importance else ""
        terms = ""
        if records.truth is None:
            terms = " by the importance of keys"
        elif grouped.partition is not None and not np.isclose(
            records.truth(grouped.partition),
            np.nan if self.information_loss is None else self.information_loss,
            rtol=1e-9,
        ):
            terms = " after the steps"
        return terms + (" if a missing value counts as a value of its own" if records.shown.gaps else "")

    @property
    def closeness(self) -> str | None:
        """A sentence about the distance of the loss from the optimum; None if unknown."""
        if self.gap is None:
            return None
        grouped = None if self._evidence is None else self._evidence.grouped
        more = self.recipe.method == "auto" and self.recipe.time_limit is None
        if grouped is None or grouped.records is None:  # a copy without its originals
            more = False
        elif more:
            records = grouped.records
            more = len(records) <= COLUMNS and priceable(Problem(records, self.recipe.required_k))
        return closeness(self.gap, more=more, terms=self._terms)

    @cached_property
    def utility(self) -> Utility | None:
        """Change of the table's statistics; computed on first use, from the originals in memory."""
        if self._evidence is None:
            return None
        evidence, kinds = self._evidence, self.recipe.schema
        return utility(evidence.original, self.unnamed.frame, kinds, aligned=evidence.order)

    @cached_property
    def penalty(self) -> Penalty | None:
        """The loss by the measures of generalisation, such as the certainty penalty; on first use."""
        evidence = self._evidence
        if evidence is None or evidence.grouped is None:
            return None
        return penalty(
            evidence.original,
            self.unnamed.frame,
            self.recipe.schema,
            evidence.order,
            hierarchies=self.recipe.hierarchies,
            k=self.recipe.required_k,
            classes=self._held.classes,
        )


def find_gap(release: ReleaseFigures, ctx: Context) -> float | None:
    """Return an upper bound in percent of the loss above the optimum; None if unknown."""
    evidence = release._evidence
    if evidence is None or len(release.costs) > 1:  # the bound covers only k
        return None
    grouped = evidence.grouped
    if grouped is None or grouped.partition is None:
        return None
    records, k = grouped.records, release.recipe.required_k
    if records is None or records.points is None or records.weights is not None:
        # no bound is known in other spaces, nor for records with weights
        return None
    part = grouped.partition
    cost = records.lost(part) if isinstance(records, PublishedPoints) else records.cost(part)
    if len(records) < 2 * k or 100.0 * cost < 1e-10 * records.total:
        return 0.0  # a single group is all there can be; or nothing but rounding is lost
    bound = grouped.bound
    if bound is None:
        searched = evidence.seconds.get("masking", 0.0)
        bound = prove_release(Problem(records, k), grouped.partition, searched, ctx)
    gap = None if bound is None else bound.gap(cost)
    return gap if gap is not None and np.isfinite(gap) else None
