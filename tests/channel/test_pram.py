"""Post-randomisation: frequencies by the matrix, and their undoing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from voronym.channel import pram, recover
from voronym.errors import InputError

FLIP = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]])


def table(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    illness = (rng.random(n) < np.array([0.1, 0.4, 0.7])[codes]).astype(np.int64)
    return codes, illness


def test_frequencies_pass_a_chi_square_test():
    codes, _ = table()
    released = pram(codes, matrix=FLIP, seed=5)
    for x in range(3):
        seen = np.bincount(released.codes[codes == x], minlength=3)
        expected = FLIP[x] * (codes == x).sum()
        there = expected > 0
        assert (seen[~there] == 0).all()
        assert stats.chisquare(seen[there], expected[there]).pvalue > 1e-4


def test_reproducible_by_seed():
    codes, _ = table(500)
    same, again, other = (pram(codes, matrix=FLIP, seed=s).codes for s in (1, 1, 2))
    assert np.array_equal(same, again)
    assert not np.array_equal(same, other)


def test_the_solver_s_matrix_meets_the_limit():
    codes, illness = table(2000)
    released = pram(codes, illness, max_distortion=0.2, seed=3)
    assert released.channel.distortion <= 0.2
    assert (released.codes != codes).mean() == pytest.approx(0.2, abs=0.04)
    less = pram(codes, illness, max_risk=0.5 * released.channel.risk)
    assert less.channel.risk <= 0.5 * released.channel.risk
    assert less.channel.distortion > released.channel.distortion
    ranks = np.abs(np.arange(3)[:, None] - np.arange(3.0))
    assert pram(codes, illness, max_distortion=0.2, d=ranks).channel.distortion <= 0.2


def test_the_estimator_is_unbiased_and_its_errors_are_right():
    codes, illness = table(1000, seed=1)
    truth = np.zeros((3, 2))
    np.add.at(truth, (codes, illness), 1 / len(codes))
    results = [pram(codes, matrix=FLIP, seed=s).recover(illness) for s in range(400)]
    shares = np.array([f.shares for f in results])
    spread = shares.std(axis=0)
    assert np.abs(shares.mean(axis=0) - truth).max() < 4 * (spread / np.sqrt(400)).max()
    # over tables drawn anew the spread is that of the stated errors
    rng = np.random.default_rng(2)
    drawn = []
    for s in range(400):
        fresh = rng.choice(3, 1000, p=[0.5, 0.3, 0.2])
        drawn.append(recover(pram(fresh, matrix=FLIP, seed=s).codes, FLIP).shares)
    errors = recover(pram(codes, matrix=FLIP).codes, FLIP).errors
    assert np.array(drawn).std(axis=0) == pytest.approx(errors, rel=0.2)
    assert np.array(drawn).mean(axis=0) == pytest.approx([0.5, 0.3, 0.2], abs=0.01)


def test_by_hand():
    # 60 of 100 seen, flips of 0.1: 0.6 = 0.9 t + 0.1 (1 - t)
    result = recover([0] * 60 + [1] * 40, [[0.9, 0.1], [0.1, 0.9]])
    assert result.shares == pytest.approx([0.625, 0.375])
    assert result.errors == pytest.approx(np.sqrt(0.6 * 0.4 / 100) / 0.8)
    assert result.condition == pytest.approx(1 / 0.8)


def test_the_nonnegative_variant_has_no_negative_share_and_agrees_inside():
    rare = np.array([0] * 95 + [1] * 5)
    flip = [[0.9, 0.1], [0.1, 0.9]]
    assert recover(rare, flip).shares[1] < 0.0
    kept = recover(rare, flip, nonnegative=True)
    assert (kept.shares >= 0.0).all()
    assert kept.shares == pytest.approx([1.0, 0.0], abs=1e-6)
    inside = recover([0] * 60 + [1] * 40, flip, nonnegative=True)
    assert inside.shares == pytest.approx([0.625, 0.375], abs=1e-9)
    joint = recover([0] * 60 + [1] * 40, flip, [0, 1] * 50, nonnegative=True)
    assert joint.shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (
            lambda: recover([0, 1], [[0.5, 0.5], [0.5, 0.5]]),
            "cannot be inverted: 2 categories .* 1 independent",
        ),
        (lambda: recover([0, 2], np.eye(2)), "has 2 columns"),
        (lambda: recover([0, 1], np.eye(2), [0]), "one table"),
        (lambda: pram([0, 1], matrix=[[0.5, 0.6], [0.0, 1.0]]), "1 of 2 rows"),
        (lambda: pram([0, 1], matrix=[[1.5, -0.5], [0.0, 1.0]]), "1 negative"),
        (lambda: pram([0, 1], matrix=np.eye(2), max_risk=0.1), "not both"),
        (lambda: pram([0, 1], max_risk=0.1), "confidential"),
        (lambda: pram([0, 1], [0], max_risk=0.1), "one table"),
        (lambda: pram([0.5], [0], max_risk=0.1), "whole numbers"),
        (lambda: pram([0, -1], [0, 0], max_risk=0.1), "give missing values a category"),
        (lambda: pram([0, 2], matrix=np.eye(2)), "1 of 2 letters"),
    ],
)
def test_bad_input_is_refused_with_a_reason(work, words):
    with pytest.raises(InputError, match=words):
        work()


def test_more_published_letters_than_original_ones():
    """Shares add up to 1, the estimator is unbiased, and no other one of that sum is nearer to T."""
    rule = np.array([[0.6, 0.3, 0.1, 0.0], [0.1, 0.2, 0.6, 0.1]])
    codes = np.repeat([0, 1], [700, 300])
    other = np.tile([0, 1, 1, 1, 1], 200)
    results = [pram(codes, matrix=rule, seed=s).recover(other) for s in range(300)]
    shares = np.array([f.shares for f in results])
    assert shares.sum(axis=1) == pytest.approx(np.tile([0.2, 0.8], (300, 1)), abs=1e-12)
    truth = np.outer([0.7, 0.3], [0.2, 0.8])
    assert np.abs(shares.mean(axis=0) - truth).max() < 4 * shares.std(axis=0).max() / np.sqrt(300)
    assert (shares.std(axis=0) < np.mean([f.errors for f in results], axis=0)).all()  # drawing adds to them
    first = pram(codes, matrix=rule, seed=1)
    T = np.bincount(first.codes, minlength=4) / 1000
    near = np.linspace(0.0, 1.0, 100_001)
    far = np.square(np.outer(near, rule[0]) + np.outer(1 - near, rule[1]) - T).sum(axis=1)
    assert first.recover().shares == pytest.approx([near[far.argmin()], 1 - near[far.argmin()]], abs=1e-5)
