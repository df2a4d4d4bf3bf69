"""A page about people with several rows counts them, and its next commands do, too."""

from __future__ import annotations

import html
import re
import warnings

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.report import render


def test_sizes_and_next_commands_are_about_people():
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(60), rng.integers(1, 4, 60))
    frame = pl.DataFrame(
        {
            "who": [f"p{i}" for i in who], "mail": [f"m{i}" for i in range(len(who))],
            "age": rng.integers(20, 80, 60)[who], "pay": rng.normal(50, 9, 60)[who],
            "ill": rng.choice(["flu", "cold", "gout"], len(who)),
        }
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = vr.anonymize(
            frame, keys=["age", "pay"], confidential=["ill"], identifiers=["mail"], person="who", k=4,
            method="mdav", suppress="5%", steps=["top age=70"])  # fmt: skip
    page = html.unescape(re.sub(r"<[^>]+>", " ", render(release)))
    assert re.search(r"The smallest group has \d+ people, the largest \d+\.", page)
    assert "people in the group" in page
    assert "records in the group" not in page
    commands = re.findall(r"voronym anonymize INPUT -o OUTPUT --key[^\n]*", page)
    assert commands
    for command in commands:
        assert "--identifier mail --person who" in command
        assert "--step 'top age=70'" in command
        assert "--suppress 0.05" in command


def stays(people: int = 60) -> pl.DataFrame:
    """Make up people with one to four stays; flu is in every stay of some, and one stay of many."""
    rng = np.random.default_rng(8)
    who = np.repeat(np.arange(people), rng.integers(1, 5, people))
    frame = pl.DataFrame(
        {
            "who": [f"p{i}" for i in who],
            "age": rng.integers(20, 80, people)[who] + rng.integers(0, 3, len(who)),
            "ill": rng.choice(["flu", "flu", "flu", "gout"], len(who)),
            "pay": rng.integers(1, 9, len(who)),
        }
    )
    return frame.sample(fraction=1.0, shuffle=True, seed=1)


def made(frame: pl.DataFrame, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(
            frame, keys=["age"], confidential=["ill", "pay"], person="who", k=3, method="mdav", **given
        )


def certain_by_hand(table: pl.DataFrame) -> set[str]:
    """Whose illness somebody tells from the file who knows their keys and all rows that carry a pseudonym."""
    groups: dict[object, dict[str, set[str]]] = {}
    for row in table.to_dicts():
        groups.setdefault(row["age"], {}).setdefault(row["who"], set()).add(row["ill"])
    shared = [group for group in groups.values() if set.intersection(*group.values())]
    return {who for group in shared for who in group}


def test_a_value_that_all_people_of_a_group_have_is_certain():
    release = made(stays(), pseudonyms=True)
    match = next(item for item in release.dossier().inside.disclosed if item.column == "ill")
    wanted = certain_by_hand(release.table)
    assert match.people == len(wanted) > 3
    assert match.share == pytest.approx(len(wanted) / 60)
    assert match.several
    rows = release.table
    alike = rows.group_by("age").agg(pl.col("ill").n_unique().alias("values"), pl.len())
    assert alike.filter(pl.col("values") == 1)["len"].sum() != match.people, "rows would count otherwise"


def test_chance_is_what_values_dealt_out_at_random_show():
    release = made(stays(200), pseudonyms=True)
    expected = next(item for item in release.dossier().inside.disclosed if item.column == "ill").chance
    shares, table = [], release.table
    for seed in range(40):  # groups do not look at illnesses
        dealt = table.with_columns(ill=table["ill"].sample(fraction=1.0, shuffle=True, seed=seed))
        shares.append(len(certain_by_hand(dealt)) / 200)
    assert expected == pytest.approx(np.mean(shares), abs=0.05)


def test_pages_count_people_and_number_them():
    release = made(stays())
    page = html.unescape(re.sub(r"<[^>]+>", " ", render(release)))
    assert "Rows count as people" not in page
    assert "A person with several rows counts once" in page
    assert "It counts people and not rows" in page
    result = release.dossier().inside.unfolded
    assert f"A group of {result.size} people with {result.rows} rows" in page
    assert len(set(result.people)) < len(result.people)
    assert max(result.people) <= result.size < result.rows
    assert list(result.people) == sorted(result.people)
    public = html.unescape(re.sub(r"<[^>]+>", " ", render(release, audience="public")))
    assert "Where all of a group have the same ill or pay" in public


def test_an_attack_counts_people_and_finds_no_more_than_k_allows():
    release = made(stays())
    linked = release.dossier().inside.linkage
    assert linked.n == 60
    assert 0.05 < linked.value <= 1 / 3


def test_dates_and_words_of_a_row_are_not_broken():
    """A date is read at a glance, and browsers break it at its hyphens where a column is narrow."""
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 12, 31), eager=True)
    frame = stays()
    frame = frame.with_columns(day=days.sample(len(frame), with_replacement=True, seed=2)).drop("pay")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = vr.anonymize(
            frame, keys=["age", "day"], confidential=["ill"], person="who", k=3, method="mdav"
        )
    page = re.sub(r'<table class="numeric">.*?</table>', "", render(release), flags=re.S)  # never broken
    dates = re.findall(r"<td([^>]*)>\d{4}-\d\d-\d\d</td>", page)
    assert len(dates) > 10
    assert set(dates) == {' class="one"'}
    assert "td.one { white-space: nowrap; }" in page
    assert "<td>kept as it was</td>" in page
