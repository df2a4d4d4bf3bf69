"""SUDA2 against every set of columns, one after the other."""

from collections import Counter
from itertools import combinations
from math import factorial

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.core.context import Context
from voronym.errors import InputError
from voronym.evaluate.population.minimal import minimal_uniques


def enumerated(codes, size):
    """All minimal uniques by definition: unique in the set, and in no proper subset of any size."""
    d, n = codes.shape
    unique = {}
    for s in range(1, size + 1):
        for columns in combinations(range(d), s):
            rows = [tuple(row) for row in codes[list(columns)].T.tolist()]
            counts = Counter(rows)
            unique[columns] = {i for i in range(n) if counts[rows[i]] == 1}
    out = {}
    for columns, rows in unique.items():
        smaller = [part for s in range(1, len(columns)) for part in combinations(columns, s)]
        left = rows - set().union(*(unique[part] for part in smaller))
        if left:
            out[columns] = left
    return out


def tables(count):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(1, 40)), int(rng.integers(1, 7))
        levels = rng.integers(1, [2, 4, 12, 60][seed % 4] + 1, d)
        codes = np.array([rng.integers(0, m, n) for m in levels], np.int64)
        yield np.ascontiguousarray(codes), int(rng.integers(1, d + 1))


def test_equals_enumeration_on_200_tables():
    seen = 0
    for codes, size in tables(200):
        results = {
            tuple(c for c in range(len(codes)) if columns >> c & 1): set(rows.tolist())
            for columns, rows in minimal_uniques(codes, size, Context())
        }
        assert results == enumerated(codes, size)
        seen += sum(map(len, results.values()))
    assert seen > 2000


def test_scores_are_those_of_the_paper():
    for codes, size in tables(30):
        d, n = codes.shape
        frame = pl.DataFrame({f"c{i}": column for i, column in enumerate(codes)})
        result = vr.suda(frame, keys=frame.columns, size=size)
        scores, parts, sizes = np.zeros(n), np.zeros((n, d)), Counter()
        most = min(size, d - 1)
        for columns, rows in enumerated(codes, size).items():
            s = len(columns)
            score = factorial(d - s) / factorial(d - most - 1) if s <= most else 1
            sizes[s] += len(rows)
            for row in rows:
                scores[row] += score
                parts[row, list(columns)] += score
        assert np.array_equal(result.scores, scores)
        assert result.by_size == dict(sorted(sizes.items()))
        assert result.unique == (scores > 0).sum()
        if scores.any():
            assert np.allclose(list(result.contribution.values()), parts.sum(axis=0) / scores.sum())
            rows = scores > 0
            assert np.allclose(result.shares[rows], parts[rows] / scores[rows, None])


def test_order_of_columns_and_rows_is_nothing():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({f"c{i}": rng.integers(0, 9, 300) for i in range(6)})
    order, names = rng.permutation(300), list(rng.permutation(frame.columns))
    first = vr.suda(frame, keys=frame.columns, size=4)
    second = vr.suda(frame[order.tolist()], keys=names, size=4)
    assert np.array_equal(first.scores[order], second.scores)
    assert first.contribution == pytest.approx(second.contribution)


def test_data_intrusion_simulation():
    frame = pl.DataFrame({"a": [1, 2, 3, 4, 4, 5, 5, 5], "b": [0] * 8})
    result = vr.suda(frame, keys=["a", "b"], sampling_fraction=0.1)
    assert result.match == pytest.approx(0.1 * 3 / (0.1 * 3 + 2 * 0.9 * 1))
    assert result.risks[:3] == pytest.approx(result.match)  # three equal scores share it equally
    assert result.risks[3:].tolist() == [0.0] * 5
    everybody = vr.suda(frame, keys=["a"], sampling_fraction=1.0)
    assert everybody.match == 1.0
    assert everybody.risks[:3].tolist() == [1.0] * 3


def test_no_dis_score_is_above_one():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": [99, *rng.integers(0, 3, 99)], "b": rng.integers(0, 30, 100)})
    result = vr.suda(
        frame.with_columns(c=pl.Series(rng.integers(0, 30, 100))), keys=list("abc"), sampling_fraction=0.9
    )
    assert result.risks.max() <= 1.0
    sizes = Counter(frame.with_columns(c=pl.Series(range(100))).rows()).values()
    assert set(sizes) == {1}
    assert result.risks.sum() <= 100 * result.match + 1e-9


def test_missing_is_a_value_and_nothing_personal_is_told():
    frame = pl.DataFrame({"town": ["secret", None, "b", "b"]})
    result = vr.suda(frame, keys=["town"])
    assert result.scores.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert "secret" not in str(result) + repr(result) + str(result.to_dict())
    assert "scores" not in result.to_dict()


def test_what_cannot_be_is_refused():
    frame = pl.DataFrame({"a": [1, 2]})
    with pytest.raises(InputError, match="no column 'b'"):
        vr.suda(frame, keys=["b"])
    with pytest.raises(InputError, match="no key column"):
        vr.suda(frame, keys=[])
    with pytest.raises(InputError, match="size must be"):
        vr.suda(frame, keys=["a"], size=0)
    with pytest.raises(InputError, match="above 0 and at most 1"):
        vr.suda(frame, keys=["a"], sampling_fraction=1.5)


def test_a_wish_to_cancel_is_heard():
    ctx = Context()
    ctx.cancel()
    with pytest.raises(vr.Cancelled):
        list(minimal_uniques(np.zeros((3, 5), np.int64), 2, ctx))
