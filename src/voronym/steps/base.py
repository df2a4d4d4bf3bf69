"""Steps, their registry, and how a list of them is run."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeVar

import narwhals as nw
import numpy as np

from voronym.core import grammar
from voronym.core.chance import masking
from voronym.core.options import option, read_value
from voronym.core.registry import Registry, meant
from voronym.core.validate import checked
from voronym.errors import InputError, SchemaError
from voronym.steps.effect import Effect, Seen
from voronym.table.classes import equivalence_classes
from voronym.table.frame import Series, listing
from voronym.table.schema import Schema
from voronym.table.table import Table
from voronym.table.units import first_of_each

When = Literal["before", "after"]
Made = Mapping[str, Series]


@dataclass(frozen=True)
class ColumnStep(ABC):
    """A change to some columns, independent of the groups.

    A subclass is a frozen dataclass under the decorator `step`; its further fields are made by
    `voronym.core.options.option`. Its text form is ``name columns=value option=value``, where ``value`` is
    that of the field named by ``main``.

    Parameters
    ----------
    columns : tuple of str
        The columns that are changed.
    when : {"before", "after"}
        Whether the step changes the records before they are grouped, or the published values of groups. For
        columns that are no keys there is no difference.
    """

    columns: tuple[str, ...]
    when: When = "before"

    name: ClassVar[str] = ""
    guarantee: ClassVar[str] = ""
    main: ClassVar[str | None] = None
    """The field whose value follows ``columns=``."""
    needed: ClassVar[bool] = True
    """Whether the main field is required."""
    random: ClassVar[bool] = False
    """Whether it draws at random for each row; then equal rows of one person must get the same draw."""
    averages: ClassVar[bool] = False
    """Whether it publishes means of several people: then a changed mean reveals the change in it."""
    once: ClassVar[bool] = False
    """Whether equal values of one person or household count once, although nothing is random."""

    def __post_init__(self) -> None:
        """Check every value."""
        given = (self.columns,) if isinstance(self.columns, str) else tuple(self.columns)
        if not given or not all(isinstance(item, str) and item for item in given):
            raise InputError(f"step {self.name!r} needs the columns that it is about: {self.usage()}")
        if len(set(given)) < len(given):
            raise InputError(f"step {self.name!r}: a column is named twice")
        object.__setattr__(self, "columns", given)
        for entry in _own(type(self)):
            value, check = getattr(self, entry.name), entry.metadata.get("check")
            if entry.name == self.main and self.needed and value is None:
                raise InputError(f"step {self.name!r} lacks a value: {self.usage()}")
            if check is not None and value is not None and value is not entry.default:
                object.__setattr__(self, entry.name, check(entry.name, value))
        self.check()

    def check(self) -> None:  # noqa: B027 - most have nothing to refuse
        """Refuse options that exclude each other."""

    @abstractmethod
    def apply(self, table: Table, rng: np.random.Generator, least: int) -> Made:
        """Return the columns after the step.

        Parameters
        ----------
        table : Table
            The records as earlier steps left them.
        rng : Generator
            Generator for random steps.
        least : int
            The k of the release: figures of fewer people must not be published.
        """

    @abstractmethod
    def says(self) -> str:
        """Describe the step, in a sentence without a full stop."""

    def schema(self, table: Table) -> Schema | None:
        """Return the schema after the step; None if no column changes its kind."""
        return None

    def informed(self, trees: Mapping[str, Any]) -> ColumnStep:
        """Return the step with the hierarchies of the recipe filled in."""
        return self

    def left_of(self, trees: Mapping[str, Any]) -> dict[str, Any]:
        """Return the hierarchies of columns after the step."""
        return dict(trees)

    @property
    def by_row(self) -> bool:
        """Whether the new values of a row depend only on its own values and public rules."""
        return False

    @property
    def cuts_lines(self) -> bool:
        """Whether it turns numbers or dates into ranges, which are then categories."""
        return False

    def becomes(self, values: Sequence[str]) -> list[str]:
        """Return the new value of each category."""
        return list(values)

    def in_public(self) -> ColumnStep:
        """Return the step in a form that does not depend on the data."""
        return self

    def warns(self, before: Table, after: Table) -> str | None:
        """Return a remark for the data holder about the result, or None."""
        return None

    @classmethod
    def usage(cls) -> str:
        """Return its syntax."""
        main = "" if cls.main is None else f"={cls.main.upper()}" if cls.needed else f"[={cls.main.upper()}]"
        more = "".join(f" [{item.name}={item.name.upper()}]" for item in _own(cls) if item.name != cls.main)
        return f"{cls.name} COLUMN{main}{more}"

    def __str__(self) -> str:
        value = None if self.main is None else getattr(self, self.main)
        head = grammar.listed(self.columns) + ("" if value in (None, ()) else f"={_written(value)}")
        more = [
            f"{item.name}={_written(getattr(self, item.name))}"
            for item in _own(type(self))
            if item.name != self.main and getattr(self, item.name) != item.default
        ]
        return " ".join([*(["after"] if self.when == "after" else []), self.name, head, *more])

    def check_columns(self, schema: Schema) -> None:
        """Refuse columns that are missing, or that no release has."""
        for name in (*self.columns, *self.asks()):
            if name not in schema:
                known = [column.name for column in schema]
                raise SchemaError(f"step '{self}': there is no column {name!r}{meant(name, known)}")
            if schema[name].role == "identifier":
                raise SchemaError(
                    f"step '{self}': {name!r} is dropped, as an identifier or because it has no role, so "
                    "no release has it"
                )

    def asks(self) -> tuple[str, ...]:
        """Return the columns that it reads and does not change."""
        return ()


STEPS: Registry[type[ColumnStep]] = Registry("step")
S = TypeVar("S", bound=type[ColumnStep])


def step(name: str, *, guarantee: str, main: str | None = None, needed: bool = True,
         random: bool = False) -> Callable[[S], S]:  # fmt: skip
    """Register a class of steps under the name that users type.

    Parameters
    ----------
    name : str
        The name that users type.
    guarantee : str
        The guarantee for every changed column.
    main : str, optional
        The field whose value follows ``columns=``.
    needed : bool
        Whether that value is required.
    random : bool
        Whether it draws at random.
    """

    def add(cls: S) -> S:
        cls.name, cls.guarantee, cls.main, cls.needed, cls.random = name, guarantee, main, needed, random
        STEPS.add(name, cls)
        return cls

    return add


@checked
def parse_step(text: str) -> ColumnStep:
    """Build a step from its text form.

    Examples
    --------
    >>> parse_step("top age=90")
    Top(columns=('age',), when='before', limit=90, publish='limit')
    >>> str(parse_step('after round "net income"=1000'))
    'after round "net income"=1000'
    """
    result = grammar.words(text)
    when: When = "before"
    if result and result[0] in ("before", "after") and len(result) > 1:
        when = "after" if result.pop(0) == "after" else "before"
    if not result:
        raise InputError(f"a step needs a name; there are: {', '.join(STEPS)}")
    cls = STEPS[result[0]]
    if len(result) < 2:
        raise InputError(f"step {cls.name!r} needs the columns that it is about: {cls.usage()}")
    head, *value = grammar.split(result[1], "=", 1)
    given: dict[str, Any] = {}
    own = {item.name: item for item in _own(cls)}
    if value and value[0]:
        if cls.main is None:
            raise InputError(f"step {cls.name!r} takes no value behind its columns: {cls.usage()}")
        given[cls.main] = _read(value[0], own[cls.main])
    for place, word in enumerate(result[2:], 3):
        name, *rest = grammar.split(word, "=", 1)
        if name not in own or name in given or not rest:
            outcome = (
                "is given twice" if name in given else "has no value" if name in own else "is no option of it"
            )
            raise InputError(
                f"step {cls.name!r}: {unquoted_short(name)} {outcome} (word {place}): {cls.usage()}"
            )
        given[name] = _read(rest[0], own[name])
    return cls(grammar.names(head), when, **given)


def unquoted_short(word: str) -> str:
    """Return a word of a step for a message."""
    return repr(grammar.unquoted(word)[:40])


def _own(cls: type[ColumnStep]) -> list[Any]:
    return [field for field in fields(cls) if field.name not in ("columns", "when")]


def _read(word: str, of: Any) -> Any:
    """Read a value of a field: a list if it takes one, else a number, a truth value or a text."""
    if of.metadata.get("shape") == "columns":
        return grammar.names(word)
    plain = grammar.unquoted(word)
    value = plain if word.startswith('"') else read_value(plain)
    return value if isinstance(value, (str, int, float, bool)) else plain


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return grammar.listed(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        word = grammar.quoted(value)
        return f'"{value}"' if word == value and not isinstance(read_value(value), str) else word
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def list_option(text: str) -> Any:
    """Declare an option that takes a list of names or values; empty by default."""
    return option((), text, check=_strings, shape="columns")


def _strings(_: str, value: Any) -> tuple[str, ...]:
    given = (value,) if isinstance(value, str) else tuple(value)
    return tuple(map(str, given))


def run(
    table: Table,
    steps: Sequence[ColumnStep],
    *,
    least: int,
    original: Table | None = None,
    grouped: Table | None = None,
    rng: np.random.Generator | None = None,
    watch: Callable[[ColumnStep, Table, Table], Table] | None = None,
) -> tuple[Table, tuple[Effect, ...], tuple[str, ...]]:
    """Run some steps, one after the other.

    Parameters
    ----------
    table : Table
        The records.
    steps : sequence of ColumnStep
        The steps.
    least : int
        The k of the release.
    original : Table, optional
        The original records, if other work has changed them since.
    grouped : Table, optional
        The grouped records, if the table holds the published values of groups.
    rng : Generator, optional
        Generator for tests only; by default a new one.
    watch : callable, optional
        ``(step, before, after) -> after``: looks at the result of a step, and may replace values.

    Returns
    -------
    table, effects, notes
        The records afterwards; the effect of each step; remarks for the data holder.
    """
    rng = masking(rng)
    effects, notes = [], []
    seen = Seen(table if original is None else original, least, start=table, grouped=grouped)
    for step in steps:
        step.check_columns(table.schema)
        lacking = [name for name in step.columns if name not in table.columns]
        if lacking:
            raise SchemaError(f"step '{step}': the table has no column {listing(lacking)} any more")
        made = (
            _drawn_once(step, table, rng, least)
            if step.random or step.once
            else step.apply(table, rng, least)
        )
        after = table.like(table.frame.with_columns(**made), table.source).typed(step.schema(table))
        if watch is not None:
            after = watch(step, table, after)
        after._early = table._early
        effects.append(seen.effect(str(step), step.says(), step.columns, table, after, draws=step.random))
        if note := step.warns(table, after):
            notes.append(note)
        table = after
    return table, tuple(effects), tuple(notes)


def _drawn_once(step: ColumnStep, table: Table, rng: np.random.Generator, least: int) -> Made:
    """Apply a random step; equal rows of one person or household get the same draw.

    With a separate draw for each row, the mean over a person's rows would reveal the hidden value. If
    households are declared, whose members may share a value, households count; otherwise people do.
    """
    units = table.units
    if units is None:
        return step.apply(table, rng, least)
    unit = units.household if units.household is not None else units.person
    assert unit is not None  # noqa: S101 - one of the two is declared
    own = equivalence_classes(table.frame, step.columns)
    pair = unit * np.int64(len(own.sizes)) + own.labels
    first = first_of_each(unit, own.labels)
    some = table.rows(first)
    made = step.apply(Table(some.frame, some.schema, some.labels, source=some.source), rng, least)
    order = np.argsort(pair[first], kind="stable")
    at = order[np.searchsorted(pair[first][order], pair)]
    return {name: nw.maybe_reset_index(column[at]) for name, column in made.items()}


def summary(cls: type[ColumnStep]) -> str:
    """Return the first line of a step's docstring."""
    return (inspect.getdoc(cls) or "").split("\n", 1)[0]
