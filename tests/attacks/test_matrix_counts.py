"""A published rule must not tell who has which confidential value: it is made from counts with noise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

import voronym as vr
from repeats import rounds
from voronym.channel import budget, privacy_distortion
from voronym.channel.budget import BUDGET, NoisyCovariances, blurred, noisy_counts
from voronym.channel.margin import LARGE, LARGEST_WITHIN, SURE, Allowance, most_correlated
from voronym.channel.planned import invariant_rule, tightened

WARDS = np.array([700, 14, 286])
ILL = (60, 30)  # in the two large wards
SHARE = WARDS / WARDS.sum()
D = (1.0 - np.eye(3)) * 2.0 / (1.0 - SHARE @ SHARE)


def hospital(ill):
    """Return three wards of known size, the middle one with so many ill people among its fourteen."""
    hiv = [ILL[0], ill, ILL[1]]
    rows = [
        (w, "yes" if i < h else "no") for w, n, h in zip("ABC", WARDS, hiv, strict=True) for i in range(n)
    ]
    return pl.DataFrame(rows, schema=["ward", "hiv"], orient="row")


def matrix_of(release):
    matrix = release.dossier().public.channel.rules[0].matrix
    return [letter[0] for letter in matrix.letters], np.array(matrix.rows)


def as_printed(rule, letters):
    """Return a rule as the page prints it: letters by name, and all others as one row and column."""
    rest = [i for i in range(3) if "ABC"[i] not in letters]
    groups = [["ABC".index(item)] for item in letters] + ([rest] if rest else [])
    return np.array(
        [[(rule[np.ix_(a, b)].sum(axis=1) * WARDS[a]).sum() / WARDS[a].sum() for b in groups] for a in groups]
    )


def fitting(letters, printed, limit):
    """Return the numbers of ill people in the small ward whose own optimal rule is the printed one."""
    out = set()
    total = sum(ILL)
    for b in range(15):
        for c in range(ILL[1] - 6, ILL[1] + 7):
            a = total + TRUE - b - c
            counts = np.array([[a, b, c], WARDS - [a, b, c]]) / WARDS.sum()
            rule = privacy_distortion(counts, D, max_risk=limit).matrix
            if np.abs(as_printed(rule, letters) - printed).max() < 2e-6:
                out.add(b)
    return out


TRUE = 12


@pytest.mark.slow
def test_the_counts_of_a_ward_do_not_follow_from_the_printed_matrix():
    """The attack: print the optimal rule of all counts, and see which is the printed one."""
    table = hospital(TRUE)
    for _ in range(2):
        release = vr.anonymize(
            table,
            keys=["ward"],
            confidential=["hiv"],
            method="channel",
            options={"max_risk": 0.002},
        )
        letters, printed = matrix_of(release)
        assert len(printed) > 1
        assert TRUE not in fitting(letters, printed, 0.002)


def test_a_rule_is_a_function_of_noisy_counts_and_margins(monkeypatch):
    """Two tables with the same margins and the same noisy counts get the same rule and the same figures."""
    noisy = np.array([[62.0, 9.0, 30.0], [640.0, 4.0, 255.0]])
    monkeypatch.setattr(budget, "noisy_counts", lambda *_: noisy)
    pages = []
    for ill, others in ((12, 30), (9, 33), (4, 38)):
        hiv = [60, ill, others]  # the same number of ill people in all
        rows = [
            (w, "yes" if i < h else "no") for w, n, h in zip("ABC", WARDS, hiv, strict=True) for i in range(n)
        ]
        table = pl.DataFrame(rows, schema=["ward", "hiv"], orient="row")
        schema = vr.Schema.build(table, keys=["ward"], confidential=["hiv"])
        (rule,) = vr.channel.mask_keys(table, schema, max_distortion=0.4).rules
        pages.append((rule.channel.matrix.tolist(), rule.risk, rule.information, rule.planned, rule.gap))
    assert pages[0] == pages[1] == pages[2]


@pytest.mark.parametrize("mu", [BUDGET, 1.0])
def test_the_best_guess_between_two_neighbours_is_no_better_than_stated(mu):
    """Somebody knows all but which of two tables it is, and sees the noisy counts themselves."""
    single = np.array([[60, 12, 30], [640, 2, 256]])
    other = single + np.array([[1, -1, 0], [-1, 1, 0]])  # two people exchanged their values
    rng = np.random.default_rng(0)
    right = 0
    for _ in range(4000):
        truth = rng.integers(2)
        seen = noisy_counts((single, other)[truth], mu, rng)
        right += (np.square(seen - other).sum() < np.square(seen - single).sum()) == truth
    stated = budget.guess(mu)
    assert stated == pytest.approx(norm.cdf(mu / 2))
    assert right / 4000 == pytest.approx(stated, abs=0.03)  # no more, and no noise beyond need


def test_the_blurred_law_has_the_margins_of_the_counts():
    rng = np.random.default_rng(1)
    for _ in range(30):
        counts = rng.integers(0, 30, (rng.integers(2, 5), rng.integers(2, 6))) * rng.integers(0, 2)
        counts[0] += 1
        counts[:, 0] += 1
        law = blurred(counts, 0.5, rng)
        assert law.sum(axis=0) == pytest.approx(counts.sum(axis=0) / counts.sum(), abs=1e-9)
        assert law.sum(axis=1) == pytest.approx(counts.sum(axis=1) / counts.sum(), abs=1e-5)


def test_noise_on_covariances_covers_what_two_people_can_change():
    """Exchange the confidential values of any two records: covariances move by at most the noise times μ."""
    rng = np.random.default_rng(2)
    X, W = rng.normal(size=(40, 3)), rng.integers(0, 2, (40, 2)).astype(float)
    X = np.clip(X - X.mean(axis=0), -2.5 * X.std(axis=0), 2.5 * X.std(axis=0))
    most = np.linalg.norm(np.ptp(X, axis=0)) * np.linalg.norm(np.ptp(W, axis=0)) / 40
    moved = 0.0
    for i in range(40):
        for j in range(i):
            V = W.copy()
            V[[i, j]] = V[[j, i]]
            change = (V - V.mean(axis=0)).T @ X / 40 - (W - W.mean(axis=0)).T @ X / 40
            moved = max(moved, float(np.linalg.norm(change)))
    assert 0.2 * most < moved <= most
    first, second = (
        NoisyCovariances.draw(X, W, Allowance(0.5), np.random.default_rng(s)).source for s in (0, 1)
    )
    assert np.abs(first.sigma_wx - second.sigma_wx).max() > 0.1 * most
    assert np.array_equal(first.sigma_x, second.sigma_x)


def random_rule(rng):
    """Return counts by class and letter, and some rule."""
    k, n, m = rng.integers(2, 5), rng.integers(2, 6), rng.integers(2, 6)
    counts = rng.integers(0, 40, (k, n)) * rng.integers(0, 2, (k, n))
    counts[:, 0] += 1
    counts[0] += 1
    return counts.astype(float), rng.dirichlet(np.full(m, rng.choice([0.1, 1.0, 10.0])), n)


def leak(counts, rule, measure):
    """Return what a rule tells about exact counts, by the formulas of the textbook."""
    joint = counts @ rule / counts.sum()
    joint = joint[:, joint.sum(axis=0) > 0]
    prior, q = counts.sum(axis=1) / counts.sum(), joint.sum(axis=0)
    if measure == "total-variation":
        return max(0.5 * np.abs(joint[:, y] / q[y] - prior).sum() for y in range(len(q)))
    ratio = joint / np.outer(prior, q)
    with np.errstate(divide="ignore"):
        logs = np.log(ratio)
    if measure == "delta":
        return np.abs(logs).max()
    return float(joint[joint > 0] @ logs[joint > 0])


def exchanged(counts, rng):
    """Return the counts after two people exchanged their values."""
    (w, x), (v, y) = (rng.choice(np.argwhere(counts > 0)) for _ in range(2))
    other = counts.copy()
    for at, by in (((w, x), -1), ((v, x), 1), ((v, y), -1), ((w, y), 1)):
        other[at] += by
    return other


@pytest.mark.parametrize("measure", ["risk", "total-variation", "delta"])
def test_a_test_of_a_limit_moves_by_one_where_two_people_exchange_values(measure):
    """So its noise hides them; and no table within so many exchanges tells more than it says."""
    rng = np.random.default_rng(4)
    for _ in range(150):
        counts, rule = random_rule(rng)
        most, swaps = LARGEST_WITHIN[measure], float(rng.integers(0, 6))
        other = exchanged(counts, rng)
        assert most(other, rule, swaps) <= most(counts, rule, swaps + 1.0) + 1e-9
        assert leak(counts, rule, measure) <= most(counts, rule, 0.0) + 1e-9
        for _ in range(int(swaps)):
            counts = exchanged(counts, rng)
        assert leak(counts, rule, measure) <= most(counts, rule, swaps) + 1e-9


def test_a_test_of_covariances_looks_at_all_within_its_reach():
    """The bound is no less than what a search finds, and hardly more where little is told."""
    rng, ratios = np.random.default_rng(5), []
    for _ in range(40):
        between = rng.normal(0, 0.1, (rng.integers(1, 4), rng.integers(1, 4)))
        left = rng.normal(0, 0.5, (len(between), len(between)))
        right = rng.normal(0, 0.5, (between.shape[1], between.shape[1]))
        most = most_correlated(between, left, right, 0.1)
        E = rng.normal(size=(60, *between.shape))
        for _ in range(60):  # to where the tangent is highest
            E *= 0.1 / np.linalg.norm(E, axis=(1, 2), keepdims=True)
            B = left @ (between + E) @ right
            inner = np.eye(len(between)) - B @ np.swapaxes(B, 1, 2)
            risk = np.where(np.linalg.eigvalsh(inner)[:, 0] > 0, -0.5 * np.linalg.slogdet(inner)[1], np.inf)
            E = left.T @ np.linalg.solve(inner, B) @ right.T
        assert risk.max() <= most * (1 + 1e-9)
        ratios += [most / risk.max()] if most < 0.1 else []
    assert len(ratios) > 10
    assert max(ratios) < 1.1


@pytest.mark.parametrize(("records", "tests"), [(100, 2), (LARGE, 3)])
def test_a_rule_above_its_limit_passes_as_often_as_stated(records, tests):
    rng = np.random.default_rng(6)
    own = Allowance.of(0.5, records, 2)
    assert len(own.ladder) == 2**tests - 1
    assert own.design**2 + tests * own.test**2 == pytest.approx(0.25)
    passed = sum(own.passes(lambda swaps: 1.0 + swaps, 1.0, rng) for _ in range(20_000))
    assert passed / 20_000 == pytest.approx(norm.sf(own.z), abs=0.002)
    assert 2 * tests * norm.sf(own.z) == pytest.approx(1 - SURE)
    asked = []
    tightened(lambda limit, _: asked.append(limit), lambda _: rng.random() < 0.5, 1.0, own.ladder, None)
    assert len(asked) == tests  # whatever the answers are, no more are paid for


def follows(n=600):
    """Return a table in which illness follows from age without exception."""
    age = np.arange(n) % 8
    return pl.DataFrame({"ward": age.astype(str), "hiv": np.where(abs(age - 4) > 2, "yes", "no")})


@pytest.mark.parametrize(
    ("table", "limit"), [(hospital(14), 0.004), (follows(), 0.1)], ids=["few", "follows"]
)
def test_a_limit_on_the_risk_is_kept_whatever_the_table(table, limit):
    """By the exact counts, which no rule may look at; and who holds the data is told where it is not."""
    above = 0
    wards, ill = (table[name].rank("dense").to_numpy().astype(int) - 1 for name in ("ward", "hiv"))
    counts = np.zeros((2, wards.max() + 1))
    np.add.at(counts, (ill, wards), 1)
    for seed in rounds(8, 20):
        schema = vr.Schema.build(table, keys=["ward"], confidential=["hiv"])
        made = vr.channel.mask_keys(table, schema, max_risk=limit, seed=seed)
        (rule,) = made.rules
        risk = leak(counts, rule.channel.matrix, "risk")
        assert rule.counted == pytest.approx(risk, abs=1e-9)
        broken = risk > limit * (1 + 1e-6)
        assert broken == any("by the exact counts" in note for note in made.notes)
        above += broken
    assert above == 0


def test_an_invariant_rule_keeps_expected_counts_and_no_category_vanishes():
    table = hospital(14)
    schema = vr.Schema.build(table, keys=["ward"], confidential=["hiv"])
    plain = vr.channel.mask_keys(table, schema, max_risk=0.004, seed=1)
    kept = vr.channel.mask_keys(table, schema, max_risk=0.004, seed=1, invariant=True)
    assert SHARE @ kept.channels[0].matrix == pytest.approx(SHARE, abs=1e-9)
    assert SHARE @ plain.channels[0].matrix != pytest.approx(SHARE, abs=1e-3)
    assert kept.rules[0].counted <= 0.004 * (1 + 1e-6)
    again = invariant_rule(plain.channels[0])
    assert again.risk <= plain.channels[0].risk + 1e-12  # a second step cannot tell more
    within = vr.channel.mask_keys(table, schema, max_distortion=0.2, seed=1, invariant=True)
    assert SHARE @ within.channels[0].matrix == pytest.approx(SHARE, abs=1e-9)
    assert 0.15 < within.channels[0].distortion <= 0.2 * (1 + 1e-9)
