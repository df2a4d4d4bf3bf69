"""Channels for the worst case against an independent solver, by plain loops, and by their own proofs."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from channel.laws import normal_grid, random_law
from voronym.channel import privacy_distortion, worst_case
from voronym.channel.seeing import check_letters
from voronym.channel.worst import _within
from voronym.errors import InputError

ASKED = [
    {"delta": 0.3},
    {"t": 0.1},
    {"t": 0.1, "distance": "ordered"},
    {"t": 0.05, "distance": "kl"},
]


def by_cvxpy(p, d, *, t=None, delta=None, distance="total-variation", sees_w=False):
    """Solve the same problem from its definition: q(w, y) is linear in the rule of pairs."""
    cp = pytest.importorskip("cvxpy")
    k, n = p.shape
    cost = np.broadcast_to(d, (k, *d.shape[-2:])) if d.ndim == 2 else d
    m = cost.shape[2]
    p_w = p.sum(axis=1)
    rules = [cp.Variable((n, m), nonneg=True) for _ in range(k if sees_w else 1)]
    q = cp.vstack([p[w] @ rules[w if sees_w else 0] for w in range(k)])
    s = cp.sum(q, axis=0, keepdims=True)
    apart = q - p_w[:, None] @ s
    rows = [cp.sum(rule, axis=1) == 1 for rule in rules]
    if delta is not None:
        rows += [q <= np.exp(delta) * p_w[:, None] @ s, q >= np.exp(-delta) * p_w[:, None] @ s]
    elif distance == "total-variation":
        rows += [0.5 * cp.sum(cp.abs(apart), axis=0, keepdims=True) <= t * s]
    elif distance == "ordered":
        rows += [cp.sum(cp.abs(cp.cumsum(apart, axis=0)[:-1]), axis=0, keepdims=True) <= t * (k - 1) * s]
    else:
        rows += [cp.sum(cp.rel_entr(q, p_w[:, None] @ s), axis=0, keepdims=True) <= t * s]
    D = sum(cp.sum(cp.multiply(p[w][:, None] * cost[w], rules[w if sees_w else 0])) for w in range(k))
    problem = cp.Problem(cp.Minimize(D), rows)
    problem.solve(solver="CLARABEL")
    return problem.value


def worst(p, rule, measure):
    """Return the largest measure over what is published, by plain loops; rule is p(y|w, x)."""
    p_w, result = p.sum(axis=1), []
    for y in range(rule.shape[2]):
        q = [sum(p[w, x] * rule[w, x, y] for x in range(p.shape[1])) for w in range(len(p))]
        if sum(q) <= 0:
            continue
        posterior = [item / sum(q) for item in q]
        if measure == "delta":
            result += [abs(np.log(a / b)) for a, b in zip(posterior, p_w, strict=True)]
        elif measure == "total-variation":
            result.append(sum(max(a - b, 0.0) for a, b in zip(posterior, p_w, strict=True)))
        elif measure == "kl":
            result.append(sum(a * np.log(a / b) for a, b in zip(posterior, p_w, strict=True) if a > 0))
        else:
            moved = np.cumsum(np.array(posterior) - p_w)[:-1]
            result.append(sum(map(abs, moved)) / (len(p_w) - 1))
    return max(result)


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 25))]
)
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_agrees_with_an_independent_solver(seed, asked):
    """100 instances, most of them slow; in a third distortions depend on w, in a third the rule sees it."""
    p, d = random_law(1000 + seed)
    k, n = p.shape
    sees_w = seed % 3 == 1
    if seed % 3:
        d = np.random.default_rng(seed).random((k, n, d.shape[1]))
    result = worst_case(p, d, **asked, sees_w=sees_w)
    value = by_cvxpy(p, d, **asked, sees_w=sees_w)
    assert result.distortion == pytest.approx(value, abs=1e-5)
    assert result.bound <= value + 1e-7  # below what anybody reaches
    assert result.gap <= 1e-5
    rule = (
        result.matrix.reshape(k, n, -1)
        if sees_w
        else np.broadcast_to(result.matrix, (k, *result.matrix.shape))
    )
    limit = asked.get("delta", asked.get("t"))
    assert worst(p, rule, result.measure) <= limit * (1 + 1e-9)
    assert result.worst == pytest.approx(worst(p, rule, result.measure), rel=1e-9, abs=1e-12)
    cost = np.broadcast_to(d, rule.shape) if d.ndim == 2 else d
    assert result.distortion == pytest.approx(float((p[:, :, None] * rule * cost).sum()), rel=1e-9)


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_the_bound_is_true_after_any_number_of_steps(asked):
    """A proof that holds only at the end would be none."""
    from voronym.channel import cones
    from voronym.channel.seeing import check_letters
    from voronym.channel.worst import _cone
    from voronym.core.context import Context

    for seed in range(8):
        p, d = random_law(seed)
        least = worst_case(p, d, **asked)
        alphabet = check_letters(p, d)[0]
        limit = asked.get("delta", asked.get("t"))
        state = cones._State(alphabet, _cone(alphabet, least.measure, limit), Context())
        for _ in range(12):
            assert state.bound() <= least.distortion + 1e-12
            state.prices *= np.random.default_rng(seed).uniform(0.2, 3.0, state.prices.shape)  # any prices
            assert state.bound() <= least.distortion + 1e-12
            if not state.newton():
                break


def test_who_sees_w_pays_no_more_and_a_tighter_limit_costs_more():
    for seed in range(10):
        p, d = random_law(seed, largest=5)
        last = -1.0
        for t in (0.3, 0.1, 0.03, 0.0):
            blind, seeing = worst_case(p, d, t=t), worst_case(p, d, t=t, sees_w=True)
            assert seeing.distortion <= blind.distortion + 1e-5
            assert blind.distortion >= last - 1e-5
            last = blind.distortion


def test_the_mean_is_at_most_the_worst_case():
    """KL for every letter bounds its mean, the mutual information; so the mean's rule is cheaper."""
    for seed in range(10):
        p, d = random_law(seed)
        every = worst_case(p, d, t=0.05, distance="kl")
        mean = privacy_distortion(p, d, max_risk=0.05)
        assert every.risk <= 0.05 * (1 + 1e-9)
        assert mean.distortion <= every.distortion + 1e-6


def test_distortions_that_depend_on_w():
    p, d = random_law(3, largest=4)
    k, n = p.shape
    cost = np.random.default_rng(0).random((k, n, d.shape[1]))
    share = p / p.sum(axis=0)
    mean = np.einsum("wx,wxy->xy", share, cost)
    blind = privacy_distortion(p, cost, max_risk=0.02)
    assert blind.distortion == pytest.approx(privacy_distortion(p, mean, max_risk=0.02).distortion, abs=1e-6)
    seeing = privacy_distortion(p, cost, max_risk=0.02, sees_w=True)
    assert seeing.risk <= 0.02 + 1e-12
    assert seeing.distortion <= blind.distortion + 1e-6
    pairs = seeing.matrix.reshape(k, n, -1)
    output = np.einsum("wx,wxy->wy", p, pairs)
    outer = np.outer(output.sum(axis=1), output.sum(axis=0))
    there = output > 0
    assert (output[there] * np.log(output[there] / outer[there])).sum() == pytest.approx(
        seeing.risk, abs=1e-9
    )


def test_drawing_by_a_rule_that_sees_w():
    p = np.array([[0.4, 0.1], [0.1, 0.4]])
    rule = worst_case(p, 1.0 - np.eye(2), t=0.1, sees_w=True)
    W, X = np.repeat([0, 0, 1, 1], 5000), np.repeat([0, 1, 0, 1], 5000)
    drawn = rule.apply(X, W, seed=1).reshape(4, 5000).mean(axis=1)
    assert drawn == pytest.approx(rule.matrix[:, 1], abs=0.03)
    with pytest.raises(InputError, match="looks at w"):
        rule.apply(X)
    with pytest.raises(InputError, match="4 of 4 pairs are not in"):
        rule.apply([5, 5, 5, 5], [0, 0, 1, 1])
    with pytest.raises(InputError, match="does not look at w"):
        worst_case(p, 1.0 - np.eye(2), t=0.1).apply(X, W)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "give either t or delta"),
        ({"t": 0.1, "delta": 0.1}, "given: t, delta"),
        ({"t": -1}, "t must be"),
        ({"t": 0.1, "distance": "emd"}, "no distance is called 'emd'; there are: total-variation"),
        ({"t": 0.1, "d": np.zeros((3, 2, 2))}, "one for each w and x"),
    ],
)
def test_what_cannot_be_asked(asked, message):
    with pytest.raises(InputError, match=message):
        worst_case(**{"p_wx": np.full((2, 2), 0.25), "d": 1.0 - np.eye(2), **asked})


def test_finer_letters_never_cost_more():
    """A refinement of what may be published contains the old rules."""
    _, p, d = normal_grid(9)
    assert worst_case(p, d, t=0.3).distortion <= worst_case(p, d[:, ::2], t=0.3).distortion + 1e-6


# -- a table -----------------------------------------------------------------------------------------------


def town(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    region = rng.integers(0, 6, n)
    ill = rng.random(n) < np.array([0.05, 0.1, 0.2, 0.3, 0.5, 0.7])[region]
    return pl.DataFrame({"region": [f"r{item}" for item in region], "ill": ill})


@pytest.mark.parametrize(("name", "limit"), [("max_t", 0.1), ("max_delta", 0.3)])
def test_every_published_category_keeps_the_limit(name, limit):
    """By the exact counts, and by what came out, up to the chance of drawing."""
    table = town()
    schema = vr.Schema.build(table, keys=["region"], confidential=["ill"])
    made = vr.channel.mask_keys(table, schema, **{name: limit}, seed=1)
    (rule,) = made.channels
    counts = np.zeros((2, 6))
    np.add.at(counts, (table["ill"].to_numpy().astype(int), [int(r[1]) for r in table["region"]]), 1)
    p = counts / counts.sum()
    exact = worst(p, np.broadcast_to(rule.matrix, (2, *rule.matrix.shape)), rule.measure)
    assert exact <= limit * (1 + 1e-9)
    base = table["ill"].mean()
    for _, group in made.frame.group_by("region"):
        chance = 4 * np.sqrt(base * (1 - base) / len(group))
        assert (
            abs(group["ill"].mean() - base) <= (limit if name == "max_t" else base * np.expm1(limit)) + chance
        )
    assert made.distortion < 0.95  # something is kept


def test_keys_that_cannot_be_limited_one_by_one():
    table = town(500).with_columns(age=pl.Series(np.arange(500) % 60))
    schema = vr.Schema.build(table, keys=["region", "age"], confidential=["ill"])
    with pytest.raises(InputError, match="declare age nominal"):
        vr.channel.mask_keys(table, schema, max_t=0.1)
    nominal = vr.Schema.build(table, keys=["region", "age"], confidential=["ill"], kinds={"age": "nominal"})
    with pytest.raises(InputError, match="more than 150"):
        vr.channel.mask_keys(table, nominal, max_t=0.1)


def test_where_digits_run_out_nobody_is_warned_and_the_limit_holds():
    joint = np.array(
        [
            [0.0, 0.0, 3.42384249e-02],
            [0.0, 6.56205061e-01, 5.91586569e-05],
            [5.19698058e-13, 8.70406715e-04, 3.48162170e-03],
            [1.55547056e-04, 4.15684582e-04, 3.04574095e-01],
        ]
    )
    joint /= joint.sum()
    d = np.array([[1, 1, 0, 1, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1.0]])
    channel = worst_case(joint, d, t=1e-3)  # warnings are errors here
    output = joint @ channel.matrix
    mass = output.sum(axis=0)
    far = 0.5 * np.abs(output[:, mass > 0] / mass[mass > 0] - joint.sum(axis=1)[:, None]).sum(axis=0)
    assert far.max() <= 1e-3 + 1e-12


@pytest.mark.parametrize(("measure", "limit"), [("kl", 0.02), ("delta", 0.2), ("total-variation", 0.05)])
@pytest.mark.parametrize("seed", range(3))
def test_a_rule_beyond_the_limit_is_brought_within_it(measure, limit, seed):
    """A rule that tells too much, and one with rows and columns that are all but gone."""
    p = np.random.default_rng(seed).dirichlet(np.full(15, 0.5)).reshape(3, 5)
    alphabet, _, _ = check_letters(p, 1.0 - np.eye(5), sees_w=False)
    telling = np.diag(alphabet.p)  # everybody keeps their letter
    ragged = telling * np.array([1.0, 0.7, 1.0, 1e-20, 1.3])
    for J in (telling, ragged):
        before = J / J.sum(axis=1, keepdims=True)
        assert worst(p, np.broadcast_to(before, (3, 5, 5)), measure) > limit
        rule = _within(alphabet, J.copy(), measure, limit) / alphabet.p[:, None]
        np.testing.assert_allclose(rule.sum(axis=1), 1.0, rtol=0, atol=1e-12)
        assert rule.min() >= 0.0
        result = worst(p, np.broadcast_to(rule, (3, 5, 5)), measure)
        assert 0.5 * limit < result <= limit * (1 + 1e-9)  # and no more than is needed is given up
