"""A promise: a sentence about privacy, and who attacks it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """Who attacks a sentence, by which tests, and what they get.

    Parameters
    ----------
    intruder : str
        What the intruder knows or may do.
    tests : tuple of str
        Where the attack is, ``file::function`` under ``tests``.
    figure : str
        What the attack gets, as the test asks for it.
    words : str
        The sentence, where it is in a docstring.
    """

    intruder: str
    tests: tuple[str, ...]
    figure: str
    words: str = ""


KEYS = "knows the keys of everybody"
USER = "another user of the machine"
