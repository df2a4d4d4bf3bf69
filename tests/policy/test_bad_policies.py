"""A policy that cannot be is refused in a sentence with the number of the line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from voronym.errors import InputError
from voronym.policy import Policy, check

HEAD = """format = 1
name = "ours"
title = "Ours"
version = "1"
date = 2026-01-31
source = "the office"
note = "no legal advice"
"""
"""Seven lines: what follows begins in line 8."""


def refused(text: str) -> str:
    with pytest.raises(InputError) as error:
        Policy.parse(text, "ours.toml")
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[[groups]]\ndemand = "risk"\nmost = 9\nSAYS\n', 10,
         "probability from 0 to 1, not 9; 9 percent are written 0.09"),
        ('[[groups]]\ndemand = "riks"\nmost = 0.09\nSAYS\n', 9, "no demand 'riks'"),
        ('[[groups]]\ndemand = "k"\nleast = 1\nSAYS\n', 10, "least must be a whole number, 2 or more"),
        ('[[groups]]\nleast = 5\nSAYS\n', 8, "does not name its demand"),
        ('[[groups]]\ndemand = "k"\nSAYS\n', 8, "lacks least"),
        ('[[groups]]\ndemand = "k"\nleast = 5\n', 8, "lacks says"),
        ('[[groups]]\ndemand = "k"\nleast = 5\nmots = 3\nSAYS\n', 11, "no entry 'mots'"),
        ('[[groups]]\ndemand = "model"\nmodel = "q-closeness=2"\nSAYS\n', 10, "q-closeness"),
        ('[[attacks]]\ndemand = "attack"\nattack = "telepathy"\nmost = 0.1\nSAYS\n', 10, "telepathy"),
        ('[[columns]]\ndemand = "absent"\nholds = "shoes"\nSAYS\n', 10, "what columns hold"),
        ('[[columns]]\ndemand = "absent"\nSAYS\n', 8, "either holds"),
        ('[[columns]]\ndemand = "period"\nholds = "date"\nunit = "week"\nSAYS\n', 11, "'week'"),
        ('[[columns]]\ndemand = "digits"\nholds = "zip"\ndigits = 3\npeople = 9\nSAYS\n', 8, "together: the"),
        ('[[columns]]\ndemand = "digits"\nholds = "zip"\ndigits = 3\npeople = 9\nfacts = "zips"\nSAYS\n', 13,
         "the table 'zips' is not described"),
        ('[colums]\nx = 1\n', 8, "no entry 'colums'"),
        ('columns = 3\n', 8, "begin each with [[columns]]"),
        ('[recognise]\nbox = "zap"\n[[groups]]\ndemand = "k"\nleast = 5\nSAYS\n', 9, "'zap'"),
        ('[[groups]]\ndemand = "k"\nleast = 5\nSAYS\n[[groups]]\ndemand = "k"\nleast = 6\nSAYS\n', 12,
         "is already in line 8"),
        ('[[columns]]\ndemand = "absent"\nholds = "zip"\nSAYS\n[[columns]]\ndemand = "digits"\n'
         'holds = "zip"\ndigits = 3\nSAYS\n', 12, "must be absent by line 8"),
        ('[[groups]]\ndemand = "risk"\nmost = 0.09\nSAYS\n[[groups]]\ndemand = "risk"\nfigure = "mean"\n'
         'most = 0.2\nSAYS\n', 12, "never above the largest"),
        ('[[groups]]\ndemand = "risk"\nmost = 0\nSAYS\n', 8, "most must be above 0"),
        ('[[groups]\ndemand = "k"\n', 8, "expected"),
        ('[[groups]]\ndemand = "k"\nleast = 5\nsays = ""\n', 11, "says must be a text"),
    ],
)  # fmt: skip
def test_the_line_is_named(text: str, line: int, words: str) -> None:
    message = refused(HEAD + text.replace("SAYS", 'says = "x"'))
    assert message.startswith(f"policy ours.toml, line {line}: ")
    assert words in message


def test_heads() -> None:
    assert "the policy has no note" in refused(HEAD.replace('note = "no legal advice"\n', ""))
    assert "demands nothing" in refused(HEAD)
    assert "line 5: date must be a date" in refused(HEAD.replace("2026-01-31", '"today"'))
    assert "line 1: the policy was made by a newer voronym" in refused(
        HEAD.replace("format = 1", "format = 7")
    )
    assert "line 4: version must be a text" in refused(HEAD.replace('"1"', "1"))


def test_texts_of_several_lines_do_not_move_the_line() -> None:
    text = (
        HEAD + 'summary = """\nleast = 3\n[[groups]]\n"""\n[[groups]]\ndemand = "k"\nleast = 0\nsays = "x"\n'
    )
    assert "line 14: least" in refused(text)


def test_a_column_that_is_not_there() -> None:
    policy = Policy.parse(HEAD + '[[columns]]\ndemand = "top"\ncolumn = "shoe"\nmost = 50\nsays = "x"\n')
    with pytest.raises(InputError, match="line 8 of the policy: the table has no column 'shoe'"):
        check(pl.DataFrame({"age": [1, 2]}), policy, keys=["age"])


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"there is no policy 'hippa-safe-harbor'.*Did you mean 'hipaa-safe-harbor'"
    ):
        Policy.load("hippa-safe-harbor")
    bad = tmp_path / "bad.toml"
    bad.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        Policy.load(bad)


def test_tables_of_facts(tmp_path: Path) -> None:
    table = pl.DataFrame({"zip": ["101**"] * 3, "sex": ["f"] * 3})
    with pytest.raises(InputError, match="needs no table 'zaps'"):
        check(table, "hipaa-safe-harbor", keys=["sex"], facts={"zaps": "x.csv"})
    with pytest.raises(InputError, match="the table zip-populations: there is no file"):
        check(table, "hipaa-safe-harbor", keys=["sex"], facts={"zip-populations": str(tmp_path / "no.csv")})
    words = tmp_path / "words.csv"
    words.write_text("zip,name\n101,a\n", encoding="utf-8")
    with pytest.raises(InputError, match="needs two columns"):
        check(table, "hipaa-safe-harbor", keys=["sex"], facts={"zip-populations": str(words)})
    numbers = tmp_path / "numbers.csv"  # leading zeros are lost, and found again
    numbers.write_text("zip,people\n36,14000\n101,200000\n", encoding="utf-8")
    small = table.with_columns(zip=pl.lit("036**"))
    assert not check(small, "hipaa-safe-harbor", keys=["sex"], facts={"zip-populations": str(numbers)}).passes
    assert check(table, "hipaa-safe-harbor", keys=["sex"], facts={"zip-populations": str(numbers)}).passes
