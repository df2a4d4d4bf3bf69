"""The text form of a step: ``[after] name column,column=value option=value``.

Words are parted by spaces. A name with a space, a comma, an ``=`` or a quote in it stands in quotes, with
quotes inside it doubled: ``top "net income"=90000``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from voronym.errors import InputError

_WORD = re.compile(r'(?:"(?:[^"]|"")*"|[^\s"])+')
_PART = re.compile(r'"(?:[^"]|"")*"|[^"]')
_PLAIN = re.compile(r'[^\s",=]+')


def words(text: str) -> list[str]:
    """Split a text at spaces outside quotes; the quotes stay."""
    result = _WORD.findall(text)
    if "".join(result) != re.sub(r'("(?:[^"]|"")*")|\s+', lambda item: item[1] or "", text):
        raise InputError(f"{text}: a quote is opened and not closed; write a quote inside quotes twice")
    return result


def split(word: str, mark: str, most: int = 0) -> list[str]:
    """Split a word at a sign outside quotes, and take the quotes off the parts."""
    out, cuts = [""], 0
    for part in _PART.findall(word):
        if part == mark and (most == 0 or cuts < most):
            out.append("")
            cuts += 1
        else:
            out[-1] += part
    return out


def unquoted(text: str) -> str:
    """Take the quotes off a name."""
    return re.sub(r'"((?:[^"]|"")*)"', lambda item: item[1].replace('""', '"'), text)


def quoted(name: str) -> str:
    """Return a name as it can stand in a step.

    Examples
    --------
    >>> quoted("age"), quoted("net income")
    ('age', '"net income"')
    """
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def listed(names: Sequence[str]) -> str:
    """Return names with commas between them."""
    return ",".join(map(quoted, names))


def names(word: str) -> tuple[str, ...]:
    """Return the names of a list with commas."""
    return tuple(result for part in split(word, ",") if (result := unquoted(part)))
