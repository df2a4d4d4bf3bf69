"""The target of attacks: a release, and the holder's tables that measure an intruder's success."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.attacks.base import Inapplicable
from voronym.errors import InputError, SchemaError, hint
from voronym.evaluate.encode import encode
from voronym.evaluate.matching import Matcher, matcher
from voronym.evaluate.pair import Pair, codes, make_pair, plain
from voronym.generalize.sets import ValueSets
from voronym.keyspaces import Coordinates
from voronym.table.classes import Classes, equivalence_classes
from voronym.table.codec import Codec
from voronym.table.frame import as_frame
from voronym.table.schema import Schema
from voronym.table.table import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rerun = Callable[[Table], Any]
"""Makes the release again from a table: row i of the frame is the published row of person i."""

Remake = Callable[[Table], tuple[Any, str]]
"""The same, with the figures of the public report as a text."""

TARGETS = 2_000
"""People attacked at most; an interval is then about two points wide."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """The published rule of a channel: the probability that each combination of keys becomes another one.

    ``letters`` are the combinations, one per row and column of ``rows``. A further row, if any, stands
    for all other combinations.
    """

    columns: tuple[str, ...]
    letters: tuple[tuple[str, ...], ...]
    rows: Floats


@dataclass(frozen=True, eq=False)
class Scene:
    """A release and the tables needed to measure an intruder. Made by `Scene.of`.

    Parameters
    ----------
    released : polars DataFrame
        The published table.
    schema : Schema
        Role and kind of the published columns.
    original : polars DataFrame, optional
        The original table with the same columns and types.
    own : array of int, optional
        The released row of each original; -1 if it has none, or if the row is unknown.
    hidden : polars DataFrame, optional
        Columns of the original that were not published.
    control : polars DataFrame, optional
        People outside the table, with the columns of the original.
    earlier : tuple of polars DataFrame
        Earlier releases about some of the same people.
    file : Path, optional
        The published file itself.
    table : Table, optional
        The original as the tool takes it.
    rerun : callable, optional
        The tool: ``(table) -> frame``; row i is the published row of person i.
    remake : callable, optional
        The tool with its public report: ``(table) -> (frame, text)``.
    matrices : tuple of Matrix
        Published rules of a channel.
    targets, confidence :
        People attacked at most, and the coverage of the intervals.
    brief : float, optional
        Approximate limit in seconds for attacks that make the release again: they then use a sample, and say
        so.
    notes : tuple of str
        Changes made to the tables for the comparison.
    texts : mapping
        Numeric and time columns that are published as ranges, in their published form.
    sets : mapping
        Columns that are published as ranges, codes with stars and the like: the values of each text.
    """

    released: pl.DataFrame
    schema: Schema
    original: pl.DataFrame | None = None
    own: Ints | None = None
    hidden: pl.DataFrame | None = None
    control: pl.DataFrame | None = None
    earlier: tuple[pl.DataFrame, ...] = ()
    file: Path | None = None
    table: Table | None = None
    rerun: Rerun | None = None
    remake: Remake | None = None
    matrices: tuple[Matrix, ...] = ()
    targets: int = TARGETS
    confidence: float = 0.95
    brief: float | None = None
    notes: tuple[str, ...] = ()
    texts: Mapping[str, pl.Series] = field(default_factory=dict)
    sets: Mapping[str, ValueSets] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        released: Any,
        schema: Schema,
        *,
        original: Any = None,
        own: NDArray[Any] | None = None,
        **beside: Any,
    ) -> Scene:
        """Build a scene from tables, brought to common types.

        Parameters
        ----------
        released, original : DataFrame
            pandas, Polars, PyArrow or narwhals.
        schema : Schema
            Names at least every published column.
        own : array of int, optional
            The released row of each original. By default rows are matched by the columns that were published
            unchanged, as far as these identify people.
        **beside
            The other fields.
        """
        if original is None:
            frame = as_frame(released)
            if len(frame) == 0:
                raise InputError("the release has no rows, so there is nothing to attack")
            columns = [plain(frame[name]) for name in frame.columns if name in schema]
            beside.pop("hierarchies", None)
            return cls(pl.DataFrame(columns), schema, **beside)
        pair = make_pair(original, released, schema, beside.pop("hierarchies", None))
        before = as_frame(original)
        gone = [plain(before[name]) for name in before.columns if name not in pair.released.columns]
        links = None if own is None else np.asarray(own, np.int64)
        if links is not None and (links.shape != (len(before),) or links.max() >= len(pair.released)):
            raise InputError("own must hold one released row, or -1, for each row of the original")
        scene = cls(
            pair.released,
            pair.schema,
            pair.original,
            links,
            pl.DataFrame(gone) if gone else None,
            notes=pair.notes,
            texts=pair.texts,
            sets=pair.sets,
            **beside,
        )
        return scene if links is not None else scene._matched()

    def _matched(self) -> Scene:
        """Match rows by columns published unchanged, if those identify a person each."""
        names = self.untouched
        if not names:
            return self
        before, after = self.joint_codes(names)
        n, m = len(before), len(after)
        size = int(max(before.max(), after.max())) + 1
        alone = (np.bincount(before, minlength=size) == 1) & (np.bincount(after, minlength=size) == 1)
        row = np.full(size, -1, np.int64)
        row[after] = np.arange(m)
        own = np.where(alone[before], row[before], -1)
        if (own >= 0).sum() < max(2, n // 2):
            return self
        return Scene(**{**vars_of(self), "own": own})

    def stirred(self) -> Scene:
        """Return the scene with its released rows in an order that depends only on the people.

        Every release has its rows in another random order, and attacks that guess among equal rows would
        otherwise give another result each time.
        """
        if self.own is None:
            return self
        person = np.full(len(self.released), len(self.people), np.int64)
        known = np.flatnonzero(self.own >= 0)
        person[self.own[known]] = known
        drawn = np.random.default_rng(0).permutation(len(self.people) + 1)  # no place tells whose row it is
        order = np.argsort(drawn[person], kind="stable")
        place = np.argsort(order)
        moved = {
            "released": self.released[order],
            "own": np.where(self.own >= 0, place[self.own], -1),
            "texts": {name: text[order] for name, text in self.texts.items()},
        }
        return Scene(**{**vars_of(self), **moved})

    # -- inputs of attacks ---------------------------------------------------------------------------------

    def lacks(self, need: str) -> str | None:
        """Return a sentence about a missing input; None if it is there."""
        there = {
            "original": self.original is not None,
            "links": self.own is not None,
            "confidential": bool(self.confidential),
            "numeric": self.original is None or bool(self.numeric_keys),
            "earlier": bool(self.earlier),
            "file": self.file is not None,
            "rerun": self.rerun is not None and self.table is not None,
            "matrices": bool(self.matrices),
            "units": self.table is not None and self.table.units is not None,
        }
        return None if there[need] else _LACKING[need]

    def released_units(self, unit: Ints) -> Ints:
        """Return the unit of each released row, from the units of the original rows; -1 if unknown."""
        own = np.full(len(self.released), -1, np.int64)
        known = self.links >= 0
        own[self.links[known]] = unit[known]
        return own

    @property
    def persons(self) -> Ints | None:
        """The person of each released row, numbered from 0; None if each person has one row."""
        if self.table is None or self.table.persons is None or self.own is None:
            return None
        own = self.released_units(self.table.persons)
        return None if (own < 0).any() else np.unique(own, return_inverse=True)[1].reshape(-1)

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that the intruder knows."""
        return self.schema.keys

    @property
    def confidential(self) -> tuple[str, ...]:
        """The published columns that the intruder wants to learn."""
        return tuple(name for name in self.schema.confidential if name in self.released.columns)

    @property
    def beside(self) -> tuple[str, ...]:
        """Published columns that are not keys."""
        return tuple(name for name in self.released.columns if name not in self.keys)

    @cached_property
    def people(self) -> pl.DataFrame:
        """The original records; only attacks that need them use this."""
        if self.original is None:
            raise Inapplicable(_LACKING["original"])
        return self.original

    @cached_property
    def links(self) -> Ints:
        """The released row of each original."""
        if self.own is None:
            raise Inapplicable(_LACKING["links"])
        return self.own

    @cached_property
    def classes(self) -> Classes:
        """The released rows that share all keys."""
        return equivalence_classes(nw.from_native(self.released, eager_only=True), list(self.keys))

    @property
    def numeric_keys(self) -> tuple[str, ...]:
        """Keys that are numbers or dates."""
        return tuple(k for k in self.keys if self.schema[k].kind in ("numeric", "location", "datetime"))

    @property
    def point_classes(self) -> Classes | None:
        """The classes of equal points; None if keys are ranges or codes, whose midpoints can coincide."""
        return None if self.texts or self.sets else self.classes

    @cached_property
    def _encoded(self) -> tuple[Floats, Floats, Codec]:
        known = None if self.table is None else Coordinates.known(self.table)
        return self.encoded(self.people, self.released, None if known is None else known.X)

    def encoded(
        self, people: pl.DataFrame, released: pl.DataFrame, known: Floats | None = None
    ) -> tuple[Floats, Floats, Codec]:
        """Return the keys of people and of released rows as points, and the encoding that both share.

        ``known`` are points of the people that were made before.
        """
        try:
            return encode(Pair(people, released, self.schema, (), self.texts, self.sets), known)[:3]
        except SchemaError as error:
            raise Inapplicable(f"the keys cannot be compared as numbers: {error}") from None

    @cached_property
    def matcher(self) -> Matcher | None:
        """The matcher of people with records that publish sets of values, if some do."""
        pair = Pair(self.people, self.released, self.schema, (), self.texts, self.sets)
        return matcher(pair, self._encoded)

    @property
    def points(self) -> tuple[Floats, Floats]:
        """The keys of originals and of released rows as points in one encoding."""
        return self._encoded[:2]

    @property
    def codec(self) -> Codec:
        """The encoding of the keys."""
        return self._encoded[2]

    @cached_property
    def untouched(self) -> list[str]:
        """Columns with equal counts of every value in both tables, in any order of the rows."""
        if self.original is None or len(self.original) != len(self.released):
            return []
        result = []
        for name in self.beside:
            before, after, _, size = codes(self.original[name], self.released[name])
            if np.array_equal(np.bincount(before, minlength=size), np.bincount(after, minlength=size)):
                result.append(name)
        return result

    def joint_codes(self, names: Sequence[str]) -> tuple[Ints, Ints]:
        """Assign numbers to the combinations of some columns, alike in both tables."""
        both = pl.concat([self.people.select(names), self.released.select(names)])
        result = equivalence_classes(nw.from_native(both, eager_only=True), list(names))
        return result.labels[: len(self.people)], result.labels[len(self.people) :]

    def sample(self, rng: np.random.Generator, among: Ints | None = None) -> Ints:
        """Draw the people to attack: everybody, or the number in `targets`, in ascending order."""
        pool = np.arange(len(self.people)) if among is None else among
        if len(pool) == 0:
            raise Inapplicable("there is nobody to attack: no original is known to be in the release")
        return pool if len(pool) <= self.targets else np.sort(rng.choice(pool, self.targets, replace=False))


def vars_of(scene: Scene) -> dict[str, Any]:
    """Return the fields of a scene, without cached properties."""
    return {name: getattr(scene, name) for name in Scene.__dataclass_fields__}


_LACKING = {
    "original": "it needs the original table to see whether the intruder is right: give "
    f"{hint('original', 'FILE')}",
    "links": "it needs to know which row belongs to whom: give a Release, or rows in the original's order "
    f"({hint('aligned')}), or publish a column unchanged that identifies people",
    "confidential": f"no confidential column is named: give {hint('confidential', ['COLUMN'])}",
    "numeric": "no key is a number or a date, so nothing is published as a mean",
    "earlier": f"it needs an earlier release about some of the same people: give {hint('earlier', 'FILE')}",
    "file": "it needs the published file itself, not a table in memory",
    "rerun": f"it needs the recipe, to make the release again: give {hint('recipe', 'FILE')} and "
    f"{hint('original', 'FILE')}",
    "matrices": "no matrix was published with the release",
    "units": f"every row is a person of its own: say which rows belong together ({hint('household')} or "
    f"{hint('person')}, "
    f"with {hint('original', 'FILE')})",
}
