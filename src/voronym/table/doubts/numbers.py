"""National numbers and other numbers with check digits, which identify their owners.

Each function takes a text without spaces and separators, and returns whether it is well formed. A random
number of the right length passes once in 10 to 97 times, so a column of random numbers does not pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from voronym.core.registry import Registry

FORMS: Registry[Callable[[str], bool]] = Registry("form of number")
_SHARE, _FEWEST = 0.9, 10


def national_form(texts: Sequence[str]) -> str | None:
    """Return the kind of number that nearly all texts have, by their check digits; None if unknown.

    Examples
    --------
    >>> national_form(["12345678Z"] * 10)
    'Spanish identity numbers (DNI, NIE)'
    """
    if len(texts) < _FEWEST:
        return None
    bare = [re.sub(r"[\s./-]", "", text).upper() for text in texts]
    for name in FORMS:
        if sum(map(FORMS[name], bare)) >= _SHARE * len(bare):
            return name
    return None


@FORMS.register("international bank account numbers (IBAN)")
def iban(text: str) -> bool:
    """Check an IBAN (ISO 13616): country and check digits moved behind, letters as 10 to 35, modulo 97."""
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", text):
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


@FORMS.register("Spanish identity numbers (DNI, NIE)")
def dni(text: str) -> bool:
    """Check a Spanish DNI or NIE: eight digits (or X, Y, Z and seven), and a check letter modulo 23."""
    if not re.fullmatch(r"[XYZ\d]\d{7}[A-Z]", text):
        return False
    number = int(str("XYZ".find(text[0])) + text[1:8]) if text[0] in "XYZ" else int(text[:8])
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == text[8]


@FORMS.register("Dutch citizen service numbers (BSN)")
def bsn(text: str) -> bool:
    """Check a Dutch BSN: nine digits with weights 9 to 2 and -1, with a sum divisible by 11."""
    if not re.fullmatch(r"\d{9}", text) or text == "0" * 9:
        return False
    return sum(w * int(d) for w, d in zip((9, 8, 7, 6, 5, 4, 3, 2, -1), text, strict=True)) % 11 == 0


@FORMS.register("Polish personal numbers (PESEL)")
def pesel(text: str) -> bool:
    """Check a Polish PESEL: eleven digits, weights 1, 3, 7, 9, beginning with a date of birth."""
    if not re.fullmatch(r"\d{2}(?:[02468][1-9]|[13579][0-2])[0-3]\d{6}", text):
        return False
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)
    return sum(w * int(d) for w, d in zip(weights, text, strict=True)) % 10 == 0


@FORMS.register("German tax numbers (Steuer-ID)")
def steuer_id(text: str) -> bool:
    """Check a German tax number: eleven digits by ISO 7064, modulo 11 and 10."""
    if not re.fullmatch(r"[1-9]\d{10}", text):
        return False
    product = 10
    for digit in text[:10]:
        total = (int(digit) + product) % 10 or 10
        product = 2 * total % 11
    return (11 - product) % 10 == int(text[10])


@FORMS.register("French social security numbers (NIR)")
def nir(text: str) -> bool:
    """Check a French NIR: thirteen digits and a key, 97 less the remainder modulo 97."""
    if not re.fullmatch(r"[12]\d{2}(?:0[1-9]|1[0-2]|[2-9]\d)\d{10}", text):
        return False
    return 97 - int(text[:13]) % 97 == int(text[13:])


@FORMS.register("Swiss social security numbers (AHV)")
def ahv(text: str) -> bool:
    """Check a Swiss AHV number: thirteen digits beginning with 756, with the check digit of EAN-13."""
    if not re.fullmatch(r"756\d{10}", text):
        return False
    return sum((3 if i % 2 else 1) * int(d) for i, d in enumerate(text)) % 10 == 0


@FORMS.register("British patient numbers (NHS)")
def nhs(text: str) -> bool:
    """Check a British NHS number: ten digits, weights 10 to 2, modulo 11."""
    if not re.fullmatch(r"\d{10}", text):
        return False
    check = (11 - sum((10 - i) * int(d) for i, d in enumerate(text[:9])) % 11) % 11
    return check < 10 and check == int(text[9])


@FORMS.register("payment card numbers")
def card(text: str) -> bool:
    """Check a payment card number: fifteen or sixteen digits, Luhn's check."""
    return bool(re.fullmatch(r"[3-6]\d{14,15}", text)) and _luhn(text)


@FORMS.register("Swedish personal numbers (personnummer)")
def personnummer(text: str) -> bool:
    """Check a Swedish personnummer: a day of birth and ten or twelve digits, Luhn's check on the last ten."""
    if not re.fullmatch(r"(?:19|20)?\d{2}(?:0[1-9]|1[0-2])(?:[06][1-9]|[1278]\d|[39][01])\d{4}", text):
        return False
    return _luhn(text[-10:])


def _luhn(text: str) -> bool:
    doubled = [int(d) * (2 if i % 2 else 1) for i, d in enumerate(reversed(text))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0
