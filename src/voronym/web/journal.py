"""The choices for a table, step by step: every change is kept, and can be undone and redone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from voronym.request.command import ROLES
from voronym.request.wording import DECLARED
from voronym.web.settings import Settings

LETTERS = "ABC"
MOST_ENTRIES = 200
"""Largest number of remembered changes; the oldest go first."""


@dataclass
class Entry:
    """A state of the choices, and its difference from the state before.

    Parameters
    ----------
    settings : Settings
        All choices.
    words : str
        The change, for a reader.
    source : str
        The field that it came from: typing on in one field is one change.
    effect : dict
        Loss and risk with these choices, once they were tried.
    """

    settings: Settings
    words: str
    source: str = ""
    effect: dict[str, Any] = field(default_factory=dict)


class Journal:
    """The history of all choices, and the entry in force."""

    def __init__(self, settings: Settings, words: str = "proposed") -> None:
        self.entries = [Entry(settings, words)]
        self.place = 0
        self.pins: dict[str, Entry] = {}
        """Pinned alternatives A, B and C."""
        self.version = 0
        """Number of changes so far; a window that shows a smaller number is out of date."""

    @property
    def settings(self) -> Settings:
        """The choices in force."""
        return self.entries[self.place].settings

    def keep(self, settings: Settings, source: str = "", words: str = "") -> None:
        """Record new choices, and drop the entries that were undone."""
        before = self.entries[self.place]
        if settings == before.settings:
            return
        del self.entries[self.place + 1 :]
        if source and source == before.source and self.place > 0:
            earlier = self.entries[self.place - 1]
            if earlier.settings == settings:  # typed, and typed back
                del self.entries[self.place]
            else:
                text = difference(earlier.settings, settings)
                self.entries[self.place] = Entry(settings, text, source)
        else:
            text = words or difference(before.settings, settings)
            self.entries.append(Entry(settings, text, source))
        del self.entries[1 : max(1, len(self.entries) - MOST_ENTRIES)]
        self.place = len(self.entries) - 1
        self.version += 1

    def move(self, steps: int) -> bool:
        """Undo changes (-1) or redo them (+1); return False if that is impossible."""
        target = self.place + steps
        if not 0 <= target < len(self.entries):
            return False
        self.place, self.version = target, self.version + 1
        self.entries[target].source = ""  # the next typed text is a change of its own
        return True

    def pin(self) -> str:
        """Keep the present choices as an alternative, and return its letter; the oldest of four goes."""
        here = self.entries[self.place]
        for letter, entry in self.pins.items():
            if entry.settings == here.settings:
                return letter
        free = next((letter for letter in LETTERS if letter not in self.pins), None)
        letter = next(iter(self.pins)) if free is None else free
        self.pins.pop(letter, None)
        self.pins[letter] = Entry(here.settings, here.words, effect=here.effect)
        self.version += 1
        return letter

    def tried(self, settings: Settings, effect: dict[str, Any]) -> None:
        """Store the result of choices, at any entry with these choices."""
        for entry in (*self.entries, *self.pins.values()):
            if entry.settings == settings:
                entry.effect = effect


def difference(before: Settings, after: Settings) -> str:
    """Describe the difference between two choices in words.

    Examples
    --------
    >>> old = Settings({"keys": ["age", "zip"], "k": 5})
    >>> difference(old, Settings({"keys": ["age"], "other": ["zip"], "k": 9}))
    'zip: key → other; k: 5 → 9'
    >>> difference(Settings({"pseudonyms": False}), Settings())
    'nothing'
    """
    old, new = before.roles, after.roles
    parts = [
        f"{name}: {old.get(name, 'no role')} → {new.get(name, 'no role')}"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]
    for name in DECLARED:
        if name in ROLES.values() or before.get(name) == after.get(name):
            continue
        parts += _changed(name, before.get(name), after.get(name))
    return "; ".join(parts) or "nothing"


def _changed(name: str, old: Any, new: Any) -> list[str]:
    label = name.replace("_", " ")
    if isinstance(old, dict) or isinstance(new, dict):
        was, now = dict(old or {}), dict(new or {})
        return [
            f"{label} of {'all keys' if key == '*' else key}: {_short(was.get(key))} → {_short(now.get(key))}"
            for key in dict.fromkeys([*was, *now])
            if was.get(key) != now.get(key)
        ]
    if _listed(old) and _listed(new):
        gone, come = [part for part in old if part not in new], [part for part in new if part not in old]
        changes = [f"{label}: without {_short(part)}" for part in gone]
        changes += [f"{label}: {_short(part)}" for part in come]
        return changes or [f"{label}: in another order"]
    return [f"{label}: {_short(old)} → {_short(new)}"]


def _listed(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _short(value: Any) -> str:
    if value is None or value == "" or value == ():
        return "none"
    text = " < ".join(map(str, value)) if _listed(value) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
