"""Population uniques: the published formulas, computed another way, and populations that are known."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.special import binom
from scipy.stats import hypergeom

import voronym as vr
from voronym.core.context import Context
from voronym.evaluate.population import classes, loglinear
from voronym.evaluate.population.classes import Sizes
from voronym.evaluate.population.rule import Uniques, dankar, population_uniques


def restaurant(theta, alpha, n, rng):
    """Seat people one by one, as Pitman's process does: the sizes of the tables."""
    sizes = []
    for seated in range(n):
        at = rng.random() * (theta + seated)
        for table, size in enumerate(sizes):
            at -= size - alpha
            if at < 0:
                sizes[table] += 1
                break
        else:
            sizes.append(1)
    return np.array(sizes)


@pytest.mark.parametrize(("theta", "alpha"), [(5.0, 0.3), (80.0, 0.7), (0.5, 0.01)])
def test_pitmans_uniques_by_recursion(theta, alpha):
    """From n to n + 1 people: a single is joined, or a new class is opened."""
    tables, single, pairs = 1.0, 1.0, 0.0
    for n in range(1, 400):
        opened = (theta + alpha * tables) / (theta + n)
        joined, grown = (1 - alpha) * single / (theta + n), (2 - alpha) * pairs / (theta + n)
        tables, single, pairs = tables + opened, single + opened - joined, pairs + joined - grown
    assert np.exp(classes._log_expected(theta, alpha, 400, 1)) == pytest.approx(single)
    assert np.exp(classes._log_expected(theta, alpha, 400, 2)) == pytest.approx(pairs)


def test_pitmans_likelihood_is_that_of_the_process():
    def seated(theta, alpha, sizes):
        """The probability of one order of seating: it does not depend on the order."""
        out, done = 1.0, 0
        for table, size in enumerate(sizes):
            for inside in range(size):
                above = theta + alpha * table if inside == 0 else inside - alpha
                out *= above / (theta + done)
                done += 1
        return np.log(out)

    for theta, alpha in ((2.0, 0.4), (0.3, 0.1), (9.0, 0.8)):
        for sizes in ([1, 1, 2, 5], [3, 3, 1], [1, 7]):
            item = classes.log_likelihood(theta, alpha, Sizes.of(np.array(sizes), 100))
            assert item == pytest.approx(seated(theta, alpha, sizes))


def test_pitman_finds_the_most_likely_parameters():
    rng = np.random.default_rng(4)
    sizes = Sizes.of(restaurant(30.0, 0.5, 2000, rng), 40_000)
    result = classes.pitman(sizes)
    grid = [
        (classes.log_likelihood(theta, alpha, sizes), theta, alpha)
        for alpha in np.linspace(0.3, 0.7, 81)
        for theta in np.linspace(5, 80, 151)
    ]
    _, theta, alpha = max(grid)
    assert result.uniques == pytest.approx(np.exp(classes._log_expected(theta, alpha, 40_000, 1)), rel=0.01)
    true = np.exp(classes._log_expected(30.0, 0.5, 40_000, 1))
    assert result.low < true < result.high
    assert not result.warning


def test_zayatz_by_hypergeometric_probabilities():
    sizes = Sizes.of(np.repeat([1, 2, 3, 9], [50, 20, 10, 5]), 400)
    n, counts = 165, dict(zip(sizes.size.tolist(), sizes.count.tolist(), strict=True))
    chance = {i: hypergeom(400, i, n).pmf(1) for i in counts}
    conditional = 50 * chance[1] / sum(counts[i] * chance[i] for i in counts)
    assert classes.zayatz(sizes).uniques == pytest.approx(50 * conditional * 400 / n)


def test_slide_negative_binomial_counts_by_summation():
    alpha, beta, pi, many = 0.4, 0.05, 0.2, 1000.0
    size = np.arange(1, 4000)
    chance = np.exp(
        [float(v) for v in _log_binomial(alpha + size - 2, size - 1)]
        + alpha * np.log(beta)
        + (size - 1) * np.log(1 - beta)
    )
    assert chance.sum() == pytest.approx(1.0)
    first, second = (many * (chance * binom(size, j) * pi**j * (1 - pi) ** (size - j)).sum() for j in (1, 2))
    assert classes.snb_expected(many, alpha, beta, pi) == pytest.approx((first, second))


def _log_binomial(a, b):
    from scipy.special import gammaln

    return gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)


def test_shlosser_by_its_formula():
    sizes = Sizes.of(np.repeat([1, 2, 5], [30, 12, 8]), 440)
    q, s = sizes.fraction, {1: 30, 2: 12, 5: 8}
    a = sum(i * q**2 * (1 - q**2) ** (i - 1) * f for i, f in s.items())
    b = sum((1 - q) ** i * ((1 + q) ** i - 1) * f for i, f in s.items())
    c = sum((1 - q) ** i * f for i, f in s.items())
    d = sum(i * q * (1 - q) ** (i - 1) * f for i, f in s.items())
    assert classes.shlosser(sizes.size, sizes.count, q) == pytest.approx(50 + 30 * a / b * (c / d) ** 2)


def test_slide_negative_binomial_population():
    rng = np.random.default_rng(8)
    people = 1 + rng.negative_binomial(0.6, 0.08, 20_000)
    sample = rng.binomial(people, 0.3)
    result = classes.snb(Sizes.of(sample[sample > 0], int(people.sum())))
    assert result.uniques == pytest.approx((people == 1).sum(), rel=0.2)


def test_everybody_in_the_sample():
    sizes = np.repeat([1, 2, 4], [30, 20, 10])
    for population_unique in population_uniques(sizes, float(sizes.sum())):
        if population_unique.model != "pitman":  # which is fitted, and only near
            assert population_unique.uniques == pytest.approx(30)


@pytest.mark.parametrize(
    ("fraction", "pitman", "zayatz", "snb", "taken"),
    [
        (0.1, 5.0, 9.0, 7.0, "pitman"),
        (0.05, None, 9.0, 7.0, "zayatz"),
        (0.11, 5.0, 9.0, 7.0, "snb"),
        (0.5, 5.0, 6.0, 7.0, "zayatz"),
        (0.5, 5.0, 6.0, None, "zayatz"),
    ],
)
def test_the_decision_rule(fraction, pitman, zayatz, snb, taken):
    given = {"pitman": pitman, "zayatz": zayatz, "snb": snb}
    result = tuple(Uniques(name, value, None, None, "") for name, value in given.items())
    assert dankar(result, fraction) == taken


def columns(rng, n):
    a = rng.integers(0, 4, n)
    b = (a + rng.integers(0, 2, n)) % 5
    return np.ascontiguousarray([a, b, rng.integers(0, 3, n), (b + rng.integers(0, 3, n)) % 6], np.int64)


def every(codes):
    """All combinations of levels, as codes of records that need not exist."""
    shape = [int(c.max()) + 1 for c in codes]
    return np.ascontiguousarray(np.indices(shape).reshape(len(shape), -1))


def test_closed_forms_keep_their_margins():
    codes = columns(np.random.default_rng(0), 500)
    full = every(codes)
    for edges in ([], loglinear.strongest(codes, Context())):
        tree = loglinear.Tree(codes, edges)
        means = _means_anywhere(tree, codes, full)
        there = tree.means(codes, np.arange(500))[0]
        shape = [int(c.max()) + 1 for c in codes]
        assert there == pytest.approx(means[np.ravel_multi_index(tuple(codes), shape)])
        assert means.sum() == pytest.approx(500)
        for at in range(len(codes)):
            assert np.bincount(full[at], means) == pytest.approx(np.bincount(codes[at]))
        for i, j in edges:
            width = int(codes[j].max()) + 1
            counted = np.bincount(codes[i] * width + codes[j], minlength=len(np.bincount(codes[i])) * width)
            assert np.bincount(full[i] * width + full[j], means) == pytest.approx(counted)
        drawn = loglinear.Tree(codes, edges).expected(codes, Context(seed=0))
        assert drawn == pytest.approx((means * np.exp(-means)).sum(), rel=0.02)


def _means_anywhere(tree, codes, full):
    """The means of combinations, by the tree's formula written out: records of them need not exist."""
    out = np.full(full.shape[1], 500.0)
    for at in tree.roots:
        out *= np.bincount(codes[at])[full[at]] / 500
    for i, j in tree.edges:
        pairs = np.zeros((codes[i].max() + 1, codes[j].max() + 1))
        np.add.at(pairs, (codes[i], codes[j]), 1)
        out *= pairs[full[i], full[j]] / pairs.sum(axis=1)[full[i]]
    return out


def test_the_tree_has_the_most_information():
    codes = columns(np.random.default_rng(3), 400)
    best = max(
        sum(loglinear.information(codes[i], codes[j]) for i, j in edges)
        for edges in combinations(list(combinations(range(4), 2)), 3)
        if len({v for edge in edges for v in edge}) == 4  # three edges on four columns, all reached: a tree
    )
    result = sum(loglinear.information(codes[i], codes[j]) for i, j in loglinear.strongest(codes, Context()))
    assert result == pytest.approx(best)


def test_proportional_fitting_keeps_all_pairs():
    codes = columns(np.random.default_rng(1), 800)
    table = loglinear.proportional(codes, Context())
    assert table.sum() == pytest.approx(800, rel=1e-4)
    for i, j in combinations(range(4), 2):
        counted = np.zeros((codes[i].max() + 1, codes[j].max() + 1))
        np.add.at(counted, (codes[i], codes[j]), 1)
        others = tuple(at for at in range(4) if at not in (i, j))
        assert table.sum(axis=others) == pytest.approx(counted, abs=0.01)


def test_the_best_model_finds_the_population_uniques():
    """A population whose columns depend two by two, and a sample of a twentieth of it."""
    rng = np.random.default_rng(11)
    n = 200_000
    age = rng.integers(0, 15, n)
    grade = np.clip(age // 3 + rng.integers(-1, 2, n), 0, 5)
    people = pl.DataFrame(
        {
            "age": age, "grade": grade, "job": grade * 3 + rng.geometric(0.4, n).clip(0, 12),
            "region": rng.integers(0, 60, n), "sex": rng.integers(0, 2, n),
        }
    )  # fmt: skip
    survey = people.filter(pl.Series(rng.random(n) < 0.05))
    true = vr.population_risk(survey, keys=people.columns, population=people)
    result = vr.population_risk(survey, keys=people.columns, sampling_fraction=0.05)
    best = result.columns[0]
    assert best.model == "tree"
    assert not best.warning
    assert best.population_uniques == pytest.approx(true.known["population_uniques"], rel=0.15)
    alone = survey.join(people.group_by(people.columns).len(), on=people.columns)
    once = survey.group_by(people.columns).len("here").filter(pl.col("here") == 1)
    correct = (1 / alone.join(once, on=people.columns)["len"]).sum()
    assert best.correct == pytest.approx(correct, rel=0.1)
    worst = next(column for column in result.columns if column.model == "independence")
    assert "poor fit" in worst.warning


def test_rare_values_are_warned_of():
    """Tails that the sample has hardly seen: the estimate is too low, and says so."""
    rng = np.random.default_rng(11)
    region = rng.geometric(0.04, 200_000).clip(0, 400)
    people = pl.DataFrame({"region": region, "street": region * 5 + rng.integers(0, 5, 200_000)})
    survey = people.filter(pl.Series(rng.random(200_000) < 0.05))
    true = vr.population_risk(survey, keys=people.columns, population=people).known["population_uniques"]
    best = vr.population_risk(survey, keys=people.columns, sampling_fraction=0.05).columns[0]
    assert best.interval[1] < true
    assert best.warning


def test_individual_risk_that_the_columns_contradict_is_warned_of():
    """Nearly everybody is unique in the population, too: more than the weights of a unique tell."""
    rng = np.random.default_rng(2)
    people = pl.DataFrame({f"c{i}": rng.integers(0, 12, 20_000) for i in range(5)})
    survey = people[:1000]
    result = vr.population_risk(survey, keys=people.columns, sampling_fraction=0.05)
    true = vr.population_risk(survey, keys=people.columns, population=people)
    assert result.matches.expected < 0.5 * true.matches.expected
    assert "take the greater" in str(result)
    assert result.columns[0].correct == pytest.approx(true.matches.expected, rel=0.05)


def test_no_unique_record_no_population_unique():
    survey = pl.DataFrame({"a": [1, 1, 2, 2, 2]})
    result = vr.population_risk(survey, keys=["a"], sampling_fraction=0.1)
    assert all(unique.uniques == 0 for unique in result.uniques)
    assert result.columns == ()


@pytest.mark.parametrize(
    ("sizes", "population", "warned"),
    [
        ({1: 200, 2: 60, 3: 30, 4: 15, 8: 40}, 1_100, {}),
        (
            {1: 200, 2: 60, 3: 30, 4: 15, 8: 40},
            20_000,
            {"zayatz": "too high", "snb": "would be 13,189 people"},
        ),
        ({1: 300, 2: 5, 3: 100, 20: 30}, 20_000, {"pitman": "classes have", "zayatz": "too high"}),
        (
            {1: 100, 2: 1000},
            40_000,
            {"pitman": "more even than any", "zayatz": "too high", "snb": "no param"},
        ),
    ],
)
def test_a_poor_fit_is_said(sizes, population, warned):
    result = population_uniques(np.repeat(list(sizes), list(sizes.values())), population)
    text = {item.model: item.warning for item in result if item.warning}
    assert set(warned) <= set(text)
    assert all(part in text[model] for model, part in warned.items())
    assert warned or not text
