"""The page speaks of its own fields: whoever looks at it has no command line before them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from voronym.cli.page import page
from voronym.errors import ReadError, hint, speaking, worded
from voronym.web.bench import Bench, Wishes
from voronym.web.process import Refused
from voronym.web.settings import Settings

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
    with speaking("page"):
        result = bench.check(Wishes(lambda _: None), settings=settings)
    assert result["errors"]
    for sentence in result["errors"].values():
        assert not FLAG.search(sentence), sentence


def test_a_file_that_needs_fields_of_the_page_says_where_they_are(tmp_path):
    """On the command line there are none of them."""
    path = tmp_path / "clinic.csv"
    path.write_text("Clinic of Vic;;;\nage;zip;sex;ill\n" + "30;08001;m;flu\n" * 9, encoding="utf-8")

    def serve(*_: Any, **__: Any) -> None:
        raise Refused(worded(f"if it is a title, say {hint('skip_rows', 1)}", "page"), "ReadError")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("voronym.web.serve.serve", serve)
        with pytest.raises(
            ReadError, match=r"“Lines to skip” 1\. These are fields of the page: start voronym"
        ):
            page(path)
