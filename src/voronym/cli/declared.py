"""Flags for declared choices, and readers of their values.

A verb gets one parameter per choice, made from its declaration. It receives all typed values as one argument,
``typed``. `choices_of` reads them when the columns of the table are known.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from voronym.cli import complete
from voronym.core import grammar
from voronym.core.options import Declared, Options, read_value
from voronym.errors import InputError
from voronym.request.checks import EVERY
from voronym.request.choices import ColumnChoices, ReleaseChoices, RunChoices

ALL = (ColumnChoices, ReleaseChoices, RunChoices)
Verb = Callable[..., None]
Typed = Mapping[str, Any]


def takes(*kinds: type[Options], only: Collection[str] | None = None) -> Callable[[Verb], Verb]:
    """Give a verb the flags of some choices; it receives the values as ``typed``, a mapping by name."""
    declared = {
        name: choice
        for kind in kinds
        for name, choice in kind.declared().items()
        if only is None or name in only
    }

    def extended(verb: Verb) -> Verb:
        signature = inspect.signature(verb, eval_str=True)
        known = [parameter for parameter in signature.parameters.values() if parameter.name != "typed"]
        first = [item for item in known if item.default is item.empty]
        rest = [entry for entry in known if entry.default is not entry.empty]
        more = [_parameter(choice) for choice in declared.values()]

        @wraps(verb)
        def called(*args: Any, **given: Any) -> None:
            typed = {name: given.pop(name) for name in declared}
            asked = {name: text for name, text in typed.items() if text not in (None, False, [])}
            return verb(*args, **given, typed=asked)

        parameters = [element.replace(kind=element.KEYWORD_ONLY) for element in (*first, *more, *rest)]
        called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {member.name: member.annotation for member in parameters}
        return called

    return extended


def _parameter(choice: Declared) -> inspect.Parameter:
    kind: Any = str | None
    if choice.shape == "switch":
        kind = bool
    elif choice.shape != "value":
        kind = list[str] | None
    flag = typer.Option(
        choice.flag,
        help=choice.text,
        metavar=choice.value or None,
        show_default=choice.usual or (False if choice.default in (None, (), False) else str(choice.default)),
        rich_help_panel=choice.purpose,
        autocompletion=_COMPLETED.get(choice.name, complete.columns if choice.shape == "columns" else None),
    )
    default = False if choice.shape == "switch" else None
    return inspect.Parameter(
        choice.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, flag]
    )


_COMPLETED = {"method": complete.methods, "models": complete.models}


def choices_of(typed: Typed, columns: Sequence[str]) -> dict[str, Any]:
    """Read the typed values in the form that `voronym.anonymize` takes.

    Parameters
    ----------
    typed : mapping
        The argument ``typed`` of a verb with `takes`.
    columns : sequence of str
        The columns of the table: a name may have a comma in it.
    """
    declared = {name: choice for kind in ALL for name, choice in kind.declared().items()}
    return {name: _value(declared[name], text, columns) for name, text in typed.items()}


def _value(choice: Declared, typed: Any, columns: Sequence[str]) -> Any:
    if choice.name in _READ:
        return _READ[choice.name](typed, columns)
    if choice.shape == "columns":
        return names(typed, columns)
    if choice.shape == "by column":
        return {name: read_value(text) for name, text in pairs(typed, choice.flag).items()}
    if choice.shape == "value" and any(word in choice.accepts for word in ("int", "float")):
        return read_value(typed)
    return typed


def names(given: Sequence[str] | None, columns: Sequence[str] = ()) -> list[str]:
    """Split ``age,zip`` into names; do not split a column name that contains a comma."""
    return [name for item in given or () for name in grammar.names(item, columns)]


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """Split the ``name=value`` items of a flag into a dictionary."""
    return grammar.pairs(given or (), option, "zip-populations=zips.csv" if option == "--facts" else "")


def _models(typed: Sequence[str], _: Sequence[str]) -> list[str]:
    from voronym.privacy import split_models

    return split_models(typed)


def _publish(typed: Sequence[str], _: Sequence[str]) -> dict[str, str]:
    """Read ``--publish WAY`` and ``--publish COLUMN=WAY``."""
    return pairs([item if "=" in item else f"{EVERY}={item}" for item in typed], "--publish")


def kinds_of(typed: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """Read ``--kind A=x``, ``--kind A=x,B=y`` and ``--kind A,B=x``."""
    given = [pair for item in typed for pair in grammar.each_pair(item, columns)]
    return grammar.pairs(given, "--kind", "age=numeric")


def orders_of(typed: Sequence[str], columns: Sequence[str]) -> dict[str, list[str]]:
    """Read ``--order A=low<mid<high``."""
    given = grammar.pairs(typed, "--order", known=columns)
    out = {name: grammar.levels(text) for name, text in given.items()}
    if short := [name for name, order in out.items() if len(order) < 2]:
        raise InputError(
            "--order takes the levels from low to high, with < between them, in quotes: "
            f"--order '{short[0]}=low<mid<high'"
        )
    return out


def _locations(typed: Sequence[str], columns: Sequence[str]) -> list[tuple[str, str]]:
    return [grammar.place(item, "--location", columns) for item in typed]


def _trees(flag: str) -> Callable[[Sequence[str], Sequence[str]], dict[str, Any]]:
    """Return a reader for ``COLUMN=TEXT``, in which the text is a file name or a whole tree in JSON."""

    def read(typed: Sequence[str], _: Sequence[str]) -> dict[str, Any]:
        given = {name: (text, read_value(text)) for name, text in pairs(typed, flag).items()}
        return {
            name: tree if isinstance(tree, (dict, list)) else text for name, (text, tree) in given.items()
        }

    return read


_READ: dict[str, Callable[[Any, Sequence[str]], Any]] = {
    "kinds": kinds_of,
    "orders": orders_of,
    "models": _models,
    "publish": _publish,
    "locations": _locations,
    "hierarchies": _trees("--hierarchy"),
    "options": lambda typed, _: pairs(typed, "--option"),  # read by the method that takes them
    "metrics": _trees("--metrics"),
}
