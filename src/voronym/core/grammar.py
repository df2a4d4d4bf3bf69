"""The grammar of what people type: ``name=value,option=value``, on a command line, in a recipe, on the page.

A *step* is ``[after] name column,column=value option=value``, parted by spaces; a *model* is
``name=value,option=value``; a choice by column is ``name=value``. A name with a space, a comma, an ``=`` or
a quote in it stands in quotes, with quotes inside it doubled: ``top "net income"=90000``. The value of a
model's option stands in quotes where it could be taken for something else: ``column="a,b"``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from voronym.errors import InputError

_WORD = re.compile(r'(?:"(?:[^"]|"")*"|[^\s"])+')
_PART = re.compile(r'"(?:[^"]|"")*"|[^"]')
_PLAIN = re.compile(r'[^\s",=]+')
_OPENS = re.compile(r'\s*(?:[^\s=",]+\s*=\s*){1,2}"')
"""A part whose value begins with a quote: ``option="`` or, at the head of a model, ``name=option="``."""
_QUOTED = re.compile(r'"((?:[^"]|"")*)"\s*(?=,|\Z)')


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


def name_of(text: str) -> str:
    """Return what stands before the first ``=``.

    Examples
    --------
    >>> name_of("t-closeness=0.2,column=income"), name_of("p-sensitive")
    ('t-closeness', 'p-sensitive')
    """
    return text.partition("=")[0].strip()


def pair(text: str) -> tuple[str, str | None]:
    """Split ``name=value``; the value is None where there is no ``=``. A name may stand in quotes.

    Examples
    --------
    >>> pair("age = 2"), pair('"a=b"=2'), pair("age")
    (('age', '2'), ('a=b', '2'), ('age', None))
    """
    text = text.strip()
    if text.startswith('"') and (opened := re.match(r'"((?:[^"]|"")*)"\s*(?==|\Z)', text)) is not None:
        name, rest = opened[1].replace('""', '"'), text[opened.end() :]
        return name, rest[1:].strip() if rest else None
    name, sign, value = text.partition("=")
    return name.strip(), value.strip() if sign else None


def pairs(given: Iterable[str], where: str, such: str = "") -> dict[str, str]:
    """Split several ``name=value``; say which of them is wrong.

    Parameters
    ----------
    given : iterable of str
        What was typed.
    where : str
        The flag or the field, for messages.
    such : str
        An example, for messages.
    """
    out: dict[str, str] = {}
    typed = list(given)
    for number, item in enumerate(typed, 1):
        name, value = pair(item)
        if not name or not value:
            place = f" (entry {number} of {len(typed)})" if len(typed) > 1 else ""
            example = f", such as {such}" if such else ""
            raise InputError(f"{where} takes NAME=VALUE{example}, not {item!r}{place}")
        if name in out:
            raise InputError(f"{where} says {name!r} twice")
        out[name] = value
    return out


def comma_parts(text: str) -> list[str]:
    """Split the text of a model at the commas that do not stand in quotes."""
    out, at = [], 0
    while at <= len(text):
        opens = _OPENS.match(text, at)
        if opens is None:
            end = text.find(",", at)
            end = len(text) if end < 0 else end
        else:
            quoted = _QUOTED.match(text, opens.end() - 1)
            if quoted is None:
                raise InputError(
                    f"{text}: a quote is opened and not closed before the next comma or the end; "
                    'put the whole name in quotes, and write a quote in it twice: column="a ""b"""'
                )
            end = quoted.end()
        out.append(text[at:end])
        at = end + 1
    return out


def in_quotes(value: str) -> bool:
    """Whether a whole value stands in quotes."""
    return _QUOTED.fullmatch(value) is not None


def value_of(text: str) -> str:
    """Return the value of a model's option without its quotes."""
    match = _QUOTED.fullmatch(text)
    return text if match is None else match[1].replace('""', '"')


def written_value(value: str, beginning: Collection[str]) -> str:
    """Return the value of a model's option, in quotes where it would not be read back as it is.

    ``beginning`` are the names that begin a model, so that none may stand behind a comma.
    """
    begins = any(part.strip() in beginning for part in value.split(",")[1:])
    if "=" in value or value.startswith('"') or value != value.strip() or begins:
        return '"' + value.replace('"', '""') + '"'
    return value
