"""Groups published as ranges: k in the written text, everybody inside, no end of a single person's."""

from __future__ import annotations

import datetime as dt
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from tables import LIBRARIES, build, count_csv, key_tables
from voronym.errors import InputError
from voronym.generalize.spans import ends

WAYS = ["mean", "median", "interval", "hierarchy"]


def quiet(*args, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return vr.anonymize(*args, **named)


def covers(text, value) -> bool:
    """Say whether a published text covers an original value; a reader of its own."""
    if text == "*":
        return True
    if value is None or text is None:
        return value is None and (text is None or bool({"missing", "others"} & set(text.split(" or "))))
    if isinstance(value, bool):
        return str(value) in text.split(" or ") or "others" in text.split(" or ")
    if isinstance(value, str):
        return value in text.split(" or ") or "others" in text.split(" or ")
    times = isinstance(value, (dt.date, dt.datetime))
    result = ends(text, times=times)
    assert result is not None, text
    low, high = (-np.inf if result[0] is None else result[0], np.inf if result[1] is None else result[1])
    if times:
        whole = value if isinstance(value, dt.datetime) else dt.datetime(value.year, value.month, value.day)
        at = whole.replace(tzinfo=dt.UTC, microsecond=0).timestamp()
        last = 86_399 if "T" not in text and isinstance(value, dt.datetime) else 0
        return low <= at <= high + last
    slack = 1e-9 * max(1.0, abs(value))
    return low - slack <= value <= high + slack


@given(
    data=st.data(),
    drawn=key_tables(),
    library=st.sampled_from(LIBRARIES),
    exact=st.booleans(),
    space=st.sampled_from(["euclidean", "ranges"]),
)
def test_written_ranges_are_k_anonymous_and_cover_everybody(data, drawn, library, exact, space):
    columns, k = drawn
    keys = [name for name in columns if name.startswith("key")]
    ways = {}
    for name in keys:
        able = ["interval"] if space == "ranges" else ["mean", "interval"]
        able = able + (["hierarchy"] if "word" in name or "bool" in name else [])
        ways[name] = data.draw(st.sampled_from(able))
    release = quiet(
        build(columns, library),
        keys=keys,
        confidential=["secret"],
        identifiers=["name"],
        k=k,
        method="mdav",
        publish=ways,
        space=space,
        allow_near_unique=keys,
        allow_loss=keys,
        **({"ends": "exact" if exact else "rounded"} if "interval" in ways.values() else {}),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.csv"
        release.write(path, guard=False)
        assert count_csv(path, keys) >= k
    owner = release._evidence.order
    for name in keys:
        if ways[name] == "mean":
            continue
        for row, text in enumerate(release._table.frame[name].to_list()):
            text = None if text is None or text != text else text  # pandas has NaN for missing
            value = columns[name][int(owner[row])]
            assert covers(text, value), (name, text, value)


def town(n: int = 300, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "income": np.round(rng.gamma(2.0, 15_000.0, n), 2),
            "age": rng.integers(18, 95, n),
            "born": [dt.date(1930, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 25_000, n)],
            "ill": rng.choice(["flu", "asthma", "ulcer"], n),
        }
    )


@pytest.mark.parametrize("seed", range(3))
def test_every_end_may_be_of_k_people(seed):
    table, k = town(seed=seed), 5
    release = quiet(
        table, keys=["income", "age", "born"], confidential=["ill"], k=k, publish="interval", method="mdav"
    )
    for name in ("income", "age", "born"):
        texts = release.table[name].unique().to_list()
        times = name == "born"
        line = table[name].cast(pl.Datetime("us")).dt.epoch("us") / 1e6 if times else table[name]
        line = np.sort(line.to_numpy().astype(float))
        messages = [ends(text, times=times) for text in texts]
        lows = sorted({item[0] for item in messages if item[0] is not None})
        highs = sorted({item[1] for item in messages if item[1] is not None})
        # Between an end and the next end that was published, or beyond the last, there are k people or more.
        for low, after in zip(lows, [*lows[1:], np.inf], strict=True):
            assert ((line >= low) & (line < after)).sum() >= k, (name, low)
        for before, high in zip([-np.inf, *highs[:-1]], highs, strict=True):
            last = high + (86_400 if times else 0.005)
            assert ((line > before) & (line <= last)).sum() >= k, (name, high)


def test_exact_ends_lead_to_people_and_rounded_ones_do_not():
    table = town(600, seed=4)
    results = {}
    for how in ("exact", "rounded"):
        release = quiet(
            table,
            keys=["income", "age", "born"],
            confidential=["ill"],
            k=5,
            publish="interval",
            method="mdav",
            ends=how,
        )
        results[how] = vr.attack(release, attacks=["range-ends"])["range-ends"]
    assert results["exact"].claims
    assert results["exact"].success > 0.3
    assert not results["rounded"].claims
    assert results["rounded"].excess < 0.05


def test_words_of_the_command_line_and_the_recipe(tmp_path):
    tree = tmp_path / "ill.csv"
    tree.write_text("flu;lung;*\nasthma;lung;*\nulcer;gut;*\n")
    table = town()
    ways = {"*": "interval", "ill": "hierarchy", "age": "median"}
    release = quiet(
        table,
        keys=["income", "age", "ill"],
        drop_undeclared=True,
        k=5,
        publish=ways,
        hierarchies={"ill": tree},
        method="mdav",
    )
    assert set(release.table["ill"].unique()) <= {"flu", "asthma", "ulcer", "lung", "gut", "*"}
    assert release.table["age"].dtype == pl.Int64
    path = tmp_path / "recipe.toml"
    release.recipe.save(path)
    again = quiet(table, recipe=vr.Recipe.load(path))
    assert sorted(again.table.rows()) == sorted(release.table.rows())
    public = release.dossier().outside().to_dict()
    assert str(tmp_path) not in repr(public)


def test_mistakes_are_told():
    table = town(60)
    with pytest.raises(
        InputError, match="publish of 'age' must be 'hierarchy' or 'interval' or 'mean' or 'median'"
    ):
        vr.anonymize(table, keys=["age"], drop_undeclared=True, publish={"age": "range"})
    with pytest.raises(InputError, match="no key"):
        vr.anonymize(table, keys=["age"], drop_undeclared=True, publish={"ill": "interval"}, method="mdav")
    with pytest.raises(InputError, match="by a hierarchy needs one"):
        vr.anonymize(table, keys=["age"], drop_undeclared=True, publish="hierarchy", method="mdav")
    with pytest.raises(InputError, match="not published by it"):
        vr.anonymize(
            table, keys=["ill"], drop_undeclared=True, publish="interval", hierarchies={"ill": {"flu": ["*"]}}
        )
    with pytest.raises(InputError, match="are not in its hierarchy"):
        vr.anonymize(
            table,
            keys=["ill"],
            drop_undeclared=True,
            publish="hierarchy",
            method="mdav",
            hierarchies={"ill": {"flu": ["*"]}},
        )


def test_medians_are_between_the_values_of_their_group():
    table = town(200, seed=2)
    release = quiet(
        table,
        keys=["income", "age"],
        confidential=["ill"],
        drop_undeclared=True,
        publish="median",
        method="mdav",
    )
    evidence = release._evidence
    labels = evidence.partition.labels[evidence.order]
    for name in ("income", "age"):
        own = table[name].to_numpy()[evidence.order]
        shown = release.table[name].to_numpy()
        for group in range(evidence.partition.n_cells):
            inside = labels == group
            assert np.isclose(
                shown[inside], np.median(own[inside]), atol=0.51 if name == "age" else 0.0051
            ).all()


def test_rare_categories_are_not_named():
    table = pl.DataFrame({"job": ["nurse"] * 12 + ["cook"] * 6 + ["bishop", "queen"], "x": range(20)})
    release = quiet(table, keys=["job", "x"], k=4, publish="interval", method="mdav")
    named = " ".join(release.table["job"].unique().to_list())
    assert "bishop" not in named
    assert "queen" not in named
    assert Counter(release.table.rows()).most_common()[-1][1] >= 4


def test_ordered_levels_and_missing_values():
    levels = ["none", "primary", "secondary", "tertiary"]
    rng = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "school": [levels[i] for i in rng.integers(0, 4, 80)],
            "age": [None if i % 9 == 0 else int(i) for i in rng.integers(20, 60, 80)],
        }
    )
    release = quiet(
        table, keys=["school", "age"], orders={"school": levels}, k=4, publish="interval", method="mdav"
    )
    for text in release.table["school"].unique().to_list():
        parts = text.split("–")
        assert all(part in levels for part in parts)
        assert [levels.index(part) for part in parts] == sorted(levels.index(part) for part in parts)
    assert 0.0 < release.penalty.certainty < 100.0
