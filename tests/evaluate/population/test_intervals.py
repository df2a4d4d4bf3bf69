"""The intervals of population risk: as wide as what is drawn again, or computed another way, says."""

import numpy as np
import pytest
from scipy.stats import hypergeom

import voronym as vr
from voronym.evaluate.population import classes
from voronym.evaluate.population.classes import Sizes
from voronym.evaluate.population.figures import Matches


def test_matches_are_within_their_interval_as_often_as_said():
    rng = np.random.default_rng(2)
    risks = rng.uniform(0.0, 0.4, 500)
    result = Matches.of(risks, 0.2, "")
    drawn = (rng.random((4000, 500)) < risks).sum(axis=1)
    low, high = result.interval
    assert 0.93 < np.mean((low <= drawn) & (drawn <= high)) < 0.97
    assert Matches.of(np.array([1.0, 1.0]), 0.2, "").interval == (2.0, 2.0)


def test_members_of_a_household_are_found_together():
    """So their number varies more than that of as many single people."""
    rng = np.random.default_rng(5)
    table = vr.datasets.hospital(400, seed=1).select("age", "sex")
    homes = np.arange(400) // 5
    result = vr.population_risk(
        table.with_columns(home=homes), keys=["age", "sex"], sampling_fraction=0.02, household="home"
    )
    single = 1 - np.array([np.prod(1 - result.risks[homes == home]) for home in range(80)])
    drawn = 5 * (rng.random((4000, 80)) < single).sum(axis=1)
    low, high = result.members.interval
    assert 0.92 < np.mean((low <= drawn) & (drawn <= high)) < 0.98


@pytest.mark.parametrize(("theta", "alpha"), [(30.0, 0.5), (4.0, 0.2)])
def test_the_error_of_pitmans_uniques_is_that_of_the_likelihood(theta, alpha):
    """The curvature and the slope by differences, in place of formulas."""
    sizes = Sizes.of(np.repeat([1, 2, 3, 8, 40], [90, 30, 12, 6, 3]), 5000)
    step = np.array([1e-3 * theta, 1e-3 * alpha])
    at = np.array([theta, alpha])

    def likelihood(a, b):
        return classes.log_likelihood(*(at + step * (a, b)), sizes)

    middle = likelihood(0, 0)
    second = np.array(
        [
            [likelihood(1, 0) - 2 * middle + likelihood(-1, 0), 0.0],
            [0.0, likelihood(0, 1) - 2 * middle + likelihood(0, -1)],
        ]
    )
    cross = (likelihood(1, 1) - likelihood(1, -1) - likelihood(-1, 1) + likelihood(-1, -1)) / 4
    second[0, 1] = second[1, 0] = cross
    second /= np.outer(step, step)

    def expected(a, b):
        return classes._log_expected(*(at + step * (a, b)), 5000, 1)

    slope = np.array([expected(1, 0) - expected(-1, 0), expected(0, 1) - expected(0, -1)]) / (2 * step)
    error = np.sqrt(slope @ np.linalg.inv(-second) @ slope)
    assert classes._spread(theta, alpha, sizes) == pytest.approx(error, rel=0.01)
    low, high = classes._around(5.0, 0.1, sizes)
    assert (np.log(low), np.log(high)) == pytest.approx((5 - 0.196, 5 + 0.196))


def test_zayatz_varies_as_much_as_said():
    counts = {1: 50, 2: 20, 3: 10, 9: 5}
    result = classes.zayatz(Sizes.of(np.repeat(list(counts), list(counts.values())), 400))
    chance = np.array([hypergeom(400, i, 165).pmf(1) for i in counts])
    rng = np.random.default_rng(8)
    drawn = rng.poisson(list(counts.values()), (3000, 4))
    again = drawn[:, 0] ** 2 * chance[0] / (drawn @ chance) * 400 / 165
    assert np.log(result.high / result.low) / (2 * 1.96) == pytest.approx(np.log(again).std(), rel=0.3)
    assert np.log(result.high / result.uniques) == pytest.approx(np.log(result.uniques / result.low))
