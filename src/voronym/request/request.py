"""A request: the sorted and checked choices of a run, and the signature of functions that take them."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from voronym.core.options import Options
from voronym.core.registry import meant
from voronym.errors import InputError
from voronym.request.choices import OTHER_WORDS, ColumnChoices, ReleaseChoices, RunChoices
from voronym.request.recipe import Recipe
from voronym.request.wording import DECLARED
from voronym.table.table import Table

F = TypeVar("F", bound=Callable[..., Any])
PARTS: dict[str, type[Options]] = {"columns": ColumnChoices, "release": ReleaseChoices, "run": RunChoices}


@dataclass(frozen=True)
class Request:
    """The sorted and checked choices of a run.

    Parameters
    ----------
    columns : ColumnChoices
        Choices about the columns.
    release : ReleaseChoices
        Choices about the release.
    run : RunChoices
        Choices about the run.
    asked : tuple of str
        The given choices, including those at their defaults.

    Examples
    --------
    >>> request = Request.of({"keys": ["age"], "suppress": "1%"})
    >>> request.columns.keys, request.release.suppress
    (('age',), 0.01)
    """

    columns: ColumnChoices = field(default_factory=ColumnChoices)
    release: ReleaseChoices = field(default_factory=ReleaseChoices)
    run: RunChoices = field(default_factory=RunChoices)
    asked: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any], *, function: str = "anonymize") -> Request:
        """Sort choices by kind and check them; None means not chosen. An unknown name raises TypeError."""
        unknown = sorted(set(given) - set(DECLARED))
        if unknown:
            other = OTHER_WORDS.get(unknown[0])
            hint = (
                f"; it is called {other!r} here"
                if other
                else meant(unknown[0], DECLARED).replace(". ", "; ").replace("Did", "did")
                or "; options of a method are given as options={...}"
            )
            raise TypeError(f"{function}() got an unexpected keyword argument {unknown[0]!r}{hint}")
        made: dict[str, Any] = {
            part: kind(**{name: given[name] for name in kind.names() if given.get(name) is not None})
            for part, kind in PARTS.items()
        }
        asked = tuple(name for name, value in given.items() if not _empty(value))
        return cls(**made, asked=asked)

    @property
    def given(self) -> dict[str, Any]:
        """The choices that differ from their defaults."""
        return {**self.columns.given, **self.release.given, **self.run.given}

    def table(self, data: Any) -> Table:
        """Return a table with the roles that are asked for."""
        return Table.build(data, **vars(self.with_weights.columns))

    @property
    def with_weights(self) -> Request:
        """The request with the role "other" for the column of weights, so that it is kept."""
        columns, name = self.columns, self.release.weights
        roles = (columns.keys, columns.confidential, columns.identifiers, columns.other)
        if name is None or any(name in names for names in roles):
            return self
        return replace(self, columns=replace(columns, other=(*columns.other, name)))

    def recipe(self, table: Table, **instead: Any) -> Recipe:
        """Return the recipe for a table: its schema and the choices for the release."""
        reading = {} if table.source is None else table.source.reading.declared()
        return Recipe(table.schema, reading=reading, **{**vars(self.release), **instead})

    def refuse_beside(self, recipe: Recipe | None) -> None:
        """Refuse choices that a recipe states already."""
        plan = ("engine", "leaf", "rounds")  # a run over parts may be planned otherwise than by the recipe
        twice = [name for name in self.asked if name not in (*RunChoices.names(), *plan)]
        if recipe is not None and twice:
            raise InputError(
                "a recipe describes the columns and the release: use it without "
                f"{', '.join(twice)}, or change these in the recipe"
                + (" (keep_groups = true above the first table)" if "keep_groups" in twice else "")
            )


def _empty(value: Any) -> bool:
    """Whether a value means "not chosen": None, False or an empty collection, but not 0."""
    return value is None or value is False or (isinstance(value, (tuple, list, Mapping)) and not len(value))


def takes_choices(function: F) -> F:
    """Give a function with ``**choices`` the signature and the documentation of all choices.

    Its docstring has a line ``{choices}`` where their descriptions go.
    """
    plain = inspect.signature(function)
    own = [
        parameter for parameter in plain.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD
    ]
    more = [
        inspect.Parameter(
            declared.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=declared.default,
            annotation=declared.accepts,
        )
        for declared in DECLARED.values()
    ]
    first = [item for item in own if item.kind is not item.KEYWORD_ONLY]
    rest = [entry for entry in own if entry.kind is entry.KEYWORD_ONLY]
    function.__signature__ = plain.replace(parameters=[*first, *more, *rest])  # type: ignore[attr-defined]
    function.__doc__ = (function.__doc__ or "").replace("    {choices}\n", _described())
    return function


def _described() -> str:
    """Return the choices as parameters of a docstring."""
    lines = []
    for declared in DECLARED.values():
        usual = f" Default: {declared.usual}." if declared.usual else ""
        lines.append(f"    {declared.name} : {declared.accepts}")
        lines += textwrap.wrap(declared.text + usual, 110, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return "\n".join(lines) + "\n"
