"""Recognise the content of a column: names, ages, dates, places, identifying numbers.

Columns are recognised by their names, in English, German, French and Spanish, and by their cells.
Unrecognised columns are listed for a person to check.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from voronym.errors import InputError
from voronym.policy.cells import DAY_ANYWHERE, Cell, Held, cells_of
from voronym.table.doubts.base import plain
from voronym.table.frame import as_frame

__all__ = ["WHAT", "Seen", "recognise", "strays"]

NOTHING = "none"
"""Declares that a column has none of the known contents."""

WHAT: dict[str, tuple[str, str]] = {
    "name": (
        "names of people",
        r"(^|_)(name|names|surname|forename|first_?name|last_?name|full_?name|patient_?name|maiden_?name|vorname|"
        r"nachname|familienname|nombre|apellidos?|nom|prenom|relative|next_of_kin|employer)($|_)",
    ),
    "email": ("e-mail addresses", r"(^|_)(e_?mail|mail|correo|courriel)s?($|_)"),
    "fax": ("fax numbers", r"(^|_)(fax|telefax)($|_)"),
    "phone": (
        "telephone numbers",
        r"(^|_)(phone|telephone|tel|mobile|handy|telefon|telefono|portable|cell)(_?(no|nr|number|nummer))?($|_)",
    ),
    "ssn": (
        "social security and other national numbers",
        r"(^|_)(ssn|social_security\w*|nhs|nino|dni|nie|insee|passport|reisepass|steuer_?id|tax_?id|ahv|"
        r"national_id|numero_securite_sociale)($|_)",
    ),
    "plan": (
        "numbers of a health plan or an insurance",
        r"(^|_)(insurance|versicherung|beneficiary|member|policy|plan|versicherten)_?(id|no|nr|number|nummer)($|_)|"
        r"(^|_)(versichertennummer|kvnr)($|_)",
    ),
    "account": (
        "account numbers",
        r"(^|_)(iban|bic|account|konto|compte|cuenta|card)(_?(id|no|nr|number|nummer))?($|_)|"
        r"(^|_)(kontonummer|kreditkarte)($|_)",
    ),
    "vehicle": (
        "vehicle identifiers",
        r"(^|_)(vin|plate|license_plate|number_plate|kennzeichen|immatriculation|matricula|vehicle_id)($|_)",
    ),
    "licence": (
        "numbers of certificates and licences",
        r"(^|_)(licen[cs]e|certificate|fuehrerschein|fuhrerschein|permis)(_?(id|no|nr|number|nummer))?($|_)",
    ),
    "device": (
        "device identifiers",
        r"(^|_)(device|imei|serial|geraet|gerat|mac)(_?(id|no|nr|number|nummer|address))?($|_)",
    ),
    "url": ("web addresses", r"(^|_)(url|website|web_?page|homepage|link)($|_)"),
    "ip": ("internet addresses", r"(^|_)(ip|ip_?address|ip_?adresse)($|_)"),
    "biometric": (
        "biometric identifiers",
        r"(^|_)(fingerprint|fingerabdruck|voice_?print|iris_scan|retina|biometric\w*)($|_)",
    ),
    "photo": ("photographs", r"(^|_)(photo|foto|picture|portrait|image|face)($|_)"),
    "record": (
        "record numbers and numbers of people",
        r"(^|_)(mrn|medical_record\w*|patient_?(id|no|nr|number|nummer)|patienten_?(id|nr|nummer)|case_?(id|no|number)|"
        r"fall_?(id|nr|nummer)|person_?(id|no|nr|number)|subject_?(id|no|number)?|usubjid|respondent(_?id)?|"
        r"household_?(id|no|nr|number)|hh_?(id|no|nr)|haushalts?_?(id|nr|nummer)?|member_?id|record_?(id|no|number)|study_id|"
        r"id|uuid|guid|nummer|dossier|numero|id_\w+|\w+_id|user|username|login)($)",
    ),
    "birth": (
        "dates and years of birth",
        r"(birth|(^|_)born($|_)|(^|_)dob($|_)|geburt|(^|_)geb_|naissance|nacimiento)",
    ),
    "age": (
        "ages",
        r"(^|_)(age|alter|lebensalter|edad|ages|aged)($|_(?!group_of)|_?(years|jahre|in_years|at_\w+)$)",
    ),
    "zip": (
        "postal codes",
        r"(^|_)(zip|zip_?code|zip3|zip5|post_?code|postal|postal_?code|plz|postleitzahl|code_?postal|cp|"
        r"codigo_?postal)($|_)",
    ),
    "place": (
        "places smaller than a state",
        r"(^|_)(address|adresse|anschrift|direccion|street|strasse|rue|calle|city|town|village|county|"
        r"district|precinct|parish|municipality|borough|tract|neighbou?rhood|ort|wohnort|stadt|gemeinde|kreis|"
        r"landkreis|bezirk|viertel|commune|ville|quartier|canton|departement|municipio|ciudad|localidad|barrio|"
        r"lat|latitude|lon|lng|longitude|geocode)($|_)",
    ),
    "date": (
        "dates about a person",
        r"(^|_)(date|datum|fecha|day|tag|admitted|admission|discharged?|died|death|deceased|visit(ed)?|"
        r"aufnahme|entlassung|entree|sortie|ingreso|alta|time|timestamp|zeitpunkt)($|_)",
    ),
    "income": (
        "incomes and amounts of money",
        r"(income|salary|wage|earning|einkommen|gehalt$|lohn|salaire|revenu|salario|sueldo|ingresos|wealth|vermoegen)",
    ),
    "text": ("free text", r"(^|_)(note|notes|comment|comments|remark|remarks|freitext|bemerkung|anmerkung|"
             r"commentaire|observaciones?|narrative|history)($|_)"),
    "code": ("other numbers and codes that one person has", r"(?!)"),
}  # fmt: skip
"""Contents of columns by the policy's word: a description, and usual names of columns."""

_STRAYS = {
    "email": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]{2,}"),
    "url": re.compile(r"https?://|(?<![\w@.])www\.\w"),
    "ip": re.compile(r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.])"),
    "ssn": re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])"),
    "phone": re.compile(r"(?<![\w])\+\d{1,3}[ /-]?\(?\d{2,4}\)?[ /-]?\d{3,}|\(\d{3}\) ?\d{3}-\d{4}|"
                        r"(?<![\d-])\d{3}-\d{3}-\d{4}(?![\d-])"),
}  # fmt: skip
_UNIQUE, _ROWS, _LONG, _APART = 0.95, 20, 40, 0.3


@dataclass(frozen=True)
class Seen:
    """A column: its content, the evidence for it, and its distinct cells.

    Parameters
    ----------
    name : str
        The column.
    what : str, optional
        A word of `WHAT`; None if nothing was recognised.
    why : str
        By its name, by its cells, or as declared.
    cells : tuple of Held
        Its distinct cells with their counts.
    """

    name: str
    what: str | None
    why: str
    cells: tuple[Held, ...]

    @property
    def empty(self) -> bool:
        """Whether every cell is suppressed or missing."""
        return all(cell.cell.sort == "gone" for cell in self.cells)


def recognise(frame: Any, given: Mapping[str, str] | None = None) -> dict[str, Seen]:
    """Return the content of each column of a table.

    Parameters
    ----------
    frame : DataFrame
        pandas, Polars, PyArrow or narwhals.
    given : mapping, optional
        The declared content of columns: a word of `WHAT`, or "none".

    Examples
    --------
    >>> import polars as pl
    >>> seen = recognise(pl.DataFrame({"PLZ": ["10115"], "Alter": [44], "sex": ["f"]}))
    >>> {name: one.what for name, one in seen.items()}
    {'PLZ': 'zip', 'Alter': 'age', 'sex': None}
    """
    table: nw.DataFrame[Any] = as_frame(frame)
    words = dict(given or {})
    for name, what in words.items():
        check_word(what)
        if name not in table.columns:
            raise InputError(f"the table has no column {name!r}, which was declared to hold {what}")
    every = {name: tuple(cells_of(table[name])) for name in table.columns}
    return recognise_cells(every, len(table), words)


def recognise_cells(
    cells: Mapping[str, tuple[Held, ...]], rows: int, given: Mapping[str, str] | None = None
) -> dict[str, Seen]:
    """Recognise the content of columns from counts of distinct cells, such as counts over many files."""
    words = dict(given or {})
    return {name: _seen(name, own, rows, words.get(name)) for name, own in cells.items()}


def check_word(what: str) -> str:
    """Refuse a word that no column can be."""
    if what not in (*WHAT, NOTHING):
        raise InputError(
            f"{what!r} is no content that voronym knows; there are: {', '.join(WHAT)}, {NOTHING}"
        )
    return what


def _seen(name: str, cells: tuple[Held, ...], rows: int, given: str | None) -> Seen:
    if given is not None:
        return Seen(name, None if given == NOTHING else given, "somebody says so", cells)
    called = _called(name)
    for what, (_, pattern) in WHAT.items():
        if re.search(pattern, called) and _fits(what, cells):
            return Seen(name, what, "by its name", cells)
    return Seen(name, *_by_cells(cells, rows), cells)


def _called(name: str) -> str:
    """Return a name in small letters without accents, its words parted by underscores."""
    letters = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    return plain("".join(sign for sign in letters if not unicodedata.combining(sign)))


def _fits(what: str, cells: tuple[Held, ...]) -> bool:
    """Whether cells fit the name of their column: ages, dates and incomes contain numbers."""
    shown = [item.cell for item in cells if item.cell.sort != "gone"]
    if not shown:
        return True
    if what == "age":
        return _share(shown, lambda cell: cell.sort == "number") >= 0.5
    if what in ("date", "birth"):
        return _share(shown, lambda cell: cell.sort == "date" or _year(cell)) >= 0.5
    if what == "income":
        return _share(shown, lambda cell: cell.sort == "number") >= 0.5
    if what == "text":
        return _share(shown, lambda cell: len(cell.text) > _LONG) >= 0.05 or len(shown) > 50
    return True


def _year(cell: Any) -> bool:
    return bool(cell.sort == "number" and cell.bottom >= 1850 and cell.top <= 2150)


def _share(cells: list[Cell], test: Callable[[Cell], bool]) -> float:
    return sum(map(test, cells)) / len(cells)


def _by_cells(cells: tuple[Held, ...], rows: int) -> tuple[str | None, str]:
    shown = [item for item in cells if item.cell.sort != "gone"]
    if not shown:
        return None, ""
    held = sum(element.rows for element in shown)
    for what, pattern in _STRAYS.items():
        if sum(result.rows for result in shown if pattern.search(result.cell.text)) >= 0.5 * held:
            return what, "by its cells"
    if sum(member.rows for member in shown if member.cell.sort == "date") >= 0.5 * held:
        return "date", "by its cells"
    words = [entry.cell for entry in shown if entry.cell.sort == "text"]
    apart = len(shown) >= _APART * held  # sets of categories are long, too, and shared
    if apart and len(words) >= 0.5 * len(shown) and _share(words, lambda cell: len(cell.text) > _LONG) >= 0.5:
        return "text", "by its cells"
    distinct = len(shown) >= _UNIQUE * held and held >= _ROWS and held >= 0.5 * rows
    if distinct and len(words) >= 0.9 * len(shown):
        return "code", "by its cells, nearly all of which differ"
    return None, ""


def strays(seen: Seen, what: str) -> int:
    """Count the rows of a column whose cells contain something else, such as an e-mail address or a date."""
    if what == "date":
        return sum(
            item.rows
            for item in seen.cells
            if item.cell.sort in ("text", "code") and DAY_ANYWHERE.search(item.cell.text)
        )
    pattern = _STRAYS.get(what)
    if pattern is None:
        return 0
    return sum(
        cell.rows
        for cell in seen.cells
        if cell.cell.sort in ("text", "code") and pattern.search(cell.cell.text)
    )
