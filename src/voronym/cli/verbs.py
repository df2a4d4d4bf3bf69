"""The registry of verbs, the words after the program's name.

A verb is declared once, in its own module or in a plug-in, by the decorator `verb` on a function. The
function adds a command, or a group of commands, to a typer application. Help, completion and the checks of
the documentation read the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from voronym.core.registry import Registry
from voronym.errors import InputError

PURPOSES = ("First steps", "Make a release", "Judge a release", "Points and places", "Look up")
"""The purposes of verbs, in the order of the help page; plug-ins' headings follow."""

PROGRAM = (
    "voronym demo",
    "voronym inspect patients.csv",
    "voronym anonymize patients.csv -o release.csv --key age,sex,zip --confidential diagnosis "
    "--identifier name -k 5",
)
"""Examples for the help page of the program itself."""

Function = Callable[[typer.Typer], None]


@dataclass(frozen=True)
class Verb:
    """A registered verb.

    Parameters
    ----------
    name : str
        The word that users type.
    purpose : str
        The heading on the help page.
    register : callable
        Adds the verb to a typer application.
    examples : mapping
        Commands for its help, by subcommand; the key "" is for the verb itself.
    place : int
        Position under its heading; equal positions are sorted by name.
    """

    name: str
    purpose: str
    register: Function
    examples: Mapping[str, tuple[str, ...]]
    place: int

    def commands(self) -> dict[str, Any]:
        """Return its commands as objects of the library that reads the command line."""
        part = typer.Typer(add_completion=False)
        self.register(part)
        commands = dict(typer.main.get_group(part).commands)
        if list(commands) != [self.name]:
            raise InputError(f"the verb {self.name!r} adds {', '.join(map(repr, commands)) or 'nothing'}")
        return commands


VERBS: Registry[Verb] = Registry("verb")


def verb(
    name: str, *, purpose: str, examples: Sequence[str] | Mapping[str, Sequence[str]] = (), place: int = 9
) -> Callable[[Function], Function]:
    """Register a verb by a function that adds it to a typer application; see `Verb` for the arguments."""

    def add(function: Function) -> Function:
        groups = examples if isinstance(examples, Mapping) else {"": examples}
        lines = {words: tuple(commands) for words, commands in groups.items()}
        VERBS.add(name, Verb(name, purpose, function, lines, place))
        return function

    return add


def by_purpose() -> dict[str, list[str]]:
    """Return the names of the verbs under their headings, both in the order of the help page."""
    new = sorted({entry.purpose for entry in VERBS.values()} - set(PURPOSES))
    out: dict[str, list[str]] = {purpose: [] for purpose in (*PURPOSES, *new)}
    for entry in sorted(VERBS.values(), key=lambda entry: (entry.place, entry.name)):
        out[entry.purpose].append(entry.name)
    return {purpose: names for purpose, names in out.items() if names}


def examples_of(words: str) -> tuple[str, ...]:
    """Return the examples for a command path.

    Examples
    --------
    >>> examples_of("")[0]
    'voronym demo'
    """
    if not words:
        return PROGRAM
    name, _, rest = words.partition(" ")
    return VERBS[name].examples.get(rest, ()) if name in VERBS else ()
