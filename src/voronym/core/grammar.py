"""The grammar of typed choices: ``name=value,option=value``, on the command line, in recipes, on the page.

A *step* is ``[after] name column,column=value option=value``, separated by spaces. A *model* is
``name=value,option=value``. A choice per column is ``name=value``; for kinds, ``name,name=value`` is short
for two of them. *Levels* are ``low<mid<high``. A *place* is ``lat,lon``. A name that contains a space, a
comma, an ``=`` or a quote is put in quotes, with inner quotes doubled: ``top "net income"=90000``. If the
columns are known, their names are recognised without quotes, too. The value of a model's option needs quotes
if it is ambiguous: ``column="a,b"``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from voronym.errors import InputError

_WORD = re.compile(r'(?:"(?:[^"]|"")*"|[^\s"])+')
_PART = re.compile(r'"(?:[^"]|"")*"|.', re.DOTALL)
_PLAIN = re.compile(r'[^\s",=]+')
_OPENS = re.compile(r'\s*(?:[^\s=",]+\s*=\s*){1,2}"')
"""The start of a quoted value: ``option="`` or, at the head of a model, ``name=option="``."""
_QUOTED = re.compile(r'"((?:[^"]|"")*)"\s*(?=,|\Z)')


def words(text: str) -> list[str]:
    """Split a text at spaces outside quotes; keep the quotes."""
    result = _WORD.findall(text)
    if "".join(result) != re.sub(r'("(?:[^"]|"")*")|\s+', lambda item: item[1] or "", text):
        raise InputError(f"{text}: a quote is opened and not closed; write a quote inside quotes twice")
    return result


def split(word: str, mark: str, most: int = 0) -> list[str]:
    """Split a word at a character outside quotes; keep the quotes."""
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
    """Return a name as it is written in a step.

    Examples
    --------
    >>> quoted("age"), quoted("net income")
    ('age', '"net income"')
    """
    return name if _PLAIN.fullmatch(name) else _in_quotes(name)


def listed(names: Sequence[str]) -> str:
    """Return names with commas between them."""
    return ",".join(map(quoted, names))


def names(word: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of a comma-separated list; a known name may contain commas or quotes.

    Examples
    --------
    >>> names("age, zip"), names("a,b", ["a,b"]), names('"a,b",age')
    (('age', 'zip'), ('a,b',), ('a,b', 'age'))
    """
    if word in known:
        return (word,)
    plain = [part.strip() for part in word.split(",")]
    if known and all(part in known for part in plain if part):
        return tuple(part for part in plain if part)
    return tuple(result for part in split(word, ",") if (result := unquoted(part.strip())))


def name_of(text: str) -> str:
    """Return the text before the first ``=``: the name.

    Examples
    --------
    >>> name_of("t-closeness=0.2,column=income"), name_of("p-sensitive")
    ('t-closeness', 'p-sensitive')
    """
    return text.partition("=")[0].strip()


def pair(text: str, known: Collection[str] = ()) -> tuple[str, str | None]:
    """Split ``name=value``; the value is None without ``=``.

    A name may be quoted. A known name may contain an ``=`` without quotes.

    Examples
    --------
    >>> pair("age = 2"), pair('"a=b"=2'), pair("age"), pair("a=b=2", ["a=b"])
    (('age', '2'), ('a=b', '2'), ('age', None), ('a=b', '2'))
    """
    text = text.strip()
    if (begun := _known_start(text, known, "=")) is not None:
        return begun, text[len(begun) + 1 :].strip()
    if text.startswith('"') and (opened := re.match(r'"((?:[^"]|"")*)"\s*(?==|\Z)', text)) is not None:
        name, rest = opened[1].replace('""', '"'), text[opened.end() :]
        return name, rest[1:].strip() if rest else None
    name, sign, value = text.partition("=")
    return name.strip(), value.strip() if sign else None


def _known_start(text: str, known: Collection[str], signs: str) -> str | None:
    """Return the longest known name at the start of a text, followed by one of ``signs``; else None."""
    there = [name for name in known if text.startswith(name) and text[len(name) : len(name) + 1] in [*signs]]
    return max(there, key=len, default=None)


def pairs(given: Iterable[str], where: str, such: str = "", known: Collection[str] = ()) -> dict[str, str]:
    """Split several ``name=value`` items into a dictionary; the error names the wrong item.

    Parameters
    ----------
    given : iterable of str
        The typed items.
    where : str
        The flag or the field, for messages.
    such : str
        An example, for messages.
    known : collection of str
        Names that may have an ``=`` in them.
    """
    out: dict[str, str] = {}
    typed = list(given)
    for number, item in enumerate(typed, 1):
        name, value = pair(item, known)
        if not name or not value:
            place = f" (entry {number} of {len(typed)})" if len(typed) > 1 else ""
            example = f", such as {such}" if such else ""
            raise InputError(f"{where} takes NAME=VALUE{example}, not {item!r}{place}")
        if name in out:
            raise InputError(f"{where} says {name!r} twice")
        out[name] = value
    return out


def each_pair(item: str, known: Collection[str] = ()) -> list[str]:
    """Split ``a=x,b=y`` or ``a,b=x`` into ``name=value`` items with quoted names; known names come first.

    Examples
    --------
    >>> each_pair("a=x,b=y"), each_pair("a,b=x"), each_pair("a,b=x", ["a,b"])
    (['"a"=x', '"b"=y'], ['"a"=x', '"b"=x'], ['"a,b"=x'])
    """
    out: list[str] = []
    waiting: list[str] = []
    rest = item.strip()
    while rest:
        name = _known_start(rest, known, "=,") or split(split(rest, "=", 1)[0], ",", 1)[0]
        sign, rest = rest[len(name) : len(name) + 1], rest[len(name) + 1 :]
        waiting.append(name.strip() if name in known else unquoted(name.strip()))
        if sign == "=":
            value, _, rest = rest.partition(",")
            out += [f"{_in_quotes(name)}={value}" for name in waiting]
            waiting = []
    return [*out, *waiting]


def _in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def levels(text: str) -> list[str]:
    """Return the levels of ``low<mid<high``, lowest first.

    Examples
    --------
    >>> levels("low < mid<high"), levels("")
    (['low', 'mid', 'high'], [])
    """
    return [level.strip() for level in text.split("<") if level.strip()]


def written_levels(order: Iterable[str]) -> str:
    """Return levels as `levels` reads them."""
    return "<".join(order)


def place(text: str, where: str, known: Collection[str] = ()) -> tuple[str, str]:
    """Return the two columns of ``lat,lon``.

    Examples
    --------
    >>> place("y, x", "--location"), place('"lat, deg",lon', "--location")
    (('y', 'x'), ('lat, deg', 'lon'))
    """
    parts = names(text, known)
    if len(parts) != 2:
        raise InputError(f"{where} takes two columns, LAT,LON, not {text!r}")
    return parts[0], parts[1]


def comma_parts(text: str) -> list[str]:
    """Split the text of a model at the commas outside quotes."""
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
    """Whether a whole value is quoted."""
    return _QUOTED.fullmatch(value) is not None


def value_of(text: str) -> str:
    """Return the value of a model's option without its quotes."""
    match = _QUOTED.fullmatch(text)
    return text if match is None else match[1].replace('""', '"')


def written_value(value: str, beginning: Collection[str]) -> str:
    """Return the value of a model's option, in quotes if it would otherwise be read differently.

    ``beginning`` are the names of models, which must not follow a comma.
    """
    begins = any(part.strip() in beginning for part in value.split(",")[1:])
    if "=" in value or value.startswith('"') or value != value.strip() or begins:
        return '"' + value.replace('"', '""') + '"'
    return value
