"""Every model against a slow checker that shares no code with it, on random tables with missing values."""

import math
from fractions import Fraction

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy import oracles
from repeats import examples
from tables import LIBRARIES, build
from voronym.privacy import (
    DeltaDisclosure,
    LDiversity,
    MutualInformation,
    PSensitive,
    TCloseness,
    parse_model,
)
from voronym.table import Table

KEYS = ("age", "place")
TREE = {"a": ("x", "top"), "b": ("x", "top"), "c": ("y", "top"), "d": ("y", "top"), "e": ("z", "top")}

numbers = st.one_of(st.none(), st.integers(-3, 6))
floats = st.one_of(st.none(), st.just(math.nan), st.sampled_from([-0.0, 0.0, 1.5, -2.25, 1e9]))
words = st.one_of(st.none(), st.sampled_from("abcde"))


@st.composite
def tables(draw, secret=None):
    n = draw(st.integers(1, 24))
    secrets = draw(st.sampled_from([numbers, floats, words])) if secret is None else secret
    return {
        "age": draw(st.lists(st.sampled_from([1, 2, None]), min_size=n, max_size=n)),
        "place": draw(st.lists(st.sampled_from(["p", "q"]), min_size=n, max_size=n)),
        "secret": draw(st.lists(secrets, min_size=n, max_size=n)),
    }


def records(native):
    return Table.build(native, keys=KEYS, confidential=["secret"])


def table(columns, library="polars"):
    return records(build(columns, library))


def value(model, columns, library="polars"):
    return model.measure(table(columns, library)).value


def split(columns):
    groups = oracles.classes(columns, KEYS, "secret")
    return groups, [v for group in groups for v in group]


@examples(12, 75)
@given(tables())
def test_counts_and_entropies(columns):
    groups, _ = split(columns)
    assert value(PSensitive(), columns) == oracles.distinct(groups)
    assert value(LDiversity(), columns) == oracles.distinct(groups)
    assert value(LDiversity(kind="entropy"), columns) == pytest.approx(oracles.entropy_l(groups), rel=1e-12)
    for c in (Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3)):
        for l in (2, 3):  # noqa: E741
            result = LDiversity(l, "recursive", c=float(c)).measure(table(columns))
            assert result.holds == oracles.recursive_holds(groups, c, l)


@examples(12, 75)
@given(tables())
def test_distances(columns):
    groups, everybody = split(columns)
    for distance, oracle in (
        ("ordered", oracles.ordered),
        ("equal", oracles.equal),
        ("total-variation", oracles.equal),
        ("kl", oracles.kl),
    ):
        expected = max(oracle(group, everybody) for group in groups)
        assert value(TCloseness(distance=distance), columns) == pytest.approx(expected, abs=1e-12), distance
    kinds = {type(v) for v in columns["secret"]} - {type(None)}
    by_default = "equal" if kinds == {str} or not kinds else "ordered"
    assert value(TCloseness(), columns) == value(TCloseness(distance=by_default), columns)


@examples(10, 60)
@given(tables(words))
def test_transport_as_a_linear_programme(columns):
    groups, everybody = split(columns)
    ground = oracles.tree_ground(TREE)
    expected = max(oracles.transport(group, everybody, ground) for group in groups)
    assert value(TCloseness(taxonomy=TREE), columns) == pytest.approx(expected, abs=1e-9)
    expected = max(oracles.transport(group, everybody, lambda a, b: a != b) for group in groups)
    assert value(TCloseness(distance="equal"), columns) == pytest.approx(expected, abs=1e-9)


@examples(12, 75)
@given(tables())
def test_information_and_disclosure(columns):
    groups, _ = split(columns)
    expected = oracles.information(groups)
    nats = value(MutualInformation(bins="distinct"), columns)
    assert nats == pytest.approx(expected, abs=1e-12)
    assert value(MutualInformation(bins="distinct", unit="bits"), columns) == pytest.approx(
        nats / math.log(2)
    )
    disclosure = value(DeltaDisclosure(), columns)
    assert disclosure == pytest.approx(oracles.delta(groups), abs=1e-12)
    # The average is below the worst class, and that below the worst value of a class.
    worst = value(TCloseness(distance="kl"), columns)
    assert nats <= worst + 1e-12
    assert worst <= disclosure + 1e-12
    assert 2 * value(TCloseness(distance="equal"), columns) ** 2 <= worst + 1e-12  # Pinsker


EVERY = [
    "p-sensitive",
    "l-diversity",
    "l-diversity=entropy",
    "l-diversity=recursive:2:2",
    "t-closeness",
    "t-closeness=distance=equal",
    "t-closeness=distance=kl",
    "delta-disclosure",
    "mutual-information",
    "mutual-information=bins=3",
]


@examples(7, 45)
@given(tables(), st.randoms(use_true_random=False))
def test_rows_index_and_library_change_nothing(columns, random):
    n = len(columns["age"])
    order = random.sample(range(n), n)
    shuffled = {name: [values[i] for i in order] for name, values in columns.items()}
    for text in EVERY:
        model = parse_model(text)
        results = [model.measure(table(columns, library)) for library in LIBRARIES]
        results.append(model.measure(table(shuffled)))
        for other in results[1:]:
            assert other.value == results[0].value, text
            assert other.holds == results[0].holds
            assert [place["size"] for place in other.worst] == [place["size"] for place in results[0].worst]


@examples(6, 36)
@given(tables(numbers))
def test_the_dtype_of_a_number_changes_nothing(columns):
    whole = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    secret = whole["secret"]
    made = {
        "float": secret.astype(float),
        "nullable": secret.astype("Int64"),
        "small": secret.astype("Int16"),
        "arrow": secret.astype("Int64").astype("int64[pyarrow]"),
        "object": secret,
    }
    for text in EVERY:
        results = {}
        for name, column in made.items():
            results[name] = parse_model(text).measure(records(whole.assign(secret=column))).value
        assert len(set(results.values())) == 1 or not secret.notna().any(), (text, results)


def test_the_dtype_of_a_label_changes_nothing():
    labels = ["b", "a", None, "b", "c", "a"]
    columns = {"age": [1, 1, 1, 2, 2, 2], "place": ["p"] * 6, "secret": labels}
    plain = pl.DataFrame(columns)
    made = [
        plain,
        plain.with_columns(pl.col("secret").cast(pl.Categorical)),
        plain.to_pandas(),
        plain.to_pandas().astype({"secret": "category"}),
        plain.to_pandas().astype({"secret": "string"}),
        plain.to_arrow(),
    ]
    for text in EVERY:
        model = parse_model(text)
        matches = {model.measure(records(t)).value for t in made}
        assert len(matches) == 1, text
