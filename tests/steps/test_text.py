"""The text forms of steps: they come back equal, and mistakes are said."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.core import grammar
from voronym.errors import InputError, SchemaError
from voronym.steps import STEPS, Bottom, Noise, Recode, RecordSwap, Round, Shuffle, Suppress, Top, parse_step

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=8
).filter(lambda text: text == text.strip() and text)
VALUES = st.one_of(
    st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x != 0)
)


@st.composite
def some_step(draw):
    columns = tuple(draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)))
    others = tuple(name for name in draw(st.lists(NAMES, max_size=2, unique=True)) if name not in columns)
    when = draw(st.sampled_from(["before", "after"]))
    return draw(
        st.sampled_from(
            [
                Top(columns, when, draw(VALUES)),
                Bottom(columns, when, "2.5%", "mean"),
                Top(columns, when, "2020-01-31"),
                Round(columns, when, abs(draw(VALUES)) + 1),
                Noise(columns, when, 0.25, together=True),
                Suppress(columns, when, tuple(draw(st.lists(NAMES, max_size=3)))),
                Suppress(columns, when, rare=5),
                Recode(columns, when, level=2, hierarchy=draw(NAMES)),
                Recode(columns, when, values=("a", draw(NAMES)), to=draw(NAMES)),
                RecordSwap(columns, when, 3.0, others),
                Shuffle(columns, when, others),
            ]
        )
    )


@given(some_step())
def test_a_step_comes_back_from_its_text(step):
    assert parse_step(str(step)) == step


def test_every_step_is_documented_and_says_what_it_does():
    for name, cls in STEPS.items():
        assert cls.guarantee
        assert cls.usage().startswith(name)
        assert cls.__doc__


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "needs a name"),
        ("tpo age=90", "Did you mean 'top'"),
        ("top", "needs the columns"),
        ("top age", "lacks a value: top COLUMN=LIMIT"),
        ("top age=90 publish=max", "'limit' or 'mean'"),
        ("top age=90 colour=red", "'colour' is no option"),
        ("top age=90 publish=mean publish=limit", "given twice"),
        ("top age,age=90", "named twice"),
        ("top age=120%", "share of the records"),
        ('top "age=90', "quote"),
        ("round age=0", "above 0"),
        ("round age=-5", "above 0"),
        ("noise age=much", "must be a number"),
        ("rank-swap age=101", "100"),
        ("pram sex=2", "1"),
        ("shuffle age=3", "takes no value"),
        ("shuffle age about=age", "about itself"),
        ("suppress sex=a rare=3", "give exactly one of"),
        ("suppress sex rare=3 risk=0.1", "give exactly one of"),
        ("suppress sex risk=9", "1"),
        ("suppress sex weights=w", "weights are for risk"),
        ("suppress sex rare=1", "2 or more"),
        ("recode sex", "needs one of"),
        ("recode sex hierarchy=x.csv", "needs one of"),
        ("recode sex values=a", "to=NAME says what the values become"),
        ("record-swap sex=5 match=sex", "equal at once"),
    ],
)
def test_mistakes_are_said(text, part):
    with pytest.raises(InputError, match=re.escape(part)):
        parse_step(text)


def test_columns_that_no_release_has():
    table = vr.datasets.hospital(50, seed=1)
    roles = {"keys": ["age"], "identifiers": ["name"], "drop_undeclared": True}
    with pytest.raises(SchemaError, match="no column 'aeg'"):
        vr.anonymize(table, steps=["top aeg=90"], **roles)
    with pytest.raises(SchemaError, match="'name' is dropped, as an identifier"):
        vr.anonymize(table, steps=["suppress name"], **roles)


def test_recipes_hold_steps(tmp_path):
    table = vr.datasets.hospital(60, seed=1)
    release = vr.anonymize(
        table, keys=["age"], drop_undeclared=True, steps=["top  age=80", Round(("age",), to=5)], method="mdav"
    )
    assert release.recipe.steps == ("top age=80", "round age=5")
    release.recipe.save(tmp_path / "r.toml")
    again = vr.Recipe.load(tmp_path / "r.toml")
    assert again == release.recipe
    same = vr.anonymize(table, recipe=again)
    assert sorted(same.table["age"].to_list()) == sorted(release.table["age"].to_list())
    with pytest.raises(InputError, match="without steps"):
        vr.anonymize(table, recipe=again, steps=["top age=3"])
    assert vr.Recipe(again.schema, steps="top age=90").steps == ("top age=90",)
    with pytest.raises(InputError, match="steps must be a text such as 'top age=90', or a list of them"):
        vr.Recipe(again.schema, steps=[90])


@given(st.dictionaries(NAMES, st.text('abc=," 1', min_size=1).map(str.strip).filter(bool), max_size=4))
def test_names_and_values_come_back(given_pairs):
    typed = [f"{grammar.quoted(name)}={value}" for name, value in given_pairs.items()]
    assert grammar.pairs(typed, "--importance") == given_pairs


def test_a_wrong_pair_is_named_with_its_place():
    with pytest.raises(InputError, match=r"--importance takes NAME=VALUE, not 'zip' \(entry 2 of 2\)"):
        grammar.pairs(["age=2", "zip"], "--importance")
    with pytest.raises(InputError, match=r"'foo' is no option of it \(word 3\)"):
        parse_step("top age=90 foo=2")
