"""An auditor: two neighbouring tables, many releases of each, and how well they can be told apart.

For every event S, ln P(S | one) / P(S | other) is at most ε. The auditor looks for the event with the largest
ratio in half of the releases, counts it in the other half, and computes a lower confidence bound for ε from
exact binomial intervals. The bound must be below what is promised, and above it once noise is halved.
"""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

from voronym.core.context import Context
from voronym.dp import noise
from voronym.errors import VoronymError
from voronym.methods.differential import DifferentialOptions, mask_private
from voronym.privacy import DifferentialPrivacy
from voronym.table.table import Table

pytestmark = pytest.mark.slow

N = 20
LOW = pl.DataFrame({"age": [0] * N})
HIGH = pl.DataFrame({"age": [0] * (N - 1) + [120]})
HALF = pl.DataFrame({"age": [10] * 10 + [100] * 10})
MOVED = pl.DataFrame({"age": [10] * 11 + [100] * 9})


def releases(frame, runs, *, epsilon, grouping, k, delta=0.0, neighbours="replace"):
    """What the whole pipeline publishes: mean, large values and number of rows of the released column."""
    table = Table.build(frame, keys=["age"])
    model = DifferentialPrivacy(epsilon, delta=delta, neighbours=neighbours)
    options = DifferentialOptions(grouping=grouping, bounds={"age": [0, 120]})
    out = np.empty((runs, 3))
    for run in range(runs):
        made = mask_private(table, Context(), model=model, options=options, k=k)
        values = made.frame["age"].to_numpy()
        out[run] = values.mean(), (values > 60).sum(), len(values)
    return out


def lower_bound(first, second, delta=0.0, sure=0.999):
    """A bound that ε is above, with confidence: the best event of one half, counted in the other."""
    events = []
    for column in range(first.shape[1]):
        for limit in np.unique(np.concatenate([first[::2, column], second[::2, column]])):
            events += [(column, limit, above, turned) for above in (True, False) for turned in (True, False)]
    start = [ratio(first[::2], second[::2], event, delta, sure) for event in events]
    return ratio(first[1::2], second[1::2], events[int(np.argmax(start))], delta, sure)


def ratio(first, second, event, delta, sure):
    """The least ln P(event | one) / P(event | other) that exact intervals allow."""
    column, limit, above, turned = event
    sides = [item[:, column] >= limit if above else item[:, column] < limit for item in (first, second)]
    a, b = sides[::-1] if turned else sides
    slack, hits, others = (1 - sure) / 2, int(a.sum()), int(b.sum())
    p = beta.ppf(slack, hits, len(a) - hits + 1) if hits else 0.0
    q = beta.ppf(1 - slack, others + 1, len(b) - others) if others < len(b) else 1.0
    return math.log(max(p - delta, 1e-12) / q)


def halve(monkeypatch):
    """Half the noise, and nobody who checks what it costs."""
    full = noise.laplace_scale
    monkeypatch.setattr(noise, "laplace_scale", lambda sensitivity, epsilon: full(sensitivity, epsilon) / 2)
    monkeypatch.setattr(noise, "_check", lambda *_: None)


@pytest.mark.parametrize("grouping", ["individual", "order", "tree"])
def test_the_promise_is_not_exceeded(grouping):
    results = [releases(frame, 300, epsilon=1.0, grouping=grouping, k=N) for frame in (LOW, HIGH)]
    assert lower_bound(*results) < 1.0


def test_half_the_noise_is_found_out(monkeypatch):
    halve(monkeypatch)
    results = [releases(frame, 900, epsilon=1.0, grouping="tree", k=N) for frame in (LOW, HIGH)]
    assert lower_bound(*results, sure=0.99) > 1.0


@pytest.mark.parametrize("grouping", ["individual", "order", "tree"])
def test_the_promise_holds_with_several_groups(grouping):
    results = [releases(frame, 200, epsilon=1.0, grouping=grouping, k=8) for frame in (HALF, MOVED)]
    assert lower_bound(*results) < 1.0


def test_the_promise_holds_with_a_delta():
    results = [releases(frame, 200, epsilon=1.0, grouping="tree", k=N, delta=1e-3) for frame in (LOW, HIGH)]
    assert lower_bound(*results, delta=1e-3) < 1.0


def test_noise_that_costs_more_than_its_share_is_not_drawn(monkeypatch):
    full = noise.laplace_scale
    monkeypatch.setattr(noise, "laplace_scale", lambda sensitivity, epsilon: full(sensitivity, epsilon) / 2)
    with pytest.raises(VoronymError, match="would cost"):
        releases(LOW, 1, epsilon=1.0, grouping="tree", k=N)


@pytest.mark.slow
@pytest.mark.parametrize("grouping", ["individual", "order", "tree"])
@pytest.mark.parametrize("halved", [False, True])
def test_a_hundred_thousand_releases(grouping, halved, monkeypatch):
    """Three groupings, with and without half of their noise: 120,000 releases of the two tables."""
    if halved:
        halve(monkeypatch)
    results = [releases(frame, 10_000, epsilon=1.0, grouping=grouping, k=N) for frame in (LOW, HIGH)]
    bound = lower_bound(*results)
    assert (bound > 1.0) == halved, bound
    assert bound > 0.6  # an auditor that sees nothing would prove nothing


FEWER = pl.DataFrame({"age": [0] * (N - 1)})


@pytest.mark.parametrize("other", [FEWER, HIGH])
@pytest.mark.parametrize("grouping", ["individual", "order", "tree"])
def test_a_row_more_is_not_told(grouping, other):
    """Tables with and without a row, and with another one: the whole pipeline with a noisy count."""
    asked = {"epsilon": 1.0, "grouping": grouping, "k": N, "neighbours": "add-remove"}
    result = [releases(frame, 400, **asked) for frame in (HIGH if other is FEWER else LOW, other)]
    assert lower_bound(*result) < 1.0


def test_half_the_noise_of_the_count_is_found_out(monkeypatch):
    """With all of the budget on the count and half its noise, the number of rows gives a row away."""
    from voronym.dp import presence

    monkeypatch.setattr(presence, "COUNT", 0.999)
    asked = {"epsilon": 1.0, "grouping": "tree", "k": N, "neighbours": "add-remove"}
    honest = [releases(frame, 2000, **asked) for frame in (LOW, FEWER)]
    assert 0.5 < lower_bound(*honest, sure=0.99) < 1.0
    halve(monkeypatch)
    result = [releases(frame, 2000, **asked) for frame in (LOW, FEWER)]
    assert lower_bound(*result, sure=0.99) > 1.0
