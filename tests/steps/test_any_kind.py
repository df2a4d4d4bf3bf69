"""Any steps on keys of any kind, with missing values, under any way of publishing: k in the written file."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import voronym as vr
from tables import LIBRARIES, build, count_csv, key_tables
from voronym.errors import InputError
from voronym.steps import STEPS

NUMBERS = ("int", "big", "float", "wide", "same")
ON_NUMBERS = [
    "top {}=1",
    "bottom {}=0",
    "top {}=20%",
    "round {}=3",
    "round {}=7 how=down",
    "noise {}=0.5",
    "rank-swap {}=30",
    "microaggregate {}=3",
]
ON_TIMES = ["top {}=20%", "bottom {}=20%", "round {}=30", "noise {}=0.5", "rank-swap {}=30"]
ON_ANY = [
    "shuffle {}",
    "suppress {} rare=2",
    "suppress {}",
    "pram {}=0.4",
    "record-swap {}=30",
]
ON_WORDS = ["recode {} values=a,b to=c", "recode {} level=1", "suppress {}=a"]
WAYS = {
    "mean": {},
    "median": {"publish": "median"},
    "interval": {"publish": "interval"},
    "hierarchy": {"publish": "hierarchy"},
    "ranges": {"space": "ranges"},
    "mixed": {"space": "mixed"},
    "lattice": {"method": "lattice"},
    "local-suppression": {"method": "local-suppression"},
}


@st.composite
def some_steps(draw, columns):
    """Draw up to three steps that columns of these kinds can take, some of them for after the groups."""
    made = []
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from([column for column in columns if column.startswith("key")]))
        kind = name.split()[-1]
        able = [*ON_ANY]
        able += ON_NUMBERS if kind in NUMBERS else ON_TIMES if kind in ("date", "time") else []
        able += ON_WORDS if kind == "word" else []
        text = draw(st.sampled_from(able)).format(f'"{name}"')
        after = draw(st.booleans()) and text.split()[0] in ("top", "bottom", "round", "suppress")
        made.append(("after " if after else "") + text)
    return made


def written(columns, k, library, steps, way):
    """Make a release and return the least count of a combination of keys in its file; None where refused."""
    keys = [name for name in columns if name.startswith("key")]
    more = {"method": "mdav", **WAYS[way]}
    if way == "hierarchy":
        more["publish"] = {
            key: "hierarchy" if key.split()[-1] in ("word", "bool") else "mean" for key in keys
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        release = vr.anonymize(
            build(columns, library),
            keys=keys,
            confidential=["secret"],
            identifiers=["name"],
            kinds={key: "numeric" for key in keys if key.split()[-1] in NUMBERS},
            k=k,
            steps=steps,
            allow_near_unique=keys,
            allow_loss=keys,
            **more,
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.csv"
        release.write(path, guard=False)
        return count_csv(path, keys)


@given(data=st.data(), drawn=key_tables(max_rows=16), library=st.sampled_from(LIBRARIES))
def test_k_in_the_file_whatever_the_steps_and_the_way(data, drawn, library):
    columns, k = drawn
    way = data.draw(st.sampled_from(sorted(WAYS)))
    steps = data.draw(some_steps(columns))
    ranged = way in ("interval", "hierarchy", "ranges", "lattice")
    if ranged:  # what is published is text, which no step on numbers takes
        steps = [step.removeprefix("after ") for step in steps]
    try:
        least = written(columns, k, library, steps, way)
    except InputError as error:  # such as values that the column has not; said of the step that it is about
        if not str(error).startswith(("step '", "after steps")):
            raise
        event("refused: a step")
        return
    event(way)
    assert least >= k


def test_every_step_is_tried():
    tried = {text.split()[0] for text in (*ON_NUMBERS, *ON_TIMES, *ON_ANY, *ON_WORDS)}
    assert tried == set(STEPS)


@pytest.mark.parametrize(
    ("way", "steps"),
    [
        ("mean", ["noise age=0.1"]),
        ("median", ["rank-swap weight=5", "pram sex=0.1"]),
        ("interval", ["record-swap zip=10 match=sex"]),
        ("lattice", ["top age=80", "round weight=5", "recode zip level=2"]),
        ("local-suppression", ["round age=10", "round weight=20", "recode zip level=3", "shuffle weight"]),
    ],
)
def test_whoever_knows_the_keys_links_one_in_k_at_most(way, steps):
    patients = (
        vr.datasets.hospital(160, seed=6).select("age", "sex", "zip", "weight", "diagnosis").drop_nulls()
    )
    roles = {"keys": ["age", "sex", "zip", "weight"], "confidential": ["diagnosis"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        release = vr.anonymize(patients, k=4, steps=steps, **{"method": "mdav", **roles, **WAYS[way]})
    own = np.argsort(release._evidence.order)
    keys = release.table.select(roles["keys"]).rows()
    # The strongest claim: the whole class in which somebody's record is, known for certain.
    chance = [1 / keys.count(keys[row]) for row in own]
    assert max(chance) <= 1 / 4
    result = vr.attack(release, attacks=["linkage", "linkage-assignment", "linkage-exact"], targets=160)
    for outcome in result.outcomes:
        # Four deviations: what steps draw and the order of the rows differ each time.
        assert outcome.success <= 1 / 4 + 4 * (0.25 * 0.75 / outcome.people) ** 0.5, (
            outcome.attack,
            outcome.success,
        )
