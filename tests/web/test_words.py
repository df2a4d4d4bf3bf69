"""The page speaks of its own fields: whoever looks at it has no command line before them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from voronym.cli.page import page
from voronym.errors import ReadError
from voronym.web.bench import Bench, Wishes
from voronym.web.process import Refused
from voronym.web.settings import Settings
from voronym.web.words import FIELDS, on_page

FLAG = re.compile(r"(?<![\w'])--[a-z]|in Python|header=")
N = 60
ODD = "a (b), =c"
TABLES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "near unique": ({ODD: [f"x{i}" for i in range(N)]}, {}),
    "amounts": ({ODD: [f"EUR {i},{i % 10}0" for i in range(N)]}, {}),
    "codes": ({"zip": [10_115 + 37 * i for i in range(N)]}, {}),
    "no keys": ({"age": list(range(N))}, {"keys": [], "other": ["age"]}),
    "a kind that it is not": ({"age": [f"x{i % 3}" for i in range(N)]}, {"kinds": {"age": "numeric"}}),
    "k too large": ({"age": [i % 7 + 0.5 for i in range(N)]}, {"k": 1000}),
    "no method": ({"age": [i % 7 + 0.5 for i in range(N)]}, {"method": "no"}),
}


@pytest.mark.parametrize("what", TABLES)
def test_what_is_wrong_is_said_without_flags(what: str) -> None:
    columns, given = TABLES[what]
    bench = Bench()
    bench._frame = pl.DataFrame({**columns, "rest": np.arange(N) % 5 + 0.5})
    asked = {"keys": list(columns), "other": ["rest"], "k": 5}
    settings = Settings({**asked, **given}).plain()
    found = bench.check(Wishes(lambda _: None), settings=settings)
    assert found["errors"]
    for sentence in found["errors"].values():
        assert not FLAG.search(sentence), sentence


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            f"Make it an identifier (--identifier {ODD}), which drops it; or allow it: --allow-near-unique "
            f"{ODD} (allow_near_unique=[{ODD!r}] in Python)",
            "Make it an identifier, which drops it; or allow it: check “it may publish what one person alone "
            "has”",
        ),
        (
            "say so (--kind zip=numeric or zip=datetime); or group them",
            "say so (the kind numeric or datetime); or group them",
        ),
        ("Declare them (--missing -9,-8)", "Declare them (“Codes that mean ‘no value’” -9,-8)"),
        ("or choose --intruder keys", "or choose the intruder who knows the keys"),
        ("say it with the option (--despite-loss true)", "say it with the option (--despite-loss of voronym "
         "anonymize true)"),
        ("key '--key' is odd", "key '--key' is odd"),
        ("two -- dashes --- stay", "two -- dashes --- stay"),
    ],
)  # fmt: skip
def test_flags_become_fields(said: str, shown: str) -> None:
    assert on_page(said) == shown


def test_every_field_is_of_a_flag_that_there_is() -> None:
    from typer.main import get_command

    from voronym.cli import app

    verb = get_command(app).commands["anonymize"]  # type: ignore[attr-defined]
    flags = {name for option in verb.params for name in (*option.opts, *option.secondary_opts)}
    assert {f"--{name}" for name in FIELDS} <= flags


def test_a_file_that_needs_fields_of_the_page_says_where_they_are(tmp_path):
    """On the command line there are none of them."""
    path = tmp_path / "clinic.csv"
    path.write_text("Clinic of Vic;;;\nage;zip;sex;ill\n" + "30;08001;m;flu\n" * 9, encoding="utf-8")

    def serve(*_: Any, **__: Any) -> None:
        raise Refused(on_page("if it is a title, say --skip-rows 1 (skip_rows=1)"), "ReadError")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("voronym.web.serve.serve", serve)
        with pytest.raises(
            ReadError, match=r"“Lines to skip” 1\. These are fields of the page: start voronym"
        ):
            page(path)
