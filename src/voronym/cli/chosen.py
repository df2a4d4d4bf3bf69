"""The options of the chosen method on the command line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from voronym.cli import common
from voronym.core.options import Shape
from voronym.errors import InputError
from voronym.request.choices import ReleaseChoices


def method_options(
    method: str,
    pairs: Mapping[str, str],
    own: Sequence[tuple[str, str]],
    columns: Sequence[str],
    flags: Sequence[str],
) -> dict[str, Any]:
    """Read the options of a method from ``--option NAME=VALUE`` and ``--NAME VALUE``.

    An option that takes columns may be repeated or take commas; one that takes a value for each column is
    written ``--metrics COLUMN=VALUE``, and may be repeated.
    """
    known = options_of(method)
    given: dict[str, list[str]] = {name: [text] for name, text in pairs.items()}
    for name, text in own:
        if name not in known:
            raise InputError(_unknown(name, method, known, flags))
        given.setdefault(name, []).append(text)
    return {name: common.option_value(name, texts, known.get(name), columns) for name, texts in given.items()}


def options_of(method: str) -> dict[str, Shape]:
    """Return the shape of every option that only this method has."""
    from voronym.method import METHODS

    shapes = METHODS[method].options.shapes()
    return {name: shape for name, shape in shapes.items() if name not in ReleaseChoices.names()}


def _unknown(name: str, method: str, known: Collection[str], flags: Sequence[str]) -> str:
    """Build the error for an unknown option: this method's options, and the methods that accept it."""
    from difflib import get_close_matches

    from voronym.method import METHODS

    wanted = common.flag(name)
    sentence = f"there is no option {wanted} for the method {method!r}, which takes: "
    sentence += ", ".join(map(common.flag, known)) or "none of its own"
    able = [f"--method {other}" for other in METHODS if name in options_of(other)]
    if able:
        return f"{sentence}. It is one of {' and of '.join(able)}"
    there = [*map(common.flag, known), *flags]
    # the beginning of a word counts as near to it: --drop to --drop-undeclared
    near = get_close_matches(wanted, there, 1, 0.75) or [
        item for item in there if item.startswith(f"{wanted}-")
    ]
    if near and near[0] in flags:  # an option of the verb itself: the method's options do not matter here
        return f"there is no option {wanted}. Did you mean {near[0]}?"
    if near:
        return f"{sentence}. Did you mean {near[0]}?"
    return f"{sentence}. See voronym anonymize --help"
