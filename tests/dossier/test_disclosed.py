"""People whose confidential value is certain: counted by hand, by enumeration, and on the pages."""

from __future__ import annotations

import itertools
import re

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.evaluate.disclosed import alone_by_chance, disclosed
from voronym.report import render
from voronym.table import Table


def text(page):
    """Return what a reader sees of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)).replace("\u202f", " ")


def section(page, name):
    start = page.index(f'<section id="{name}"')
    return text(page[start : page.index("</section>", start)])


def test_counted_by_hand():
    table = pl.DataFrame(
        {
            "age": [1, 1, 1, 2, 2, 3, 3, 3, 3],
            "ill": ["a", "a", "a", "a", "b", "b", "b", "b", "b"],
            "pay": [5, 5, 5, 5, 5, 5, 5, 5, 6],
        }
    )
    results = {
        item.column: item for item in disclosed(Table.build(table, keys=["age"], confidential=["ill", "pay"]))
    }
    ill, pay = results["ill"], results["pay"]
    assert (ill.groups, ill.people, ill.share) == (2, 7, 7 / 9)
    assert (pay.groups, pay.people) == (2, 5)
    assert (ill.usual, pay.usual) == (5 / 9, 8 / 9)
    assert ill.excess > pay.excess  # nearly all have the same pay: that groups agree is chance
    assert next(iter(results)) == "ill"


@pytest.mark.parametrize(("sizes", "values"), [((2, 3), "aabbb"), ((2, 2, 1), "aaabb"), ((3, 3), "aaabbb")])
def test_chance_is_the_mean_over_all_ways_to_deal(sizes, values):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    dealt = []
    for order in itertools.permutations(values):
        order = np.array(order)
        dealt.append(sum(s for g, s in enumerate(sizes) if len(set(order[labels == g])) == 1) / len(values))
    counts = np.unique(list(values), return_counts=True)[1]
    assert alone_by_chance(np.array(sizes), counts) == pytest.approx(np.mean(dealt), abs=1e-12)


@pytest.fixture(scope="module")
def release():
    """Return a release in which the old, a third, are all healthy, and pay has nothing to do with age."""
    rng = np.random.default_rng(0)
    age = np.arange(300)
    ill = np.where((age < 200) & (rng.random(300) < 0.5), "yes", "no")
    pay = np.where(rng.random(300) < 0.97, "low", "high")
    table = pl.DataFrame({"age": age, "ill": ill, "pay": pay})
    return vr.anonymize(table, keys=["age"], confidential=["pay", "ill"], k=5, method="mdav")


def test_the_pages_say_whose_value_is_certain(release):
    written = release.table
    certain = sum(
        len(group) for _, group in written.group_by("age") if group["ill"].n_unique() == 1
    )  # counted in the table, by other code
    assert certain >= 95
    page, public = render(release), render(release, audience="public")
    assert f"{certain} people" in section(page, "known")
    head = text(page[: page.index("<nav")])
    assert f"For {certain} people" in head
    assert "certain ill" in head
    output = section(page, "intruder")
    assert "Knows only that a person is in the table" in output
    assert f"Learns the ill of {certain} people" in output
    assert "Holds the original keys of everybody" in output
    # The public page looks at no confidential value: it says that it can happen, and not to whom.
    assert 'id="known"' not in public
    assert f"{certain} people" not in text(public)
    assert "Where all of a group have the same ill or pay" in section(public, "intruder")
    assert "Holds another release of the same people" in section(public, "intruder")
    assert "Holds the original keys" not in public


def test_the_column_shown_is_the_one_with_most_excess_over_chance(release):
    output = release.dossier().inside.told
    by = {column.name: column.now.excess for column in output.columns}
    assert output.column == max(by, key=by.get) == "ill"


def test_what_to_do_next_is_a_command_that_runs(release, tmp_path, monkeypatch, capsys):
    page = render(release)
    assert 'id="next"' not in render(release, audience="public")
    lines = re.findall(r"<code>(voronym anonymize INPUT[^<]*)</code>", page[page.index('id="next"') :])
    assert 1 <= len(lines) <= 3
    assert "--model p-sensitive=2,column=ill" in lines[0]
    release._evidence.table.frame.to_native().write_csv(tmp_path / "in.csv")
    monkeypatch.chdir(tmp_path)
    from voronym.cli import app

    words = lines[0].replace("&#39;", "'").replace("INPUT", "in.csv").replace("OUTPUT", "out.csv").split()[1:]
    with pytest.raises(SystemExit) as ended:
        app(words, standalone_mode=True)
    assert ended.value.code == 0, capsys.readouterr().err
    again = pl.read_csv(tmp_path / "out.csv")
    assert all(group["ill"].n_unique() > 1 for _, group in again.group_by("age"))


def test_the_headline_has_the_model_and_the_gap_is_a_bracket(release):
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"age": rng.integers(20, 80, 120), "ill": rng.choice(list("abc"), 120)})
    made = vr.anonymize(
        table,
        keys=["age"],
        confidential=["ill"],
        k=5,
        method="mdav",
        models=["t-closeness=0.6,distance=equal"],
    )
    page = render(made, audience="public")
    assert "t-closeness 0.6 holds" in page[page.index("<h1>") : page.index("</h1>")]
    assert "the optimum is the same" in text(render(release))  # one key, evenly spread: proven
    two = pl.DataFrame({"age": rng.normal(size=200), "pay": rng.normal(size=200)})
    release = vr.anonymize(two, keys=["age", "pay"], k=5, method="mdav")
    public = release.dossier().public
    assert public.least == pytest.approx(public.group_loss / (1 + public.gap / 100))
    message = re.search(r"between ([\d.]+) and ([\d.]+) %", text(render(release)))
    assert float(message[1]) < float(message[2])
    assert float(message[1]) == pytest.approx(public.least, rel=0.01)


def test_a_column_in_which_somebody_is_known_comes_before_those_in_which_nobody_is():
    """The words of the pages are about the first column: “nobody” must be true of all of them."""
    table = pl.DataFrame(
        {
            "age": np.repeat(np.arange(10), 2),
            "ill": ["flu", "flu", *(["flu", "cold"] * 9)],  # one group of ten: less than chance
            "pay": [1, 2] * 10,
            "pin": np.arange(20),
        }
    )
    result = disclosed(Table.build(table, keys=["age"], confidential=["pin", "pay", "ill"]))
    assert result[0].column == "ill"
    assert result[0].excess < result[1].excess == pytest.approx(0.0)
