"""The release: a masked table that keeps its promise, and the means to write it and tell about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np

from voronym.certify.front import COLUMNS, WIDEST, prove_briefly
from voronym.certify.words import closeness
from voronym.core.atomic import accompany, together
from voronym.core.context import Context, ProgressCallback
from voronym.core.figures import NOTHING, Figures
from voronym.errors import GuaranteeError, InputError, WriteError, worded
from voronym.evaluate.moved import KeyChange
from voronym.evaluate.penalty import Penalty, penalty
from voronym.evaluate.risk import Risk, risk
from voronym.evaluate.utility import Utility, utility
from voronym.evidence import Evidence
from voronym.history.booking import Booking
from voronym.methods.figures import PrivateFigures
from voronym.privacy import Finding, measure_within
from voronym.problem import Problem
from voronym.request.recipe import Recipe
from voronym.result import Cost, Folder
from voronym.space.published import PublishedPoints
from voronym.steps.effect import Effect, Exposed
from voronym.table.engines import frame_of
from voronym.table.frame import as_frame
from voronym.table.mark import mark, refuse_changed
from voronym.table.read import read
from voronym.table.remote import address_of
from voronym.table.schema import Schema
from voronym.table.source import Source, read_again
from voronym.table.table import Table
from voronym.table.typeset import read_ranges
from voronym.table.write import WriteReceipt, dialect_for, reading_back, write

if TYPE_CHECKING:
    from voronym.attacks import Exposure
    from voronym.dossier import Dossier
    from voronym.report.plot import Plot


class Release:
    """A masked table with its recipe, findings, utility and gap; in memory, or in a folder of files.

    Guarantee: it cannot be built unless every required model holds, and no file gets its name before k and
    all models were counted again in what was written.

    Parameters
    ----------
    table : Table
        The masked table.
    recipe : Recipe
        How it was made, and what it must fulfil.
    evidence : Evidence, optional
        Kept in memory only, for the internal report and the utility figures.
    notes : sequence of str
        Warnings for the data holder.
    """

    recipe: Recipe
    schema: Schema
    """Of what is published: ranges are texts there."""
    warnings: tuple[str, ...]
    public_warnings: tuple[str, ...]
    folder: Folder | None
    """Where the release lies, where it is not in memory."""
    checklist: Any
    """What became of the demands of its policy, where it was made with one: a `voronym.policy.Checklist`."""
    booking: Booking | None
    """What the ledger knows of its people, where it was made with one; `write` enters it."""
    findings: tuple[Finding, ...]
    """What each required model measured."""
    information_loss: float | None
    """Percent of the keys' variance that is lost in what is published: 100 SSE / SST over the standardised
    keys, centres rounded to values that can occur. None where a key is text and has no variance."""
    group_loss: float | None
    """Percent that the groups lost, before their centres were rounded to values that can occur: what methods
    minimise and bounds are about. In another space than the Euclidean one, of that space's cost."""
    costs: tuple[Cost, ...]
    """What each guarantee cost, in the order given; k-anonymity first."""
    figures: Figures
    """What the method measured, such as distortion and risk of a channel; in a mixed space the cost by
    metric. Each method has its own class of them."""
    log: tuple[str, ...]
    """What the method did, a sentence each."""
    effects: tuple[Effect, ...]
    """What each step on columns changed, and what it bought; for the data holder."""
    changes: tuple[KeyChange, ...]
    """For each key, how many records kept their value and how far the others moved; for the data holder. Over
    several leaves of many files, of keys that no step changed."""
    exposure: Exposure | None
    """What intruders got out of it in the attacks that were made; for the data holder."""
    _table: Table | None
    _evidence: Evidence | None
    _dossier: Dossier | None

    def __init__(
        self,
        table: Table,
        recipe: Recipe,
        *,
        evidence: Evidence | None = None,
        notes: Sequence[str] = (),
        public_notes: Sequence[str] = (),
    ) -> None:
        grouped = None if evidence is None else evidence.grouped
        self._fill(recipe, table.schema, notes, public_notes)
        self._table, self._evidence = table, evidence
        if evidence is not None:
            self.information_loss = evidence.published_loss
            self.figures = evidence.masked.figures
            self.log = evidence.masked.log
            self.effects, self.changes = evidence.effects, evidence.changes
        if grouped is not None:
            self.group_loss, self.costs = grouped.group_loss, grouped.costs
        pseudonyms = recipe.schema.units.values() if recipe.schema.pseudonyms else ()
        identifiers = [
            name for name in recipe.schema.identifiers if name in table.columns and name not in pseudonyms
        ]
        if identifiers:
            raise GuaranteeError(f"identifiers are still in the table: {', '.join(identifiers)}")
        self._mark = mark(table.frame)
        self.findings = tuple(measure_within(model, table, recipe.strata) for model in recipe.required)
        self._keep_promise()
        self._say_private()

    def _fill(
        self, recipe: Recipe, schema: Schema, notes: Sequence[str], public_notes: Sequence[str]
    ) -> None:
        self.recipe, self.schema = recipe, schema
        self.warnings, self.public_warnings = tuple(map(worded, notes)), tuple(map(worded, public_notes))
        self.folder = self.booking = self.checklist = self.exposure = None
        self._table = self._evidence = self._dossier = None
        self.findings, self.costs, self.log, self.effects, self.changes = (), (), (), (), ()
        self.information_loss = self.group_loss = None
        self.figures = NOTHING

    @classmethod
    def of_folder(
        cls,
        folder: Folder,
        recipe: Recipe,
        findings: Sequence[Finding],
        risk: Risk,
        *,
        information_loss: float | None = None,
        group_loss: float | None = None,
        notes: Sequence[str] = (),
        log: Sequence[str] = (),
        effects: Sequence[Effect] = (),
        changes: Sequence[KeyChange] = (),
        schema: Schema | None = None,
        figures: Figures = NOTHING,
        costs: Sequence[Cost] = (),
        public_notes: Sequence[str] = (),
    ) -> Release:
        """Build a release that lies in a folder, from what was counted in its files."""
        made = cls.__new__(cls)
        made._fill(recipe, recipe.schema if schema is None else schema, notes, public_notes)
        made.folder, made.findings = folder, tuple(findings)
        made.information_loss, made.group_loss = information_loss, group_loss
        made.log, made.effects, made.changes = tuple(map(worded, log)), tuple(effects), tuple(changes)
        made.figures, made.costs = figures, tuple(costs)
        vars(made)["risk"] = risk
        made._keep_promise()
        made._say_private()
        return made

    def _say_private(self) -> None:
        """Add differential privacy to what holds, where the method says that it kept it."""
        private = self.recipe.private
        if private is None:
            return
        kept = self.figures.of(PrivateFigures)
        if (
            kept is None
            or kept.private.epsilon > float(private.required or 0.0)
            or kept.private.delta > private.delta
            or kept.private.relation != private.neighbours
        ):
            raise GuaranteeError(
                f"{private} is asked for, and the table was not made so. Nothing was released"
            )
        self.findings = (*self.findings, private.kept())

    def _keep_promise(self) -> None:
        broken = [finding for finding in self.findings if not finding.holds]
        if broken:
            raise GuaranteeError(
                "the table does not keep its promise: "
                + "; ".join(map(str, broken))
                + ". Nothing was released."
            )

    @property
    def _held(self) -> Table:
        """The masked table, where it is in memory."""
        if self._table is None:
            raise InputError("the release lies in a folder of files: read them, or write it elsewhere")
        return self._table

    @property
    def table(self) -> Any:
        """The masked table, in the dataframe library that the original came in; or the folder it lies in."""
        return self.folder.path if self.folder is not None else self._held.frame.to_native()

    def frame(self, engine: str = "polars", **options: Any) -> Any:
        """Return the masked table as a frame of an engine, lazily: files of a folder are read when it works.

        Parameters
        ----------
        engine : str
            "polars", "dask", "spark", "duckdb", "pandas", or another engine that `narwhals` knows; Spark's
            active session is taken, where none is given as ``session``.
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
        """The file that the original was read from: its dialect, in which the release is written."""
        return None if self._table is None else self._table.source

    @property
    def unnamed(self) -> Table:
        """The masked table without pseudonyms, which the originals do not have."""
        names = [name for name in self._held.columns if name not in self.schema.identifiers]
        if len(names) == len(self._held.columns):
            return self._held  # with what was counted of it
        return self._held.select(names)

    @cached_property
    def risk(self) -> Risk:
        """Sizes of the classes and the re-identification risks that follow from them."""
        held = self._held
        return risk(held.frame, held.keys, units=held.units, classes=held.classes)

    @property
    def exposed(self) -> tuple[Exposed, Exposed] | None:
        """Records that few others share all keys with, of the original and of the release, as anybody counts.

        After each step they are in `effects`. None where the original is not in memory.
        """
        return None if self._evidence is None else self._evidence.exposed

    @cached_property
    def gap(self) -> float | None:
        """How many percent the loss is above the least that any groups can lose, at most.

        Of what is published, where groups were made by that; else of the groups' means. From the bound that
        the method proved. Where it proved none, up to 5,000 records and k = 12 column generation takes three
        seconds at most, on first use; beyond, the nearest of each record say something.
        None where there are too many records for that, where nothing but 0 is proven, where groups had to
        obey other models than k-anonymity, where the method made no groups, or made them in another space.
        """
        return self._find_gap(Context())

    def _find_gap(self, ctx: Context) -> float | None:
        grouped = None if self._evidence is None else self._evidence.grouped
        if grouped is None or grouped.partition is None or len(self.costs) > 1:  # the bound knows of k alone
            return None
        records, k = grouped.records, self.recipe.required_k
        if records is None or records.points is None or records.weights is not None:
            # no bound is known in other spaces, nor for records with weights
            return None
        cost = records.cost(grouped.partition)
        if len(records) < 2 * k or 100.0 * cost < 1e-10 * records.total:
            return 0.0  # a single group is all there can be; or nothing but rounding is lost
        bound = grouped.bound
        if bound is None:
            bound = prove_briefly(Problem(records, k), grouped.partition, ctx)
        gap = None if bound is None else bound.gap(cost)
        return gap if gap is not None and np.isfinite(gap) else None

    @property
    def by_published(self) -> bool:
        """Whether groups were made by what is published, and the gap is of that; else of their means."""
        grouped = None if self._evidence is None else self._evidence.grouped
        return grouped is not None and isinstance(grouped.records, PublishedPoints)

    @property
    def closeness(self) -> str | None:
        """What is known about how near the loss is to the least possible one, in words; None for nothing."""
        if self.gap is None:
            return None
        more = self.rows <= COLUMNS and self.recipe.required_k <= WIDEST and self.recipe.method == "auto"
        return closeness(self.gap, more=more and self.recipe.time_limit is None)

    @cached_property
    def utility(self) -> Utility | None:
        """How far the table's statistics moved; computed on first use, from the originals in memory."""
        if self._evidence is None:
            return None
        evidence, kinds = self._evidence, self.recipe.schema
        return utility(evidence.original, self.unnamed.frame, kinds, aligned=evidence.order)

    @cached_property
    def penalty(self) -> Penalty | None:
        """What was lost by the measures of generalisation, such as the certainty penalty; on first use."""
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

    def write(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        delimiter: str | None = None,
        guard: bool = True,
        table: str | None = None,
        **style: Any,
    ) -> WriteReceipt:
        """Write the table, measure it again in the written file, and only then give it its name.

        k is counted in the bytes by code of its own; other models are measured in the file, read back.

        Parameters
        ----------
        path : str or Path
            Where to; the suffix chooses CSV, Parquet, Arrow and so on. "-" is standard output, as text.
        overwrite : bool
            Whether a file that is there may be replaced.
        delimiter : str
            Between the cells of a CSV; by default that of the file that was read, or a comma.
        guard : bool
            Whether texts that a spreadsheet might run as a formula get an apostrophe.
        table : str, optional
            Name of the table of a database, or of the sheet of a spreadsheet; "release" by default.
        **style
            Of a text file, where it is not to be written as the one that was read: ``encoding``, ``decimal``,
            ``thousands``, ``date_format``, ``newline`` ("lf", "crlf").

        Raises
        ------
        WriteError
            The file could not be written or did not pass its check; nothing is left in its place.

        Notes
        -----
        A release that was made with a ledger is entered there: the file gets its name and the ledger its
        entry, or neither.
        """
        held = self._held
        if self.booking is not None and address_of(path) is not None:
            raise WriteError(
                "a release with a ledger gets its name and its entry together, which a store cannot promise: "
                "write it to a file of this machine, and copy it"
            )
        refuse_changed(path, held.frame, self._mark)
        units = held.units
        if units is None and self.schema.units:
            raise WriteError(
                "this release was stored and no longer knows which rows belong together, so it cannot be "
                "counted again in a file; write it where it is made"
            )
        models = [
            m
            for m in self.recipe.required
            if m.required is not None and (m.needs != "sizes" or units is not None)
        ]
        counted: list[int] = []

        def verify(file: Path) -> None:
            """Measure the other models in the file, as a reader of it would see them."""
            again = read_again(read(file, **reading), held.columns, self.schema.keys)
            result = as_frame(again if dialect is None else read_ranges(again, dialect, source))
            kept = [name for name in held.columns if name not in self.schema.identifiers]
            table = Table.of(result, self.schema, only=kept)
            table = table.like(table.frame, units=units)
            counted.append(int(table.heads.min()))
            broken = [
                f
                for f in (measure_within(model, table, self.recipe.strata) for model in models)
                if not f.holds
            ]
            if broken:
                raise WriteError(
                    f"read back from the written file, {'; '.join(map(str, broken))}: values that differ in "
                    "the table look alike in this format, such as '1' and '1.0', or an empty text and a "
                    "missing one. Make them alike in the table, or write Parquet. Nothing was left behind"
                )

        source = held.source
        reading = reading_back(Path(path), source, table, delimiter=delimiter, **style)
        dialect = (
            dialect_for(Path(path), source, delimiter=delimiter, **style) if "delimiter" in reading else None
        )
        with together():
            receipt = write(
                held.frame,
                path,
                keys=self.schema.keys,
                k=self.recipe.required_k,
                overwrite=overwrite,
                delimiter=delimiter,
                labels=held.labels,
                source=source,
                style=style,
                guard=guard,
                table_name=table,
                verify=verify if models else None,
            )
            if self.booking is not None:
                accompany(self.booking.companion(receipt.path, receipt.sha256))
        return replace(receipt, k_counted=counted[-1]) if counted else receipt

    def prove(self, ctx: Context) -> None:
        """Find `gap` under a context, unless it is known."""
        if "gap" not in vars(self):
            vars(self)["gap"] = self._find_gap(ctx)

    def dossier(
        self,
        ctx: Context | None = None,
        *,
        progress: ProgressCallback | None = None,
        attacked: bool = False,
    ) -> Dossier:
        """Return all figures about this release, in a public part and one for the data holder; made once.

        Parameters
        ----------
        ctx : Context, optional
            Of the work that this is a part of.
        progress : callable, optional
            Otherwise, called with a `voronym.Progress` now and then.
        attacked : bool
            Whether the attacks that take seconds at most are made, too, where they were not made yet: an
            internal report shows them.
        """
        if self._dossier is None and self.folder is not None:
            raise InputError("the figures of a report were not asked for: vr.anonymize(..., report=True)")
        if self._dossier is None:
            from voronym.dossier import dossier  # a layer above: only when asked for

            made = Context(progress=progress) if ctx is None else ctx
            self._dossier = dossier(self, made.part(0.0, 0.8) if attacked else made)
            if attacked and self._evidence is not None:
                self._attack(made.part(0.8, 1.0))
            if ctx is None:
                made.done()
        elif attacked and self._evidence is not None:
            self._attack(Context() if ctx is None else ctx)
        inside = self._dossier.inside
        if inside is not None and self.exposure is not None and inside.exposure is not self.exposure:
            self._dossier = replace(self._dossier, inside=replace(inside, exposure=self.exposure))
        return self._dossier

    def _attack(self, ctx: Context) -> None:
        """Make the quick attacks, and remember what they came to."""
        from voronym.dossier import quick_exposure  # a layer above: only when asked for

        self.exposure = quick_exposure(self, ctx)

    def report(
        self,
        path: str | Path,
        *,
        audience: Literal["internal", "public"] = "internal",
        title: str | None = None,
        publisher: str | None = None,
        date: str | None = None,
        language: str = "en",
    ) -> Path:
        """Write a self-contained HTML page about the release, in English, German, French or Spanish.

        The internal version compares with the originals, and attacks the release where that was not done. The
        public one is built from the release alone.

        Parameters
        ----------
        path : str or Path
            Where to.
        audience : {"internal", "public"}
            For whom.
        title : str, optional
            What the page is called; by default "Release of" the file that was read, which a public page does
            not name.
        publisher : str, optional
            Who publishes the release.
        date : str, optional
            When it was made; by default today.
        """
        from voronym.report import write_report  # a layer above: only when asked for

        return write_report(
            self, path, audience=audience, title=title, publisher=publisher, date=date, language=language
        )

    def plot(self, what: str = "plane") -> Plot:
        """Return a figure of the internal report, which a notebook shows; it needs the originals in memory.

        Parameters
        ----------
        what : str
            The section of the report: "plane" (records and groups), "loss", "other-k", "known", "risk",
            "sizes", "statistics" (correlations), "told", or "map" where keys are a place.
        """
        from voronym.report.plot import plot_release  # a layer above: only when asked for

        return plot_release(self, what)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures about this release as plain data, without a single record: see `dossier`."""
        if self.folder is None:
            return self.dossier().to_dict()
        return {
            **self.folder.to_dict(),
            "k_counted": self.k,
            "findings": [finding.to_dict() for finding in self.findings],
            "information_loss": self.information_loss,
            "group_loss": self.group_loss,
            "changes": [change.to_dict() for change in self.changes],
            "notes": list(self.warnings),
            "recipe": self.recipe.to_dict(),
            **({} if self._dossier is None else {"dossier": self._dossier.to_dict()}),
        }

    def __getstate__(self) -> dict[str, Any]:
        """Leave the originals behind: a pickled release holds no more than the table and its figures."""
        self.gap  # noqa: B018 - found while the originals are here
        self.risk  # noqa: B018 - counted while it is known which rows belong together
        left = ("_evidence", "_dossier", "utility", "penalty", "booking", "exposure")
        kept = {name: value for name, value in vars(self).items() if name not in left}
        table = self._table
        if table is None:
            return kept
        return {**kept, "_table": Table(table.frame, table.schema, table.labels, source=table.source)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _evidence=None, _dossier=None, booking=None, exposure=None)
        if self._table is not None:
            self._mark = mark(self._table.frame)

    def __repr__(self) -> str:
        loss = self.information_loss
        stated = "" if loss is None else f", information loss {loss:.2f} %"
        files = "" if self.folder is None else f" in {self.folder.files} files"
        return f"Release({self.rows} records{files}, {self.risk.n_classes} classes, k={self.k}{stated})"

    def _repr_html_(self) -> str:
        from voronym.report import release_html  # a layer above: only when asked for

        return release_html(self)
