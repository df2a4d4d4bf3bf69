"""The privacy-distortion function against an independent solver, closed forms and its own proofs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channel.laws import measured, normal_grid, random_law
from repeats import examples
from voronym.channel import FiniteChannel, privacy_distortion, scalar_risk
from voronym.channel.alphabet import check_alphabet, feasible
from voronym.channel.mirror import mirror
from voronym.core.context import Context, FinishEarly
from voronym.errors import GuaranteeError, InputError
from voronym_papers.solvers import blahut_arimoto

TWO = np.array([[0.4, 0.1], [0.1, 0.4]])
WRONG = 1.0 - np.eye(2)


def by_cvxpy(p, d, multiplier=None, max_distortion=None, max_risk=None):
    cp = pytest.importorskip("cvxpy")
    n, m = d.shape
    p_x, p_w = p.sum(axis=0), p.sum(axis=1)
    J = cp.Variable((n, m), nonneg=True)
    joint = (p / p_x) @ J
    R = cp.sum(cp.rel_entr(joint, p_w[:, None] @ cp.reshape(cp.sum(J, axis=0), (1, m), order="C")))
    D = cp.sum(cp.multiply(J, d))
    rows = [cp.sum(J, axis=1) == p_x]
    if multiplier is not None:
        problem = cp.Problem(cp.Minimize(D + multiplier * R), rows)
    elif max_distortion is not None:
        problem = cp.Problem(cp.Minimize(R), [*rows, max_distortion >= D])
    else:
        problem = cp.Problem(cp.Minimize(D), [*rows, max_risk >= R])
    problem.solve(solver="CLARABEL")
    return problem.value


def limits(p, d):
    alphabet, _, _ = check_alphabet(p, d)
    least, most = alphabet.least_distortion, alphabet.distortion(alphabet.constant())
    return {
        "multiplier": 0.7,
        "max_distortion": 0.5 * (least + most),
        "max_risk": 0.4 * alphabet.risk(alphabet.nearest()),
    }


@pytest.mark.parametrize("ask", ["multiplier", "max_distortion", "max_risk"])
@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_an_independent_solver(seed, ask):
    p, d = random_law(seed)
    asked = {ask: limits(p, d)[ask]}
    channel = privacy_distortion(p, d, **asked)
    value = by_cvxpy(p, d, **asked)
    assert channel.value == pytest.approx(value, abs=3e-6)
    assert channel.bound <= value + 1e-7  # the bound is below what anybody reaches
    assert channel.gap <= 2e-6 * max(1.0, channel.cost)


@examples(12, 100)
@given(st.integers(0, 10**6), st.sampled_from(["multiplier", "max_distortion", "max_risk"]))
def test_promises_hold_on_any_law(seed, ask):
    p, d = random_law(seed, largest=5)
    asked = {ask: limits(p, d)[ask]}
    channel = privacy_distortion(p, d, **asked)
    assert np.allclose(channel.matrix.sum(axis=1), 1.0)
    assert (channel.matrix >= 0.0).all()
    D, R = measured(p, channel.matrix, d)
    assert pytest.approx(D, abs=1e-12) == channel.distortion
    assert pytest.approx(R, abs=1e-12) == channel.risk
    if ask == "max_distortion":
        assert channel.distortion <= asked[ask] * (1 + 1e-12) + 1e-14
    if ask == "max_risk":
        assert channel.risk <= asked[ask] * (1 + 1e-12) + 1e-14
    rng = np.random.default_rng(seed)
    for _ in range(20):  # nobody beats the bound
        other = rng.dirichlet(np.full(d.shape[1], 0.3), len(d))
        D, R = measured(p, other, d)
        if ask == "multiplier":
            assert D + asked[ask] * R >= channel.bound - 1e-12
        elif ask == "max_distortion" and asked[ask] >= D:
            assert channel.bound - 1e-12 <= R
        elif ask == "max_risk" and asked[ask] >= R:
            assert channel.bound - 1e-12 <= D


@pytest.mark.parametrize("multiplier", [0.72, 1.22, 1.72])
def test_the_normal_law_on_the_papers_grid(multiplier):
    x, p, d = normal_grid(31)
    channel = privacy_distortion(p, d, multiplier=multiplier)
    assert channel.gap <= 1e-6 * channel.cost
    share = multiplier / 2 - 1 / 0.95**2 + 1
    assert channel.distortion == pytest.approx(share, rel=0.01)
    # the grid ends at three standard deviations: formula (8) with the variance and correlation it has
    variance = float(p.sum(axis=0) @ x**2)
    rho = float(x @ p @ x) / variance
    assert channel.risk == pytest.approx(scalar_risk(rho, channel.distortion / variance), rel=0.01)


def test_a_grid_that_cuts_nothing_off_gives_the_formula():
    _, p, d = normal_grid(51, 5.0)
    channel = privacy_distortion(p, d, multiplier=1.22)
    share = 1.22 / 2 - 1 / 0.95**2 + 1
    assert channel.distortion == pytest.approx(share, rel=1e-3)
    assert channel.risk == pytest.approx(scalar_risk(0.95, share), rel=1e-3)


def test_mirror_descent_never_rises():
    p, d = random_law(3)
    alphabet, _, _ = check_alphabet(p, d)
    costs = []
    for steps in range(40):
        J = mirror(alphabet, Context(), weight_d=1.0, weight_r=0.5, tolerance=1e-15, iterations=steps).J
        costs.append(alphabet.distortion(J) + 0.5 * alphabet.risk(J))
    assert (np.diff(costs) <= 1e-14).all()


@pytest.mark.parametrize("method", ["interior", "mirror"])
def test_where_w_is_x_it_is_shannons_function(method):
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(6))
    d = rng.random((6, 7))
    shannon = blahut_arimoto(p, d, multiplier=0.3)
    general = privacy_distortion(np.diag(p), d, multiplier=0.3, method=method)
    assert shannon.gap < 1e-8
    assert general.cost == pytest.approx(shannon.cost, rel=2e-6)
    assert general.bound <= shannon.cost + 1e-12
    assert shannon.bound <= general.cost + 1e-12


def test_mirror_meets_limits_by_bisection():
    p, d = TWO, WRONG
    asked = {"max_distortion": 0.2, "max_risk": 0.05}
    for name in ("max_distortion", "max_risk"):
        slow = privacy_distortion(p, d, **{name: asked[name]}, method="mirror", tolerance=1e-4)
        fast = privacy_distortion(p, d, **{name: asked[name]})
        assert slow.value == pytest.approx(fast.value, abs=1e-3)
        assert slow.bound <= fast.value + 1e-9
        assert getattr(slow, name.removeprefix("max_")) <= asked[name] * (1 + 1e-12)


def test_by_hand_two_letters():
    # symmetric: flipping with probability 0.1 is the only symmetric rule of distortion 0.1
    channel = privacy_distortion(TWO, WRONG, max_distortion=0.1)
    agree = 0.8 * 0.9 + 0.2 * 0.1
    risk = np.log(2) + agree * np.log(agree) + (1 - agree) * np.log(1 - agree)
    assert channel.risk == pytest.approx(risk, abs=1e-7)
    assert channel.risk_bits == pytest.approx(channel.risk / np.log(2))


def test_the_ends_of_the_curve():
    free = privacy_distortion(TWO, WRONG, max_distortion=0.0)
    assert free.matrix.tolist() == np.eye(2).tolist()
    assert free.gap < 1e-12
    secret = privacy_distortion(TWO, WRONG, max_risk=0.0)
    assert secret.risk == 0.0
    assert secret.distortion == pytest.approx(0.5)
    assert secret.gap < 1e-9
    loose = privacy_distortion(TWO, WRONG, max_distortion=7.0)
    assert (loose.risk, loose.bound) == (0.0, 0.0)
    open_ = privacy_distortion(TWO, WRONG, max_risk=9.0)
    assert (open_.distortion, open_.gap) == (0.0, 0.0)
    cheap = privacy_distortion(TWO, WRONG, multiplier=0.0)
    assert cheap.distortion == 0.0
    with pytest.raises(GuaranteeError, match="raise max_distortion"):
        privacy_distortion(TWO, WRONG + 1.0, max_distortion=0.5)


def test_perfect_privacy_keeps_what_says_nothing():
    # x = (a, b): W depends on a only, so b can be published as it is
    p = np.array([[0.3, 0.3, 0.1, 0.1], [0.05, 0.05, 0.05, 0.05]])
    d = np.square(np.arange(4)[:, None] - np.arange(4.0))
    channel = privacy_distortion(p, d, max_risk=0.0)
    assert channel.risk < 1e-12
    alphabet, _, _ = check_alphabet(p, d)
    assert alphabet.distortion(alphabet.constant()) == pytest.approx(1.1)
    assert channel.distortion == pytest.approx(1.0)  # b shows, a does not
    assert channel.gap < 1e-7
    same = privacy_distortion(p, d, max_distortion=channel.distortion * 1.001)
    assert same.risk < 1e-9


def test_equally_near_letters_are_chosen_for_privacy():
    # the second and third letter are equally near to both x: publishing one of them always says nothing
    d = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    channel = privacy_distortion(TWO, d, max_distortion=0.0)
    assert channel.risk < 1e-9
    only = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    channel = privacy_distortion(TWO, only, max_distortion=0.0)
    assert channel.risk < 1e-9
    assert channel.distortion == 0.0


def test_letters_that_never_occur_change_nothing():
    p, d = random_law(4)
    more = np.zeros((p.shape[0] + 1, p.shape[1] + 1))
    more[:-1, :-1] = p
    d_more = np.vstack([d, np.full((1, d.shape[1]), 9.0)])
    a = privacy_distortion(p, d, multiplier=0.4)
    b = privacy_distortion(more, d_more, multiplier=0.4)
    assert a.cost == b.cost
    assert np.array_equal(a.matrix, b.matrix[:-1])
    assert b.matrix[-1].sum() == pytest.approx(1.0)


def test_independent_w_asks_for_nothing():
    p = np.outer([0.3, 0.7], [0.5, 0.25, 0.25])
    channel = privacy_distortion(p, 1.0 - np.eye(3), max_risk=0.0)
    assert channel.distortion == 0.0
    assert channel.risk < 1e-12


def test_renaming_letters_renames_the_rule():
    p, d = random_law(9)
    order = np.random.default_rng(0).permutation(p.shape[1])
    a = privacy_distortion(p, d, multiplier=0.5)
    b = privacy_distortion(p[::-1][:, order], d[order], multiplier=0.5)
    assert b.cost == pytest.approx(a.cost, rel=2e-6)


@pytest.mark.parametrize(
    ("p", "d", "words"),
    [
        ([[0.5, 0.6]], [[0.0], [0.0]], "adds up to 1.1"),
        ([[1.2, -0.2]], [[0.0], [0.0]], "1 negative"),
        ([[0.5, np.nan]], [[0.0], [0.0]], "missing or infinite"),
        ([[0.5, 0.5]], [[0.0]], "they must agree"),
        ([[0.5, 0.5]], [[0.0], [-1.0]], "a distortion is 0 or more"),
        ([[0.5, 0.5]], [[0.0], [np.inf]], "missing or infinite"),
        ([0.5, 0.5], [[0.0], [0.0]], "rows and columns"),
        ([["a", "b"]], [[0.0], [0.0]], "array of numbers"),
        ([[0.5], [0.5, 0.1]], [[0.0]], "array of numbers"),
    ],
)
def test_bad_input_is_refused_with_a_reason(p, d, words):
    with pytest.raises(InputError, match=words):
        privacy_distortion(p, d, multiplier=1.0)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "none was given"),
        ({"multiplier": 1.0, "max_risk": 0.1}, "given: multiplier, max_risk"),
        ({"multiplier": -1.0}, "0 or more"),
        ({"max_risk": np.nan}, "must be a number, 0 or more, not nan"),
        ({"max_distortion": "x"}, "must be a number, not a text"),
        ({"multiplier": 1.0, "method": "newton"}, "no method"),
        ({"multiplier": 1.0, "tolerance": 0.0}, "tolerance"),
        ({"max_risk": 0.1, "method": "steepest"}, "takes a multiplier"),
    ],
)
def test_bad_wishes_are_refused_with_a_reason(asked, words):
    with pytest.raises(InputError, match=words):
        privacy_distortion(TWO, WRONG, **asked)


def test_a_channel_draws_by_its_matrix_and_its_seed():
    channel = privacy_distortion(TWO, WRONG, max_distortion=0.2)
    letters = np.repeat([0, 1], 50_000)
    drawn = channel.apply(letters, seed=4)
    assert np.array_equal(drawn, channel.apply(letters, seed=4))
    assert not np.array_equal(drawn, channel.apply(letters, seed=5))
    for x in (0, 1):
        seen = np.bincount(drawn[letters == x], minlength=2)
        expected = 50_000 * channel.matrix[x]
        assert (np.square(seen - expected) / expected).sum() < 15.1  # chi-square, 1 degree, p = 1e-4
    assert isinstance(channel, FiniteChannel)
    assert "within" in str(channel)
    for bad in ([2], [-1], [0.5]):
        with pytest.raises(InputError):
            channel.apply(bad)


def test_the_certificate_is_no_bound_where_a_letter_is_missing():
    # column 0 is used by x = 0 only, where w = 1 never occurs: the slope towards it is -inf
    p = np.array([[0.5, 0.25], [0.0, 0.25]])
    alphabet, _, _ = check_alphabet(p, WRONG)
    assert alphabet.certificate(alphabet.nearest(), weight_d=1.0, weight_r=1.0) == -np.inf
    inside = feasible(alphabet, alphabet.nearest() + 1e-6)
    assert np.isfinite(alphabet.certificate(inside, weight_d=1.0, weight_r=1.0))


def test_progress_can_stop_the_work():
    def stop(step):
        raise KeyboardInterrupt

    _, p, d = normal_grid(15)
    with pytest.raises(KeyboardInterrupt):
        privacy_distortion(p, d, multiplier=1.0, progress=stop)


@pytest.mark.parametrize("ask", [{"multiplier": 1.0}, {"max_distortion": 0.3}, {"max_risk": 0.3}])
@pytest.mark.parametrize("method", ["interior", "mirror"])
def test_whoever_wishes_to_finish_gets_a_rule_that_keeps_its_limit(ask, method):
    def stop(step):
        raise FinishEarly

    _, p, d = normal_grid(9)
    early = privacy_distortion(p, d, **ask, method=method, progress=stop)
    late = privacy_distortion(p, d, **ask)
    assert early.iterations <= 1  # the first proof is at step 0
    assert early.gap > late.gap
    assert early.bound <= late.value + 1e-9  # what was proven is true
    assert early.distortion <= ask.get("max_distortion", np.inf)
    assert early.risk <= ask.get("max_risk", np.inf)


@pytest.mark.slow
def test_two_hundred_letters():
    _, p, d = normal_grid(200)
    channel = privacy_distortion(p, d, multiplier=0.72)
    assert channel.gap <= 1e-6 * channel.cost
