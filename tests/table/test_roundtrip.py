"""Forty dialects: what is kept is the same text, what is masked has the same form; checked on bytes alone."""

from __future__ import annotations

import datetime as dt
import random
import re
import warnings
from collections import Counter
from pathlib import Path

import pytest

import voronym as vr
from repeats import few

ROWS, K = 48, 3
DELIMITERS = [",", ";", "\t", "|"]
ENCODINGS = ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-8"]
NEWLINES = ["\n", "\r\n", "\r"]
QUOTES = ["needed", "all", "texts"]
GAPS = ["", "NA", ".", "-999"]
DATES = {
    "%Y-%m-%d": r"\d{4}-\d\d-\d\d",
    "%d.%m.%Y": r"\d\d\.\d\d\.\d{4}",
    "%m/%d/%Y": r"\d\d/\d\d/\d{4}",
    "%Y/%m/%d": r"\d{4}/\d\d/\d\d",
    "%d-%m-%Y": r"\d\d-\d\d-\d{4}",
    "%-d.%-m.%Y": r"[1-9]\d?\.[1-9]\d?\.\d{4}",
    "%d.%m.%Y %H:%M": r"\d\d\.\d\d\.\d{4} \d\d:\d\d",
}
AMOUNTS = {  # an example, and what every number of that form looks like
    "1234.50": r"\d+\.\d\d",
    "1.234,50": r"\d{1,3}(\.\d{3})*,\d\d",
    "1234,5": r"\d+,\d",
    "1,234.50": r"\d{1,3}(,\d{3})*\.\d\d",
    "$1,234": r"\$\d{1,3}(,\d{3})*",
    "1234.50 €": r"\d+\.\d\d €",
    "1'234.50": r"\d{1,3}('\d{3})*\.\d\d",
    "1 234,50": r"\d{1,3}( \d{3})*,\d\d",
    "1234 %": r"\d+ %",
    "1.234,50 €": r"\d{1,3}(\.\d{3})*,\d\d €",
    "1234": r"\d+",
}


def amount(value: float, like: str) -> str:
    prefix, suffix = re.match(r"\D*", like)[0], re.search(r"[^\d]*$", like)[0]
    body = like[len(prefix) : len(like) - len(suffix)]
    tail = re.search(r"234(?:([.,])(\d+))?$", body)
    places = len(tail[2]) if tail[2] else 0
    sign = body[1] if body[1] != "2" else ""
    whole, _, digits = f"{value:.{places}f}".partition(".")
    if sign:
        whole = f"{int(whole):,}".replace(",", sign)
    return prefix + whole + (tail[1] + digits if places else "") + suffix


def day(moment: dt.datetime, pattern: str) -> str:
    out = pattern.replace("%-d", str(moment.day)).replace("%-m", str(moment.month))
    return moment.strftime(out)


def case(number: int) -> dict[str, object]:
    return {
        "delimiter": DELIMITERS[number % 4],
        "encoding": ENCODINGS[number % 5],
        "newline": NEWLINES[number % 3],
        "quotes": QUOTES[(number // 2) % 3],
        "gap": GAPS[(number // 3) % 4],
        "date": list(DATES)[number % 7],
        "amount": list(AMOUNTS)[number % 11],
        "header": number % 6 != 5,
    }


NAMES = [
    "age",
    "sex",
    "paid",
    "born",
    "nace",
    "icd",
    "flag",
    "day",
    "stamp",
    "zip",
    "word",
    "cost",
    "kids",
    "sign",
]
KEYS = ["age", "sex", "paid", "born"]
TEXTS = {"sex", "zip", "word", "nace"}


def table(how: dict[str, object], seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    start, gap, like, pattern = dt.datetime(1950, 1, 13, 8, 30), str(how["gap"]), how["amount"], how["date"]
    rows = []
    for i in range(ROWS):
        born, seen = (
            start + dt.timedelta(days=rng.randrange(15_000), minutes=rng.randrange(900)) for _ in "ab"
        )
        rows.append(
            [
                str(rng.randrange(20, 80)),
                rng.choice(["f", "m", " m"]),
                amount(1_234_567 if i == 0 else rng.randrange(100, 90_000) + 0.25, str(like)),
                day(born, str(pattern)),
                rng.choice(["47.10", "47.1", "10.10", gap]),
                rng.choice(["3E10", "2E3", "1e5"]),
                rng.choice(["True", "False", "TRUE"]),
                day(seen, str(pattern)),
                f"2020-01-{rng.randrange(10, 29)} 10:0{rng.randrange(10)}",
                rng.choice(["08001", "43001", "00917"]),
                rng.choice(["Zoë, née; x|y", 'say "hi"', "übel ", "plain", "tab\there"]),
                amount(rng.randrange(1_000, 99_000) + 0.75, str(like)),
                rng.choice(["0", "1", "2", gap]),
                rng.choice(["+3", "-2", "4", ".5"]),
            ]
        )
    return rows


def written(rows: list[list[str]], how: dict[str, object]) -> bytes:
    delimiter, quotes, newline = str(how["delimiter"]), how["quotes"], str(how["newline"])

    def cell(text: str, name: str) -> str:
        free = not any(sign in text for sign in (delimiter, '"'))
        bare = quotes == "needed" or (quotes == "texts" and (name not in TEXTS or text == how["gap"]))
        return text if free and bare else '"' + text.replace('"', '""') + '"'

    lines = [delimiter.join(map(cell, row, NAMES)) for row in rows]
    if how["header"]:
        lines.insert(0, delimiter.join(f'"{name}"' if quotes == "all" else name for name in NAMES))
    return (newline.join(lines) + newline).encode(str(how["encoding"]))


def cells_of(raw: bytes, how: dict[str, object]) -> list[list[str]]:
    """Take a file apart, quotes and all, without any library."""
    text, rows, row, cell, inside = raw.decode(str(how["encoding"])), [], [], "", False
    newline = str(how["newline"])
    assert text.endswith(newline)
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == '"':
            inside = not inside
        if not inside and text.startswith(newline, at):
            rows, row, cell, at = [*rows, [*row, cell]], [], "", at + len(newline)
            continue
        if not inside and sign == how["delimiter"]:
            row, cell = [*row, cell], ""
        else:
            cell += sign
        at += 1
    assert not inside
    assert not row
    return rows


@pytest.mark.parametrize("number", few(range(40), 16))
def test_a_dialect(number: int, tmp_path: Path) -> None:
    how = case(number)
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_bytes(written(table(how, number), how))
    names = NAMES if how["header"] else [f"column_{i}" for i in range(1, len(NAMES) + 1)]
    by_name = dict(zip(NAMES, names, strict=True))
    reading = {} if how["header"] else {"header": False}
    if how["gap"] == "-999":
        reading["missing"] = ["-999"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # kept columns with many values
        release = vr.anonymize(
            source,
            keys=[by_name[name] for name in KEYS],
            other=[name for name in names if name not in [by_name[key] for key in KEYS]],
            kinds={by_name["paid"]: "numeric", by_name["born"]: "datetime"},
            k=K,
            method="mdav",
            reading=reading,
        )
    release.write(target, guard=False)
    before, after = (cells_of(path.read_bytes(), how) for path in (source, target))
    if how["header"]:
        assert before.pop(0) == after.pop(0)
    mark = {"utf-8-sig": 3, "utf-16": 2}.get(str(how["encoding"]), 0)
    assert source.read_bytes()[:mark] == target.read_bytes()[:mark]
    kept = [i for i, name in enumerate(NAMES) if name not in KEYS]
    masked = [i for i, name in enumerate(NAMES) if name in KEYS]
    assert Counter(tuple(r[i] for i in kept) for r in before) == Counter(
        tuple(r[i] for i in kept) for r in after
    )
    assert min(Counter(tuple(r[i] for i in masked) for r in after).values()) >= K
    forms = {"age": r"\d\d", "sex": "[fm]", "paid": AMOUNTS[how["amount"]], "born": DATES[how["date"]]}
    for name, form in forms.items():
        place = NAMES.index(name)
        quoted = {row[place][:1] == '"' for row in before}
        for row in after:
            assert re.fullmatch(form, row[place].strip('"')), (name, row[place])
            assert (row[place][:1] == '"') in quoted


def test_the_cases_cover_every_choice() -> None:
    cases = [case(number) for number in range(40)]
    for name, choices in {
        "delimiter": DELIMITERS, "encoding": ENCODINGS, "newline": NEWLINES, "quotes": QUOTES, "gap": GAPS,
        "date": list(DATES), "amount": list(AMOUNTS), "header": [True, False],
    }.items():  # fmt: skip
        assert {str(item[name]) for item in cases} == set(map(str, choices))
    assert len({tuple(map(str, item.values())) for item in cases}) == 40
