"""The release: a masked table that keeps its promise, and the means to write and report it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from voronym.core import later
from voronym.core.context import Context, ProgressCallback
from voronym.core.figures import NOTHING, Figures
from voronym.errors import GuaranteeError, InputError, worded
from voronym.evaluate.moved import KeyChange
from voronym.evaluate.risk import Risk
from voronym.methods.figures import PrivateFigures
from voronym.privacy import Finding, measure_within
from voronym.release.evidence import Evidence
from voronym.release.figures import ReleaseFigures, find_gap
from voronym.release.write import write_release
from voronym.request.recipe import Recipe
from voronym.result import Cost, Folder
from voronym.steps.effect import Effect
from voronym.table.mark import mark
from voronym.table.schema import Schema
from voronym.table.table import Table
from voronym.table.write import WriteReceipt

if TYPE_CHECKING:
    from voronym.dossier import Dossier
    from voronym.report.plot import Plot


class Release(ReleaseFigures):
    """A masked table with its recipe, findings, utility and gap; in memory, or in a folder of files.

    Guarantee: it can be built only if every required model holds. A file gets its name only after k and
    all models were counted again in the written bytes.

    Parameters
    ----------
    table : Table
        The masked table.
    recipe : Recipe
        The recipe of the release, with its required guarantees.
    evidence : Evidence, optional
        Kept in memory only, for the internal report and the utility figures.
    notes : sequence of str
        Warnings for the data holder.
    """

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
        """Build a release from a folder, by the counts in its files."""
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
        """Add differential privacy to the promises, if the method kept it."""
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
                f"{private} is required, but the table was not made that way. Nothing was released"
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
        """Write the table, count again in the written file, then give the file its name.

        Separate code counts k in the bytes. Other models are measured on the file, read back.

        Parameters
        ----------
        path : str or Path
            The file; its suffix chooses CSV, Parquet, Arrow and so on. "-" is standard output, as text.
        overwrite : bool
            Whether an existing file may be replaced.
        delimiter : str
            Delimiter of a CSV; by default that of the original file, or a comma.
        guard : bool
            Whether to put an apostrophe before texts that a spreadsheet could run as formulas.
        table : str, optional
            Name of the table of a database, or of the sheet of a spreadsheet; "release" by default.
        **style
            The form of a text file, if it should differ from the source: ``encoding``, ``decimal``,
            ``thousands``, ``date_format``, ``newline`` ("lf", "crlf").

        Raises
        ------
        WriteError
            The file could not be written or did not pass its check; nothing is left in its place.

        Notes
        -----
        A release with a ledger is entered there: either the file gets its name and the ledger its entry, or
        nothing happens.
        """
        return write_release(
            self, path, overwrite=overwrite, delimiter=delimiter, guard=guard, table=table, style=style
        )

    def prove(self, ctx: Context) -> None:
        """Compute `gap` under a context, unless it is known."""
        if "gap" not in vars(self):
            vars(self)["gap"] = find_gap(self, ctx)

    def dossier(
        self,
        ctx: Context | None = None,
        *,
        progress: ProgressCallback | None = None,
        attacked: bool = False,
    ) -> Dossier:
        """Return all figures about this release, in a public part and a part for the data holder.

        Parameters
        ----------
        ctx : Context, optional
            Context of the surrounding work.
        progress : callable, optional
            Otherwise, called with a `voronym.Progress` now and then.
        attacked : bool
            Whether to run the attacks that take seconds, unless they were run: an internal report shows them.
        """
        if self._dossier is None and self.folder is not None:
            raise InputError("the figures of a report were not prepared: call vr.anonymize(..., report=True)")
        if self._dossier is None:
            from voronym.dossier import dossier  # a layer above: only when asked for

            made = Context(progress=progress) if ctx is None else ctx
            if attacked and self._evidence is not None and self.schema.confidential:
                later.ahead("sklearn.ensemble")  # whose forests guess confidential values, after the proof
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
        """Run the quick attacks, and remember their outcome."""
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

        The internal version compares with the originals, and attacks the release unless that was done. The
        public one is built from the release alone.

        Parameters
        ----------
        path : str or Path
            The file.
        audience : {"internal", "public"}
            The readers.
        title : str, optional
            The title of the page; by default "Release of" and the name of the source file, which a public
            page does not show.
        publisher : str, optional
            The publisher of the release.
        date : str, optional
            When it was made; by default today.
        """
        from voronym.report import write_report  # a layer above: only when asked for

        return write_report(
            self, path, audience=audience, title=title, publisher=publisher, date=date, language=language
        )

    def plot(self, what: str = "plane") -> Plot:
        """Return a figure of the internal report for a notebook; needs the originals in memory.

        Parameters
        ----------
        what : str
            The section of the report: "plane" (records and groups), "loss", "other-k", "known", "risk",
            "sizes", "statistics" (correlations), "told", or "map" if keys form a place.
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
        """Drop the originals: a pickled release holds only the table and its figures."""
        self.least, self.closeness  # noqa: B018 - found while the originals are here
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
