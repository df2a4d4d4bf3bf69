"""Format numbers of files: check that this version can read a file, and word the error if not."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

from voronym.errors import InputError

__all__ = ["check_format", "program_version"]


@cache
def program_version() -> str:
    """Return the version of voronym that every output records."""
    return version("voronym")


def check_format(name: str, number: object, newest: int, oldest: int = 1) -> None:
    """Refuse a format that this version cannot read, with advice.

    Parameters
    ----------
    name : str
        The thing with the format, as the subject of a sentence: "the recipe".
    number : object
        The value in place of the number.
    newest, oldest : int
        The formats that are read.

    Examples
    --------
    >>> check_format("the recipe", 2, newest=2)
    >>> check_format("the recipe", 9, newest=2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    voronym.errors.InputError: the recipe was made by a newer voronym (format 9, this one reads 1 to 2): ...
    """
    reads = str(newest) if oldest == newest else f"{oldest} to {newest}"
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InputError(f"{name} needs a format number of 1 or more, not {number!r:.20}")
    if number > newest:
        raise InputError(
            f"{name} was made by a newer voronym (format {number}, this one reads {reads}): upgrade voronym"
        )
    if number < oldest:
        raise InputError(
            f"{name} was made by an older voronym (format {number}, this one reads {reads}): make it again"
        )
