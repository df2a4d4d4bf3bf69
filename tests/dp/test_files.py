"""Neighbouring files whose draws are answered alike become the same release, to the last character."""

import random

import numpy as np
import pytest

import voronym as vr
from dp.oracle import Oracle, answered_by
from repeats import few
from voronym.dp.cells import STEPS
from voronym.report import render

ROWS = 60
HEAD = "age,pay,day,sex"
OTHERS = {
    "more digits": "47.1234,900,2020-03-04,f",
    "no digits": "47,900,2020-03-04,f",
    "thousands parted": '47.1,"9,000",2020-03-04,f',
    "quotes": '"47.1","900","2020-03-04","f"',
    "another day": "47.1,900,2021-12-31,m",
    "outside the bounds": "1e9,-5,1890-01-01,m",
}
BOUNDS = {"age": (0.0, 120.0), "pay": (0, 20_000), "day": ("2000-01-01", "2030-01-01"), "sex": ["f", "m"]}


class Mild(Oracle):
    """Answers like those of many records, without looking at any."""

    def noisy(self, values, total, length, share, *, pure):
        if total == 2:
            return self.rng.integers(5, 15, np.shape(values)), 1.0
        return self.rng.integers(-5 * STEPS, 5 * STEPS, np.shape(values)), 1.0


def lines(last):
    rng = random.Random(3)
    rows = [
        f"{rng.uniform(20, 80):.1f},{rng.randrange(500, 999)},20{rng.randrange(10, 29)}-01-1"
        f"{rng.randrange(0, 9)},{rng.choice('fm')}"
        for _ in range(ROWS - 1)
    ]
    return [*rows, last]


def published(folder, last, monkeypatch, over):
    folder.mkdir()
    rows = lines(last)
    many = 3 if over else 1
    for part in range(many):
        (folder / f"{part}.csv").write_text("\n".join([HEAD, *rows[part::many]]) + "\n")
    where = {"output": folder / "out", "leaf": 20, "workers": 1, "format": "csv"} if over else {}
    source = folder if over else folder / "0.csv"
    with answered_by(Mild(8), monkeypatch):
        made = vr.anonymize(
            source, keys=["age", "pay", "day", "sex"], models="dp=1,scope=all", bounds=BOUNDS,
            k=5, allow_near_unique=("age", "pay", "day"), **where,
        )  # fmt: skip
        page = "" if over else render(made, audience="public")
    if not over:
        made.write(folder / "out.csv")
        return sorted((folder / "out.csv").read_text().splitlines()), page
    files = (folder / "out").glob("*.csv")
    return sorted(line for file in files for line in file.read_text().splitlines()), page


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "over"), [*((name, False) for name in OTHERS), *few([(name, True) for name in OTHERS], 2)]
)
def test_neighbouring_files_become_the_same_release(name, over, monkeypatch, tmp_path):
    """One record decides neither digits nor signs of thousands nor quotes, nor a word of the public page."""
    first = published(tmp_path / "first", "47.1,900,2020-03-04,f", monkeypatch, over)
    second = published(tmp_path / "second", OTHERS[name], monkeypatch, over)
    assert first == second
    assert len(set(first[0])) > 2
