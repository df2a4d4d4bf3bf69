"""What steps do to columns: against plain loops, in every library, with gaps and odd kinds."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.errors import GuaranteeError, InputError, SchemaError
from voronym.steps import parse_step, run
from voronym.table import Table

LIBRARIES = ["polars", "pandas", "pyarrow"]


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    gap = rng.random((n, 6)) < 0.05
    age = [
        None if gone else int(integer)
        for integer, gone in zip(rng.integers(0, 99, n), gap[:, 0], strict=True)
    ]
    pay = np.round(np.exp(rng.normal(7, 1, n)) + 20 * rng.integers(0, 99, n), 2)
    born = [
        None if gone else dt.date(1930, 1, 1) + dt.timedelta(days=int(days))
        for days, gone in zip(rng.integers(0, 30_000, n), gap[:, 2], strict=True)
    ]
    town = [
        None if gone else f"0{integer:04d}"
        for integer, gone in zip(rng.integers(8000, 8060, n), gap[:, 3], strict=True)
    ]
    job = [
        None if gone else "abcdefg"[integer]
        for integer, gone in zip(rng.integers(0, 7, n), gap[:, 4], strict=True)
    ]
    return pl.DataFrame(
        {
            "age": age,
            "pay": [None if gone else integer for integer, gone in zip(pay.tolist(), gap[:, 1], strict=True)],
            "born": born,
            "town": town,
            "job": job,
            "cash": [Decimal(int(integer)) / 100 for integer in rng.integers(0, 10**6, n)],
        },
        schema_overrides={"cash": pl.Decimal(12, 2)},
    )


def table_of(frame, library="polars", **more):
    native = {"polars": lambda: frame, "pandas": frame.to_pandas, "pyarrow": frame.to_arrow}[library]()
    schema = vr.Schema.build(
        native, keys=["age", "town"], confidential=["job"], other=["pay", "born", "cash"], **more
    )
    return Table.of(native, schema)


def done(table, *steps, least=3, seed=1):
    made, effects, notes = run(
        table, list(map(parse_step, steps)), least=least, rng=np.random.default_rng(seed)
    )
    return made, effects, notes


def values(table, name):
    """The values as plain Python ones: pandas has dates as times."""
    return [
        None if gone else single.date() if isinstance(single, dt.datetime) else single
        for single, gone in zip(table.frame[name].to_list(), table.missing(name), strict=True)
    ]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("step", "name", "loop"),
    [
        ("top age=70", "age", lambda x: min(x, 70)),
        ("bottom age=20", "age", lambda x: max(x, 20)),
        ("top pay=2000.5", "pay", lambda x: min(x, 2000.5)),
        ("top born=1990-06-30", "born", lambda x: min(x, dt.date(1990, 6, 30))),
        ("bottom cash=50.25", "cash", lambda x: max(x, Decimal("50.25"))),
        ("round age=5", "age", lambda x: int(np.floor(x / 5 + 0.5)) * 5),
        ("round age=10 how=down", "age", lambda x: x // 10 * 10),
        ("round pay=100", "pay", lambda x: np.floor(x / 100 + 0.5) * 100),
        ("recode town level=2", "town", lambda x: x[:3] + "**"),
        ("recode job values=a,c to=x", "job", lambda x: "x" if x in "ac" else x),
        ("suppress job=b,g", "job", lambda x: None if x in "bg" else x),
        ("suppress age", "age", lambda _: None),
    ],
)
def test_against_a_loop(library, step, name, loop):
    table = table_of(people(), library)
    made, effects, _ = done(table, step)
    before, after = values(table, name), values(made, name)
    assert after == [None if item is None else loop(item) for item in before]
    assert effects[0].changed == pytest.approx(np.mean([a != b for a, b in zip(before, after, strict=True)]))
    for other in set(table.columns) - {name}:
        assert values(made, other) == values(table, other)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "step",
    [
        "rank-swap pay=5",
        "shuffle pay",
        "shuffle pay about=age,job",
        "shuffle job",
        "record-swap town=10 match=job",
        "rank-swap born=5",
        "shuffle cash",
    ],
)
def test_steps_that_move_values_lose_none(library, step):
    table = table_of(people(), library)
    made, effects, _ = done(table, step)
    name = effects[0].columns[0]
    before, after = values(table, name), values(made, name)
    assert sorted(map(str, before)) == sorted(map(str, after))
    assert before != after
    if "record" not in step:  # gaps stay where they are
        assert [item is None for item in before] == [item is None for item in after]
    assert made.frame[name].dtype == table.frame[name].dtype


def test_ranks_stay_near():
    frame = pl.DataFrame({"x": np.random.default_rng(0).permutation(1000), "y": np.arange(1000)})
    table = Table.of(frame, vr.Schema.build(frame, keys=["y"], other=["x"]))
    made, effects, _ = done(table, "rank-swap x=3")
    off = np.abs(np.array(values(made, "x")) - np.array(values(table, "x")))
    assert 1 <= off.max() <= 30
    assert effects[0].changed > 0.99


def test_a_record_swap_is_among_equals_and_as_large_as_said():
    table = table_of(people(2000), "polars")
    made, effects, _ = done(table, "record-swap town=10 match=job,age")
    pairs = [sorted(map(str, zip(values(t, "town"), values(t, "job"), values(t, "age"), strict=True)))
             for t in (table, made)]  # fmt: skip
    assert pairs[0] == pairs[1]
    assert 0.0 < effects[0].changed <= 0.1005
    _, effects, _ = done(table, "record-swap town=10")
    assert effects[0].changed == pytest.approx(0.1, abs=0.002)


def test_a_record_swap_begins_with_who_is_alone():
    frame = pl.DataFrame({"age": [*range(20), *[50] * 180], "region": ["n", "s"] * 100, "y": [0] * 200})
    table = Table.of(frame, vr.Schema.build(frame, keys=["age", "region"], other=["y"]))
    made, _, _ = done(table, "record-swap region=20")
    moved = np.array(values(made, "region")) != np.array(values(table, "region"))
    assert moved[:20].all()
    assert moved.sum() == 40


def test_a_shuffle_keeps_what_it_is_about():
    rng = np.random.default_rng(3)
    x = rng.normal(size=4000)
    frame = pl.DataFrame({"x": x, "y": np.exp(0.8 * x + 0.6 * rng.normal(size=4000))})
    table = Table.of(frame, vr.Schema.build(frame, keys=["x"], confidential=["y"]))

    def rank(single):
        return np.argsort(np.argsort(single))

    was = np.corrcoef(rank(frame["x"]), rank(frame["y"]))[0, 1]
    for step, wanted in (("shuffle y about=x", was), ("shuffle y", 0.0)):
        made, _, _ = done(table, step)
        result = np.corrcoef(rank(frame["x"]), rank(values(made, "y")))[0, 1]
        assert result == pytest.approx(wanted, abs=0.05)
        own = np.corrcoef(rank(frame["y"]), rank(values(made, "y")))[0, 1]
        assert own == pytest.approx(wanted**2, abs=0.06)  # nothing of a record's own value but through x


def test_noise_is_as_large_as_said():
    rng = np.random.default_rng(5)
    z = rng.normal(size=(20_000, 2)) @ np.array([[1.0, 0.9], [0.0, 0.5]])
    frame = pl.DataFrame({"a": z[:, 0], "b": 100 * z[:, 1], "c": rng.random(20_000)})
    table = Table.of(frame, vr.Schema.build(frame, keys=["a", "b"], other=["c"]))

    def after(step):
        made, _, _ = done(table, step)
        return made.frame.select("a", "b").to_numpy()

    alone = after("noise a,b=0.5") - table.frame.select("a", "b").to_numpy()
    assert alone.std(axis=0) / z.std(axis=0) == pytest.approx([0.5, 50.0], rel=0.03)
    assert np.corrcoef(alone.T)[0, 1] == pytest.approx(0.0, abs=0.03)
    together = after("noise a,b=0.5 together=true") - table.frame.select("a", "b").to_numpy()
    assert np.corrcoef(together.T)[0, 1] == pytest.approx(np.corrcoef(z.T)[0, 1], abs=0.02)
    kept = after("noise a,b=0.5 together=true moments=true")
    assert np.cov(kept.T) == pytest.approx(np.cov(table.frame.select("a", "b").to_numpy().T), rel=0.05)


def test_pram_keeps_shares_and_the_chance_of_the_truth():
    frame = pl.DataFrame({"sex": ["m"] * 6000 + ["f"] * 4000, "x": np.arange(10_000)})
    table = Table.of(frame, vr.Schema.build(frame, keys=["sex"], other=["x"]))
    made, _, _ = done(table, "pram sex=0.4")
    after = np.array(values(made, "sex"))
    assert (after == "m").mean() == pytest.approx(0.6, abs=0.015)
    assert (after[:6000] == "m").mean() == pytest.approx(0.6 + 0.4 * 0.6, abs=0.015)


def test_random_steps_are_drawn_afresh_each_time():
    """Who has the recipe, the code and the table's columns must not be able to draw the same numbers."""
    table = vr.datasets.hospital(300, seed=1)
    how = {"keys": ["age", "sex"], "confidential": ["cost"], "drop_undeclared": True, "method": "mdav"}
    first = vr.anonymize(table, steps=["noise cost=0.2"], **how)
    second = vr.anonymize(table, recipe=first.recipe)
    assert sorted(first.table["cost"].to_list()) != sorted(second.table["cost"].to_list())


@pytest.mark.filterwarnings("ignore:.*a gap reveals")
@pytest.mark.filterwarnings("ignore:confidential column 'pay' is kept as it is and reveals")
def test_steps_count_people_and_not_their_rows():
    """One person comes six times: their mean tells about them, and what only they have is rare."""
    frame = pl.DataFrame(
        {
            "who": [0] * 6 + [1 + i // 2 for i in range(60)],
            "age": [30] * 6 + [20 + i // 12 for i in range(60)],
            "pay": [200.0, 210.0, 220.0, 230.0, 240.0, 250.0] + [float(i // 6) for i in range(60)],
            "job": ["diver"] * 6 + ["cook"] * 60,
        }
    )
    roles = {"keys": ["age"], "confidential": ["pay", "job"], "person": "who", "k": 3, "method": "mdav"}
    with pytest.raises(GuaranteeError, match="only 1 people are above"):
        vr.anonymize(frame, steps=["top pay=150 publish=mean"], **roles)
    made = vr.anonymize(frame, steps=["suppress job rare=3"], **roles).table
    assert made["job"].drop_nulls().unique().to_list() == ["cook"]
    assert made["job"].null_count() == 6


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_records_at_risk_lose_a_key(seed: int, weighted: bool) -> None:
    """E[1 / F] is counted again: F trials until f successes, by the sum of its terms."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({
        "sex": rng.choice(["f", "m"], 300), "job": rng.choice(list("abcdefghij"), 300),
        "w": rng.integers(1, 40, 300).astype(float),
    })  # fmt: skip
    text = "suppress job risk=0.0035 weights=w" if weighted else "suppress job risk=0.06"
    table = Table.build(frame, keys=("sex", "job"), other=("w",))
    made, _, _ = run(table, [parse_step(text)], least=2)
    members: dict[tuple[str, str], list[float]] = {}
    for sex, job, weight in frame.rows():
        members.setdefault((sex, job), []).append(weight if weighted else 1.0)
    gone = 0
    for (sex, job, _), after in zip(frame.rows(), made.frame["job"].to_list(), strict=True):
        f, p = len(members[sex, job]), len(members[sex, job]) / sum(members[sex, job])
        terms = [(1 / size) * math.comb(size - 1, f - 1) * p**f * (1 - p) ** (size - f)
                 for size in range(f, 2_000)] if p < 1 else [1 / f]  # fmt: skip
        at_risk = sum(terms) > (0.0035 if weighted else 0.06)
        assert (after is None) == at_risk
        gone += at_risk
    assert 0 < gone < 300


def test_unique_and_true_are_two_counts():
    """After a shuffle everybody has a value of their own, and hardly anybody their own value."""
    frame = pl.DataFrame({"x": [3 * i for i in range(60)], "y": [0] * 60})
    table = Table.of(frame, vr.Schema.build(frame, keys=["x"], other=["y"]))
    made, (effect,), _ = done(table, "shuffle x")
    before, after = np.array(values(table, "x")), np.array(values(made, "x"))
    own = int((before == after).sum())
    assert own < 10
    assert effect.unique == (60, 60)
    assert effect.true == own
    assert effect.changed == 1 - own / 60
    assert effect.error == pytest.approx(np.sqrt(np.mean(np.square(before - after))) / before.std())


def test_a_share_is_so_large():
    frame = pl.DataFrame({"x": np.arange(200), "y": np.zeros(200)})
    table = Table.of(frame, vr.Schema.build(frame, keys=["x"], other=["y"]))
    made, effects, _ = done(table, "top x=5%")
    assert max(values(made, "x")) == 185  # 189 is one person's: rounded so that it stands for several
    assert effects[0].changed == 0.07
    made, effects, _ = done(table, "bottom x=5%")
    assert min(values(made, "x")) == 15


@pytest.mark.parametrize(
    ("step", "error", "part"),
    [
        ("top town=3", SchemaError, "takes numbers or dates"),
        ("round job=3", SchemaError, "takes numbers or dates"),
        ("noise town=0.1", SchemaError, "takes numbers or dates"),
        ("recode age level=1", SchemaError, "takes categories"),
        ("top age=old", InputError, "needs a number"),
        ("top born=yesterday", InputError, "needs a date such as"),
        ("suppress job=zebra", InputError, "has none of the 1 values"),
        ("suppress job risk=0.1 weights=nobody", SchemaError, "no column 'nobody'"),
        ("recode job values=zebra to=x", InputError, "has none of these values"),
        ("recode job level=1 hierarchy=nowhere.csv", vr.ReadError, "cannot read the hierarchy"),
    ],
)
def test_what_a_column_cannot(step, error, part):
    with pytest.raises(error, match=part):
        done(table_of(people()), step)


def test_a_hierarchy(tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text("\n".join(f"{item};{'low' if item < 'd' else 'high'};*" for item in "abcdefg"))
    table = table_of(people())
    made, _, _ = done(table, f'recode job level=1 hierarchy="{file}"')
    loop = {None: None, **{item: "low" if item < "d" else "high" for item in "abcdefg"}}
    assert values(made, "job") == [loop[item] for item in values(table, "job")]
    file.write_text("a;low;*\nb;low;*")
    with pytest.raises(InputError, match="of 7 distinct values of column 'job'"):
        done(table, f'recode job level=1 hierarchy="{file}"')


def test_gaps_that_tell_are_said():
    frame = people().with_columns(pl.col("job").fill_null("a"))
    _, _, notes = done(table_of(frame), "suppress job=b")
    assert "a gap reveals" in notes[0]
    assert done(table_of(frame), "recode job values=b,c to=x")[2] == ()


@pytest.mark.filterwarnings("ignore:other column .tag.")
def test_rows_of_one_person_are_not_drawn_one_by_one():
    frame = pl.DataFrame(
        {
            "who": [i // 2 for i in range(60)],
            "age": [i // 2 for i in range(60)],
            "pay": [0.5 * (i % 20) for i in range(60)],
        }
    )
    roles = {"keys": ["age"], "confidential": ["pay"], "person": "who", "k": 2, "method": "mdav"}
    frame = frame.with_columns(pl.Series("tag", range(60)))
    kept = {"other": ["tag"], "allow_unit_columns": ["pay", "tag"]}
    drawn = vr.anonymize(frame, steps=["noise pay=0.1"], **kept, **roles).table.join(frame, on="tag")
    by_value = drawn.group_by("who", "pay_right").agg(pl.col("pay").n_unique().alias("draws"))
    assert by_value["draws"].max() == 1  # one draw for each person and value
    frame = frame.drop("tag")
    assert vr.anonymize(frame, steps=["round pay=2"], **roles).effects[0].changed > 0.5


@given(
    st.data(),
    st.sampled_from(["int8", "uint8", "int64", "uint64", "float32", "float64"]),
    st.sampled_from(
        [
            "top x=3",
            "bottom x=-2",
            "round x=7",
            "noise x=3",
            "rank-swap x=20",
            "shuffle x",
            "top x=10%",
            "suppress x rare=2",
            "pram x=0.5",
        ]
    ),
    st.sampled_from(LIBRARIES),
)
def test_any_dtype_comes_back_as_it_was(data, dtype, step, library):
    low, high = (-(10**6), 10**6) if dtype.startswith("float") else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    column = data.draw(st.lists(st.one_of(st.none(), st.integers(low, high)), min_size=4, max_size=30))
    if all(item is None for item in column):
        column[0] = 1
    series = pl.Series("x", column, dtype={"float32": pl.Float32, "float64": pl.Float64}.get(
        dtype, getattr(pl, dtype.replace("uint", "UInt").replace("int", "Int", 1) if dtype[0] == "i"
                       else dtype.replace("uint", "UInt"), pl.Int64)))  # fmt: skip
    frame = pl.DataFrame({"y": range(len(column)), "x": series})
    native = {
        "polars": frame,
        "pandas": frame.to_pandas(use_pyarrow_extension_array=True),
        "pyarrow": frame.to_arrow(),
    }
    table = Table.of(
        native[library], vr.Schema.build(native[library], keys=["y"], other=["x"], kinds={"x": "numeric"})
    )
    made, _, _ = done(table, step)
    assert made.frame["x"].dtype == table.frame["x"].dtype
    before, after = values(table, "x"), values(made, "x")
    if "suppress" not in step:
        assert [item is None for item in before] == [item is None for item in after]
    if step == "top x=3":
        assert all(item is None or (new == item if item <= 3 else new == 3)
                   for item, new in zip(before, after, strict=True))  # fmt: skip
    assert isinstance(nw.to_native(made.frame), type(native[library]))


def test_whole_numbers_near_the_largest_are_rounded_within_their_type():
    """The float nearest to them is one too large for a whole number."""
    frame = pl.DataFrame({"x": [None, 9_223_372_036_854_774_273, 5]})
    made, _, _ = done(Table.of(frame, vr.Schema.build(frame, keys=["x"])), "round x=7")
    assert values(made, "x") == [None, np.iinfo(np.int64).max, 7]
