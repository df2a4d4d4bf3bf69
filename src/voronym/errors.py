"""All errors of voronym, as one tree of exceptions.

Messages name columns and counts, never a person's values, and end with advice. The advice is a `Hint`: the
name of a choice and its value. Sentences carry hints as marks (`hint`). The surface that shows the sentence
words them: as flags on the command line, as arguments in Python, as fields on the page
(`voronym.request.wording`).
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

Surface = Literal["command", "python", "page", "marks"]
"""The reader of a message; "marks" leaves hints for later wording."""
WORDINGS: dict[str, Callable[[Hint], str]] = {}
"""How each surface words a hint; `voronym.request.wording` fills it."""
_MARK = re.compile("\ue000([a-z_]+)=([^\ue000\ue001]*)\ue001")
_spoken: list[Surface] = ["python"]


@dataclass(frozen=True)
class Hint:
    """A choice that would help, and the value to give it.

    Parameters
    ----------
    choice : str
        Its name, as declared in `voronym.request.choices`.
    value : object
        Its value; None if only the choice is named.
    """

    choice: str
    value: object = None


def hint(choice: str, value: object = None) -> str:
    """Return a mark for a hint within a sentence; `worded` turns it into words.

    Parameters
    ----------
    choice : str
        The name of a choice.
    value : object
        Columns, a mapping from columns, a text or a number; None to name the choice only.
    """
    return f"\ue000{choice}={json.dumps(value, default=str)}\ue001"


def hints_in(sentence: str) -> tuple[Hint, ...]:
    """Return the hints that a sentence carries."""
    return tuple(Hint(mark[1], json.loads(mark[2])) for mark in _MARK.finditer(sentence))


def worded(sentence: str, surface: Surface | None = None) -> str:
    """Return a sentence with its hints in words.

    Parameters
    ----------
    sentence : str
        A sentence, perhaps with marks of `hint`.
    surface : {"command", "python", "page", "marks"}, optional
        The surface for which to word; by default that of this process.

    Examples
    --------
    >>> sentence = f"allow it: {hint('allow_loss', ['income'])}"
    >>> worded(sentence), worded(sentence, "command")
    ("allow it: allow_loss=['income']", 'allow it: --allow-loss income')
    """
    surface = surface or _spoken[-1]
    if surface == "marks" or "\ue000" not in sentence:
        return sentence
    if not WORDINGS:
        importlib.import_module("voronym.request.wording")  # it stands far above, and knows every choice
    say = WORDINGS[surface]
    return _MARK.sub(lambda mark: say(Hint(mark[1], json.loads(mark[2]))), sentence)


@contextmanager
def speaking(surface: Surface) -> Iterator[None]:
    """Word hints for a surface, in all threads of this process, until the context ends."""
    _spoken.append(surface)
    try:
        yield
    finally:
        _spoken.pop()


def spoken() -> Surface:
    """Return the surface (command line, Python or page) for which hints are worded."""
    return _spoken[-1]


class VoronymError(Exception):
    """Base of every error that voronym raises on purpose."""

    def __str__(self) -> str:
        return self.worded()

    def worded(self, surface: Surface | None = None) -> str:
        """Return the message with its hints in the words of a surface; see `worded`."""
        return worded(super().__str__(), surface)

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The remedies: choices and their values."""
        return hints_in(super().__str__())


class InputError(VoronymError, ValueError):
    """Raised for an argument or a table that cannot be used; the message says how to change it."""


class SchemaError(InputError):
    """Raised if columns, roles and kinds do not fit the table."""


class ReadError(VoronymError):
    """A file or query could not be read as a table."""


class WriteError(VoronymError):
    """Raised if a release could not be written; no file is left."""


class GuaranteeError(VoronymError):
    """Raised if a required guarantee cannot be met or does not hold; nothing is released."""


class MissingExtraError(VoronymError, ImportError):
    """Raised if an optional library is missing; the message names the extra to install."""


class Cancelled(VoronymError):  # noqa: N818 - a wish that was granted
    """Raised when the work was cancelled; no result and no file is left."""


class Unfinished(VoronymError):  # noqa: N818 - a wish that could not be granted
    """Raised if a request to finish comes before there is a result."""
