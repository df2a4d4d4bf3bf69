"""The subject of a judgement: a published table of any tool, and its companions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from voronym.attacks import Exposure, Scene, assault
from voronym.core.context import Context
from voronym.errors import InputError, ReadError
from voronym.evaluate.measure import Columns, schema_of
from voronym.evaluate.risk import Risk, risk
from voronym.policy.counted import Counted
from voronym.policy.policy import Policy
from voronym.policy.recognise import Seen, recognise, recognise_cells
from voronym.privacy import Finding
from voronym.table.classes import check_columns
from voronym.table.frame import as_frame
from voronym.table.read import read
from voronym.table.schema import Schema
from voronym.table.table import Table

if TYPE_CHECKING:
    from voronym.release import Release

__all__ = ["Case", "Facts"]

PROPOSED = "that these columns are all that an intruder may know, and no others: {keys} (proposed by voronym)"


@dataclass(frozen=True)
class Facts:
    """Tables that a policy needs, by name, such as the number of people per postcode."""

    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, policy: Policy, files: Mapping[str, str] | None) -> Facts:
        """Take the tables of numbers that a policy uses; refuse other names."""
        given = dict(files or {})
        for name in given:
            if name not in policy.facts:
                known = ", ".join(policy.facts) or "none"
                raise InputError(f"the policy {policy.name} needs no table {name!r}; it needs: {known}")
        return cls(given)

    @cached_property
    def _tables(self) -> dict[str, dict[str, float]]:
        return {}

    def people(self, name: str) -> Mapping[str, float]:
        """Return the number of people for each code; empty if the table was not given."""
        if name not in self.files:
            return {}
        if name not in self._tables:
            self._tables[name] = _counts(name, self.files[name])
        return self._tables[name]


def _counts(name: str, path: str) -> dict[str, float]:
    """Read a table whose rows have a code and a number of people."""
    try:
        frame = read(path)
    except ReadError as error:
        raise InputError(f"the table {name}: {error}") from None
    whole = [column for column in frame.columns if frame[column].dtype.is_numeric()]
    if len(frame.columns) < 2 or not whole or whole[-1] == frame.columns[0]:
        raise InputError(
            f"the table {name} needs two columns, codes and numbers of people: {Path(path).name!r} has "
            f"{', '.join(map(repr, frame.columns))}"
        )
    codes = [str(code).strip().rstrip("*") for code in frame[frame.columns[0]].to_list()]
    width = 3 if frame[frame.columns[0]].dtype.is_numeric() else 0  # leading zeros are lost in numbers
    out: dict[str, float] = {}
    for code, people in zip(codes, frame[whole[-1]].to_list(), strict=True):
        key = code.zfill(max(width, max(map(len, codes)) if width else 0))
        out[key] = out.get(key, 0.0) + float(people or 0)
    return out


@dataclass(eq=False)
class Case:
    """A table to be judged.

    Parameters
    ----------
    frame : narwhals DataFrame
        The table to publish.
    policy : Policy
        The policy to judge by.
    keys, confidential : tuple of str
        Columns that an intruder may know; columns that an intruder wants to learn.
    facts : Facts
        Tables that the policy needs.
    original : DataFrame, optional
        The table it was made from, for attacks and losses.
    aligned : array of int, optional
        The released row of each original, if known.
    proposed : bool
        Whether keys were proposed by the program, and have to be confirmed.
    columns : mapping
        Further facts about columns: see `voronym.measure`.
    population : DataFrame, optional
        A table of the whole population, for the risk in it.
    counted : Counted, optional
        The cells of a table of many files; ``frame`` is then a sample of its rows.
    findings : tuple of Finding
        Measurements over all files.
    """

    frame: nw.DataFrame[Any]
    policy: Policy
    keys: tuple[str, ...] = ()
    confidential: tuple[str, ...] = ()
    facts: Facts = field(default_factory=Facts)
    original: nw.DataFrame[Any] | None = None
    own: Any = None
    proposed: bool = False
    columns: Columns = field(default_factory=lambda: Columns())
    population: Any = None
    loss: float | None = None
    original_rows: int | None = None
    ledger: bool | None = None
    sampling_fraction: float | None = None
    schema: Schema | None = None
    known_risk: Risk | None = None
    units: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    context: Context = field(default_factory=Context)
    counted: Counted | None = None
    findings: tuple[Finding, ...] = ()
    year: int = field(default_factory=lambda: dt.date.today().year)

    @classmethod
    def of_table(
        cls,
        table: Any,
        policy: Policy,
        *,
        keys: Sequence[str] = (),
        confidential: Sequence[str] = (),
        original: Any = None,
        **about: Any,
    ) -> Case:
        """Build a case from any table; keys are proposed unless named."""
        frame = as_frame(table)
        if len(frame) == 0:
            raise InputError("the table has no rows, so there is nothing to judge")
        columns: Columns = about.pop("columns", None) or Columns()
        units = tuple(name for name in (columns.get("person"), columns.get("household")) if name)
        check_columns(frame, [*keys, *units], "key")
        check_columns(frame, confidential, "confidential")
        proposed = not keys
        if proposed:
            keys, more = _proposed(frame, units)
            confidential = tuple(confidential) or more
            keys = tuple(name for name in keys if name not in confidential)
        source = None if original is None else as_frame(original)
        return cls(
            frame,
            policy,
            tuple(keys),
            tuple(confidential),
            original=source,
            original_rows=None if source is None else len(source),
            proposed=proposed,
            columns=columns,
            units=units,
            **about,
        )

    @classmethod
    def of_release(cls, release: Release, policy: Policy, facts: Facts, **about: Any) -> Case:
        """Lay out a release that was just made, with its originals."""
        evidence, schema = release._evidence, release.recipe.schema
        own = None if evidence is None else np.argsort(evidence.order)
        left = evidence is None or evidence.rows is None
        return cls(
            release._held.frame,
            policy,
            schema.keys,
            schema.confidential,
            facts,
            original=None if evidence is None else evidence.original,
            own=own,
            loss=release.information_loss,
            original_rows=release.rows if left else about.pop("rows", None),
            sampling_fraction=release.recipe.sampling_fraction,
            schema=schema,
            known_risk=release.risk,
            units=tuple(schema.units.values()) if schema.pseudonyms else (),
            **{name: value for name, value in about.items() if name != "rows"},
        )

    @classmethod
    def of_folder(
        cls, release: Release, policy: Policy, facts: Facts, counted: Counted, **about: Any
    ) -> Case:
        """Build a case from a new release of many files, by the counts in them."""
        schema = release.recipe.schema
        return cls(
            as_frame(counted.sample),
            policy,
            schema.keys,
            schema.confidential,
            facts,
            loss=release.information_loss,
            sampling_fraction=release.recipe.sampling_fraction,
            schema=schema,
            known_risk=release.risk,
            units=tuple(schema.units.values()) if schema.pseudonyms else (),
            counted=counted,
            findings=release.findings,
            **about,
        )

    @cached_property
    def seen(self) -> dict[str, Seen]:
        """The content of each column."""
        result = {name: what for name, what in self.policy.recognise.items() if name in self.frame.columns}
        words = {**result, **self.words}
        if self.counted is not None:
            return recognise_cells(self.counted.cells, self.counted.rows, words)
        return recognise(self.frame, words)

    @property
    def rows(self) -> int:
        """The number of records."""
        return len(self.frame) if self.counted is None else self.counted.rows

    def people(self, name: str) -> Mapping[str, float]:
        """Return how many people live under each code of a table of the policy."""
        return self.facts.people(name)

    @cached_property
    def plain(self) -> nw.DataFrame[Any]:
        """The table with suppressed cells of keys as missing values."""
        made = {}
        for name in self.keys:
            column = self.frame[name]
            if column.dtype not in (nw.String, nw.Categorical, nw.Enum):
                continue
            gone = {cell.cell.text for cell in self.seen[name].cells if cell.cell.sort == "gone"} - {""}
            if gone:
                texts = column.cast(nw.String).to_list()
                kept = [
                    None if text is None or text.strip().removeprefix("'") in gone else text for text in texts
                ]
                made[name] = nw.new_series(name, kept, nw.String(), backend=self.frame.implementation)
        return self.frame.with_columns(**made) if made else self.frame

    @cached_property
    def table(self) -> Table:
        """The records with their roles."""
        rest = self.columns
        notes: list[str] = []
        return Table.of(
            self.plain, schema_of(self.plain, self.plain, self.keys, self.confidential, rest, notes)
        )

    @cached_property
    def risk(self) -> Risk:
        """Sizes of the classes and the risks that follow from them."""
        if self.known_risk is not None and self.population is None:
            return self.known_risk
        units = self.table.units if self.units else None
        return risk(self.plain, self.keys, population=self.population, units=units)

    @cached_property
    def exposure(self) -> Exposure:
        """The success of the attacks that the policy names."""
        names = [item.attack for item in self.policy.of("attacks")]  # type: ignore[attr-defined]
        schema = self.schema
        source = self.original
        frame = self.frame.select([name for name in self.frame.columns if name not in self.units])
        if schema is None:
            base = frame if source is None else source
            schema = schema_of(frame, base, self.keys, self.confidential, self._about_originals(), [])
        beside = {} if source is None else {"original": source, "own": self.own}
        scene = Scene.of(frame, schema, **beside)
        return assault(scene, list(dict.fromkeys(names)), self.context)

    def _about_originals(self) -> Columns:
        kept: Any = {
            name: value for name, value in self.columns.items() if name not in ("person", "household")
        }
        return kept  # type: ignore[no-any-return]

    @property
    def keys_said(self) -> str:
        """The keys, for evidence."""
        counted = "" if not self.units else ", in people" if self.columns.get("person") else ", in households"
        return f"the keys {', '.join(self.keys)}{counted}"

    @property
    def keys_decide(self) -> str:
        """The question about proposed keys that a person has to confirm."""
        return PROPOSED.format(keys=", ".join(self.keys) or "none") if self.proposed else ""


def _proposed(frame: nw.DataFrame[Any], units: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Propose keys and confidential columns of a table without any declared column."""
    rest = frame.select([name for name in frame.columns if name not in units])
    proposal = Schema.infer(rest)
    return proposal.schema.keys, proposal.schema.confidential
