"""The dialect of a text file: declared by a person, or detected."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from voronym.errors import InputError, ReadError, hint
from voronym.table.moments import in_signs
from voronym.table.numerals import Comma

DELIMITERS = ",;\t|"
DECIMAL_COMMA: dict[str, Comma] = {";": "always", "\t": "clear", "|": "clear"}
_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}  # those of 32 bits first: one begins like that of 16
_SIGNS = {"\t": "tab", " ": "space", "\xa0": "no-break space", "\u202f": "narrow no-break space"}
_ENDS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}


@dataclass(frozen=True)
class Reading:
    """The declared dialect of a file to read; None means that it is detected.

    Parameters
    ----------
    delimiter : str, optional
        Between the cells of a text file.
    encoding : str, optional
        Encoding of a text or statistical file.
    decimal, thousands : str, optional
        The signs in numbers: "," and "." for 1.234,5. "income=." is about one column.
    date_format : str, optional
        Format of dates, as ``dd.mm.yyyy`` or ``%d.%m.%Y``.
    missing : tuple of str
        Values that mean that there is none: "-999", or "age=99" for one column.
    header : bool, optional
        Whether the first line holds the names of the columns. None: yes, and refuse one that looks like data.
    skip_rows : int
        Lines before the header, or before the data.
    skip_footer : int
        Lines at the end that are no records, such as a source; blank ones do not count.
    sheet : str, optional
        Name or number of the sheet of a spreadsheet.
    query : str, optional
        The SQL query of a database.

    Examples
    --------
    >>> Reading.of({"decimal": ",", "missing": ["-999"]}).declared()
    {'decimal': ',', 'missing': ['-999']}
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    missing: tuple[str, ...] = ()
    header: bool | None = None
    skip_rows: int = 0
    sheet: str | None = None
    skip_footer: int = 0
    query: str | None = None

    def __post_init__(self) -> None:
        for name in ("delimiter", "encoding", "decimal", "thousands", "date_format", "query"):
            if not isinstance(getattr(self, name), (str, type(None))):
                raise InputError(f"{name} must be a text")
        delimiter = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(
            self.delimiter or "", self.delimiter
        )
        object.__setattr__(self, "delimiter", delimiter)
        codes = [self.missing] if isinstance(self.missing, str) else self.missing or ()
        object.__setattr__(self, "missing", tuple(str(code) for code in codes))
        check_delimiter(delimiter)
        check_signs(self.decimal, None if self.thousands is None else sign_by_column(self.thousands)[1])
        if self.date_format is not None:
            check_date_format(self.date_format)
        for name in ("skip_rows", "skip_footer"):
            lines = getattr(self, name)
            if isinstance(lines, bool) or not isinstance(lines, int) or lines < 0:
                raise InputError(f"{name} must be a whole number of lines, 0 or more")
        if self.sheet is not None:
            object.__setattr__(self, "sheet", str(self.sheet))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Reading:
        """Build it from the names and values of a recipe; refuse unknown names."""
        if not isinstance(given, Mapping):
            raise InputError("reading must be a table of names and values")
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise InputError(f"reading has no {', '.join(map(repr, unknown))}; it has: {', '.join(known)}")
        return cls(**given)

    def declared(self) -> dict[str, Any]:
        """Return the declared values as plain types."""
        out = {field.name: getattr(self, field.name) for field in fields(self)}
        out["missing"] = list(self.missing)
        return {name: value for name, value in out.items() if value is not None and value not in ([], 0)} | (
            {"header": self.header} if self.header is not None else {}
        )


@dataclass(frozen=True)
class Dialect:
    """The form of a text file, as read or to be written.

    Parameters
    ----------
    delimiter : str
        Between cells.
    encoding : str
        Encoding of characters.
    bom : bool
        Whether the file begins with a byte order mark.
    newline : str
        At the end of lines.
    header : bool
        Whether the first line holds the names of the columns.
    quoted_header : bool
        Whether names are quoted that need not be.
    skip_rows : int
        Lines before the header; they are not written again.
    decimal, thousands, date_format : str, optional
        Forms of numbers and dates, if they differ from the source.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    bom: bool = False
    newline: str = "\n"
    header: bool = True
    quoted_header: bool = False
    skip_rows: int = 0
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None

    @property
    def codec(self) -> str:
        """Python's name of the encoding, the byte order mark included."""
        if not self.bom:
            return self.encoding
        return "utf-8-sig" if self.encoding == "utf-8" else self.encoding.rsplit("-", 1)[0]

    @property
    def mark(self) -> bytes:
        """The byte order mark, or an empty text."""
        return next(mark for mark, name in _BOMS.items() if name == self.encoding) if self.bom else b""

    def styled(self, **given: Any) -> Dialect:
        """Return the dialect with the given changes; None leaves a setting unchanged."""
        wanted = {name: value for name, value in given.items() if value is not None}
        check_delimiter(wanted.get("delimiter"))
        check_signs(wanted.get("decimal"), wanted.get("thousands"))
        if "date_format" in wanted:
            check_date_format(wanted["date_format"])
            wanted["date_format"] = in_signs(wanted["date_format"])
        if "newline" in wanted:
            ends = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
            newline = ends.get(wanted["newline"].lower(), wanted["newline"])
            if newline not in _ENDS:
                raise InputError("line ends are 'lf', 'crlf' or 'cr'")
            wanted["newline"] = newline
        if "encoding" in wanted:
            wanted["encoding"], wanted["bom"] = settle_encoding(wanted["encoding"])
        return replace(self, **wanted)

    def reading(self, missing: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the options of `voronym.read` for such a file."""
        known = {"delimiter": self.delimiter, "encoding": self.codec, "header": self.header}
        signs = {"decimal": self.decimal, "thousands": self.thousands, "date_format": self.date_format}
        result = {name: sign for name, sign in signs.items() if sign}
        return {**known, **result, "missing": missing}

    def says(self) -> str:
        """Return the dialect in a line."""
        parts = [
            f"delimiter {_sign(self.delimiter)}",
            self.encoding.upper() + (" with BOM" if self.bom else ""),
        ]
        parts += [_ENDS[self.newline]] if self.newline != "\n" else []
        parts += [] if self.header else ["no header"]
        return ", ".join(parts)


def _sign(sign: str) -> str:
    return _SIGNS.get(sign, f"'{sign}'")


def check_delimiter(delimiter: str | None) -> None:
    """Refuse an impossible delimiter."""
    if delimiter is not None and (
        not isinstance(delimiter, str) or len(delimiter.encode()) != 1 or delimiter in '"\r\n'
    ):
        raise InputError(
            "the delimiter must be a single ASCII character, and neither a quote nor a line break"
        )


def sign_by_column(thousands: str) -> tuple[tuple[str, ...], str]:
    """Return the columns that a thousands separator applies to (empty for all), and the separator.

    Examples
    --------
    >>> sign_by_column("."), sign_by_column("income,rent=.")
    (((), '.'), (('income', 'rent'), '.'))
    """
    names, given, sign = thousands.rpartition("=")
    return (tuple(name.strip() for name in names.split(",")), sign) if given else ((), thousands)


def check_signs(decimal: str | None, thousands: str | None) -> None:
    """Refuse impossible characters in numbers."""
    for what, sign in (("decimal mark", decimal), ("thousands separator", thousands or None)):
        if sign is not None and (not isinstance(sign, str) or len(sign) != 1 or sign in '0123456789+-"eE'):
            raise InputError(f"the {what} must be a single character, such as '.' or ','")
    if decimal is not None and decimal == thousands:
        raise InputError("the decimal mark and the thousands separator must differ")


def check_date_format(pattern: str) -> None:
    """Refuse a format that lacks day, month or year."""
    signs = in_signs(pattern) if isinstance(pattern, str) else ""
    lacking = [
        word
        for word, ways in {"day": ("%d", "%-d", "%e", "%j"), "month": ("%m", "%-m", "%b", "%B", "%j"),
                           "year": ("%Y", "%y")}.items()
        if not any(way in signs for way in ways)
    ]  # fmt: skip
    if lacking:
        raise InputError(
            f"the date format {pattern!r} has no {' and no '.join(lacking)}; write it as dd.mm.yyyy"
        )


def settle_encoding(name: str) -> tuple[str, bool]:
    """Return Python's name of an encoding, and whether its files begin with a byte order mark."""
    try:
        result = codecs.lookup(name).name
        "".encode(result)  # some are of bytes, not of characters
    except (LookupError, TypeError):
        raise ReadError(f"no encoding is called {name!r}; try 'utf-8', 'latin-1' or 'cp1252'") from None
    marked = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
    return marked.get(result, result), result in marked


def _zero_bytes(raw: bytes) -> str | None:
    """Return the two-byte encoding of a text without a byte order mark, by the positions of zero bytes."""
    even, odd = raw[::2], raw[1::2]
    if not odd or b"\0" not in raw:
        return None
    shares = (even.count(0) / len(even), odd.count(0) / len(odd))
    if max(shares) < 0.5 or min(shares) > 0.05:
        return None
    return "utf-16-le" if shares[1] > shares[0] else "utf-16-be"


def find_encoding(raw: bytes, name: str, declared: str | None) -> tuple[str, bool]:
    """Return the encoding of a text, and whether it begins with a byte order mark.

    If some bytes are not UTF-8, and no character beyond ASCII is, the file is read as Western Windows; it
    is written with the same bytes.
    """
    mark = next((bom for bom in _BOMS if raw.startswith(bom)), None)
    if declared is not None:
        encoding, _ = settle_encoding(declared)
        if mark is not None and _BOMS[mark][:6] == encoding[:6]:
            return _BOMS[mark], True
        if encoding[:6] in ("utf-16", "utf-32") and b"\0" not in raw[:4096]:
            raise ReadError(f"{name!r} is not {declared} text: it has no zero bytes; leave out the encoding")
        return encoding, False
    if mark is not None:
        return _BOMS[mark], True
    if (wide := _zero_bytes(raw[:4096])) is not None:
        raise ReadError(
            f"{name!r} looks like {wide.upper()} without a byte order mark: read it with "
            f"{hint('encoding', wide)}"
        )
    if b"\0" in raw[:4096]:
        raise ReadError(f"{name!r} is not text: it holds zero bytes; check its format or its encoding")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if raw.decode("utf-8", "ignore").isascii():
            try:
                raw.decode("cp1252")
                return "cp1252", False
            except UnicodeDecodeError:
                pass
        line = raw.count(b"\n", 0, error.start) + 1
        raise ReadError(
            f"{name!r} is not utf-8 text (line {line}); state its encoding, such as 'latin-1'"
        ) from None
    return "utf-8", False
