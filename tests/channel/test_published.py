"""What a channel's release tells about its rules: exact for the recoded column, silent about rare values."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from voronym.channel.published import RARE_RECORDS, published_matrix


@st.composite
def laws(draw):
    n = draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    matrix = rng.dirichlet(np.full(n, 0.5), n)
    codes = np.concatenate(
        [np.arange(n), rng.choice(n, draw(st.integers(0, 120)), p=rng.dirichlet(np.ones(n)))]
    )
    drawn = np.array([rng.choice(n, p=matrix[x]) for x in codes])
    return matrix, codes, drawn


@given(laws())
def test_it_is_the_law_of_the_recoded_column(law):
    matrix, codes, drawn = law
    n = len(matrix)
    output = published_matrix(matrix, codes, drawn, [[f"v{i}"] for i in range(n)])
    often = [int((codes == i).sum()) for i in range(n)]
    if output is None:
        return
    apart = [int(name[0][1:]) for name in output.letters]
    rest = [i for i in range(n) if i not in apart]
    assert len(rest) == output.together
    assert all(often[i] >= RARE_RECORDS and i in drawn for i in apart)
    if rest:
        assert sum(often[i] for i in rest) >= RARE_RECORDS  # a row of fewer people is not told
    groups = [[i] for i in apart] + ([rest] if rest else [])
    assert len(groups) == len(output.rows) >= 2
    for a, row in zip(groups, output.rows, strict=True):
        assert abs(sum(row) - 1.0) < 1e-9
        for b, value in zip(groups, row, strict=True):
            total = sum(often[i] for i in a)
            exact = sum(often[i] * matrix[i, j] for i in a for j in b) / total  # brute force
            assert abs(value - exact) < 1e-5
        assert min(row) >= 0.0


def test_nothing_is_told_where_every_value_is_rare():
    codes = np.arange(5)
    assert published_matrix(np.eye(5), codes, codes, [[i] for i in range(5)]) is None


@pytest.mark.filterwarnings("ignore:in the masked table")  # noise of some draws hides less than planned
def test_a_release_tells_matrices_and_noise_in_json_types():
    table = vr.datasets.hospital(400, outliers=3, seed=1).select("age", "sex", "nationality", "diagnosis")
    release = vr.anonymize(
        table, keys=["age", "sex", "nationality"], confidential=["diagnosis"], method="channel",
        options={"max_distortion": 0.4},
    )  # fmt: skip
    figures = json.loads(json.dumps(release.to_dict()["inside"]["figures"], allow_nan=False))
    noise, pram = figures["parts"]
    (age,) = noise["noise"]
    assert age["columns"] == ["age"]
    # Var(X) = Var(X̂) + what is lost, and X̂ = kept X + noise: both say the same
    assert abs(age["kept"] ** 2 + age["noise_sd"] ** 2 + age["lost"] - 1.0) < 1e-6
    assert abs(age["lost"] - noise["planned_distortion"]) < 1e-6
    output = pram["matrix"]
    assert {len(letter) for letter in output["letters"]} == {2}
    rare = {"Bhutan", "Tuvalu", "Nauru"}
    assert not any(rare & set(letter) for letter in output["letters"])
    assert output["together"] >= 3


def test_a_missing_category_is_none_and_numbers_are_as_written():
    table = pl.DataFrame({"code": [1, 2] * 50 + [None] * 20, "ill": ["a", "b"] * 60})
    schema = vr.Schema.build(table, keys=["code"], confidential=["ill"], kinds={"code": "nominal"})
    made = vr.channel.mask_keys(table, schema, max_distortion=0.2, seed=2)
    output = made.figures.parts[0].matrix
    assert sorted(map(str, (letter[0] for letter in output.letters))) == ["1", "2", "None"]
