"""A sentence that keeps its message and its values separate, so that reports can translate it."""

from __future__ import annotations


def numbered(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> numbered(1, "level"), numbered(1200, "row")
    ('1 level', '1,200 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class Sentence(str):
    """A text, together with its message and the values that fill the message's places.

    Parameters
    ----------
    message : str
        The message, with placeholders such as ``{people}``.
    **given : str
        Values of the placeholders: texts or sentences, with numbers in English form.

    Examples
    --------
    >>> made = Sentence("{many} of them are {what}.", many="57 %", what=Sentence("found"))
    >>> made
    '57 % of them are found.'
    >>> made.message, made.given["many"]
    ('{many} of them are {what}.', '57 %')
    """

    message: str
    given: dict[str, str]

    def __new__(cls, message: str, /, **given: str) -> Sentence:
        """Fill the places of the message."""
        made = super().__new__(cls, message.format(**given) if given else message)
        made.message, made.given = message, given
        return made
