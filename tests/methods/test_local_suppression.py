"""Local suppression against integer programmes and all partitions, by code that shares nothing with it."""

from __future__ import annotations

import csv
import itertools
import warnings
from collections import Counter, defaultdict
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.tables import LIBRARIES, build, key_tables

import voronym as vr
from repeats import examples
from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError
from voronym.methods import blank_bound
from voronym.methods.blank_wildcard import matches
from voronym.methods.blanks import Choices, combinations
from voronym.methods.local_suppression import Gaps, suppress_locally, unveiled


def drawn(seed, least=8, most=26):
    """A small table, some values missing, with prices and k."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(least, most)), int(rng.integers(2, 5)), int(rng.integers(2, 5))
    low = [-1 if rng.random() < 0.3 else 0 for _ in range(d)]
    codes = np.column_stack([rng.integers(item, int(rng.integers(2, 5)), n) for item in low])
    return codes.astype(np.int64), k, rng.choice([1.0, 1.0, 2.0, 3.0], d)


def programme(codes, k, price):
    """The least cost, record by record: x says who is published with which columns, y which are used."""
    n, d = codes.shape
    pairs, classes = [], {}
    for i in range(n):
        for kept in itertools.product([False, True], repeat=d):
            if any(keep and codes[i, c] < 0 for c, keep in enumerate(kept)):
                continue
            name = tuple(int(codes[i, c]) if keep else None for c, keep in enumerate(kept))
            cost = sum(price[c] for c, keep in enumerate(kept) if not keep and codes[i, c] >= 0)
            pairs.append((i, classes.setdefault(name, len(classes)), cost))
    x, y = len(pairs), len(classes)
    rules, low, high = [], [], []
    for i in range(n):
        rules.append([float(p[0] == i) for p in pairs] + [0.0] * y)
        low.append(1.0)
        high.append(1.0)
    for item in range(y):
        rules.append(
            [float(p[1] == item) for p in pairs] + [-float(k) * (other == item) for other in range(y)]
        )
        low.append(0.0)
        high.append(np.inf)
    for at, (_, item, _) in enumerate(pairs):
        rules.append(
            [float(other == at) for other in range(x)] + [-float(other == item) for other in range(y)]
        )
        low.append(-np.inf)
        high.append(0.0)
    result = milp(
        [cost for _, _, cost in pairs] + [0.0] * y,
        integrality=np.ones(x + y),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(np.array(rules), low, high),
    )
    assert result.status == 0
    return result.fun


def all_partitions(codes, k, price):
    """The least cost over all partitions into groups of k or more, each of which keeps what it shares."""
    n = len(codes)

    def cost(group):
        rows = codes[list(group)]
        apart = [len(set(column)) > 1 or column[0] < 0 for column in rows.T.tolist()]
        return sum(price[c] * int((rows[:, c] >= 0).sum()) for c, hidden in enumerate(apart) if hidden)

    @cache
    def best(left):
        if not left:
            return 0.0
        first, *rest = left
        out = np.inf
        for many in range(k - 1, len(left)):
            for others in itertools.combinations(rest, many):
                after = tuple(item for item in rest if item not in others)
                if not after or len(after) >= k:
                    out = min(out, cost((first, *others)) + best(after))
        return out

    return best(tuple(range(n)))


def cost_of(codes, outcome, price):
    """What the gaps cost, counted anew; and the records that look alike."""
    shown = np.where(outcome.kept, codes, -1)
    assert (shown[outcome.kept] >= 0).all()  # nothing is published where nothing was
    cost = float((((codes >= 0) & (shown < 0)) * price).sum())
    return cost, Counter(map(tuple, shown.tolist()))


def check(codes, k, price, least, **how):
    result = suppress_locally(codes, k, Context(seed=0), price=price, **how)
    cost, alike = cost_of(codes, result, price)
    assert min(alike.values()) >= k
    assert cost == pytest.approx(result.cost)
    assert result.least <= least + 1e-6 <= cost + 2e-6  # the bound is one
    return result


@pytest.mark.parametrize("seed", range(12))
def test_equals_an_integer_programme(seed):
    codes, k, price = drawn(seed, most=16)
    least = programme(codes, k, price)
    result = check(codes, k, price, least)
    assert result.cost == pytest.approx(least)
    assert result.gap == 0.0
    check(codes, k, price, least, solve=False)  # the search alone: its bound holds
    rows, _, counts = combinations(codes)
    choices = Choices.find(rows, counts, np.asarray(price, float), k, Context())
    assert blank_bound.least(choices, Context())[0] <= least + 1e-6  # before it is cut to the cost


@pytest.mark.parametrize("seed", range(6))
def test_parts_of_a_large_table_are_solved(seed, monkeypatch):
    """What happens above some size, on tables whose optimum is known: never worse than the search alone."""
    codes, k, price = drawn(seed, most=16)
    least = programme(codes, k, price)
    alone = check(codes, k, price, least, solve=False)
    monkeypatch.setattr(blank_bound, "SMALL", 0)
    monkeypatch.setattr(blank_bound, "PARTS", 10)
    monkeypatch.setattr(blank_bound, "PART", 30)
    assert check(codes, k, price, least, exact=True).cost <= alone.cost + 1e-9


@pytest.mark.slow
def test_equals_an_integer_programme_on_two_hundred_tables():
    alone = []
    for seed in range(200):
        codes, k, price = drawn(seed)
        least = programme(codes, k, price)
        assert check(codes, k, price, least).cost == pytest.approx(least), seed
        alone.append(check(codes, k, price, least, solve=False).cost <= least + 1e-6)
    assert sum(alone) >= 100  # the search, before the programme is solved


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_best_of_all_partitions(seed):
    codes, k, price = drawn(seed, least=6, most=8)
    least = all_partitions(codes, k, price)
    assert check(codes, k, price, least).cost == pytest.approx(least)


def survey(n=160, seed=3):
    rng = np.random.default_rng(seed)
    age = rng.integers(2, 9, n) * 10
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["n", "s", "e", None], n, p=[0.5, 0.3, 0.15, 0.05]),
            "job": rng.choice(["clerk", "nurse", "pilot", "judge"], n, p=[0.6, 0.3, 0.07, 0.03]),
            "secret": np.arange(n),
        }
    )


KEYS = ["age", "sex", "region", "job"]


def released(table, **more):
    given = {"keys": KEYS, "other": ["secret"], "method": "local-suppression", "k": 5, **more}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(table, **given)


@pytest.fixture(scope="module")
def plain():
    return released(survey())


def test_every_published_value_is_true_and_k_holds_in_the_file(plain, tmp_path):
    table, release = survey(), plain
    release.write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert min(Counter(tuple(row[key] for key in KEYS) for row in rows).values()) >= 5
    truth = {str(row["secret"]): row for row in table.iter_rows(named=True)}
    gaps = Counter()
    for row in rows:
        for key in KEYS:
            true = truth[row["secret"]][key]
            assert row[key] in ("", "" if true is None else str(true))
            gaps[key] += row[key] == "" and true is not None
    figures = release.figures.local_suppression
    assert figures.suppressed == {key: gaps[key] for key in KEYS}  # said, column by column
    assert sum(gaps.values()) > 0
    assert f"job {gaps['job']}" in release.log[0]
    for part in (release.dossier().public, release.dossier().inside):
        assert {item.fate for item in part.columns if item.role == "key"} == {"its own value, or missing"}


def test_importance_moves_the_gaps_elsewhere(plain):
    plain = plain.figures.local_suppression.suppressed
    dear = released(survey(), importance={"job": 20.0}).figures.local_suppression.suppressed
    assert dear["job"] < plain["job"]
    assert sum(dear.values()) > sum(plain.values())


def test_a_gap_stands_for_several_values(plain):
    table = survey()
    out = plain.table.join(table, on="secret", suffix=" true").with_columns(
        pl.col(KEYS).cast(pl.String), pl.col([f"{key} true" for key in KEYS]).cast(pl.String)
    )
    for _, rows in out.group_by(KEYS):
        for key in KEYS:
            if rows[key].null_count():
                assert rows[f"{key} true"].fill_null("?").n_unique() > 1 or rows[f"{key} true"].null_count()


def test_what_a_whole_class_shares_is_published():
    codes = np.array([[0, 1, 0], [0, 1, 0], [0, 1, 1], [0, 1, -1], [2, 1, 0], [2, 1, 0]])
    labels, kept = unveiled(codes, np.array([7, 7, 7, 7, 3, 5]))
    assert kept.tolist() == [[True, True, False]] * 4 + [[True, True, True]] * 2
    assert labels[4] == labels[5] != labels[0]  # two classes that publish the same are one


@pytest.mark.parametrize("seed", range(4))
def test_k_counts_households_and_no_class_is_short(seed):
    """The search itself counts heads: nothing is joined afterwards, and the bound of records is one."""
    rng = np.random.default_rng(seed)
    n, k = 300, 3
    homes = np.sort(rng.integers(0, 90, n))
    codes = np.column_stack([rng.integers(0, m, n) for m in (2, 4, 3, 5)])
    codes[:, :2] = codes[homes][:, :2]  # members share where they live
    result = suppress_locally(codes, k, Context(seed=seed), homes=homes)
    cost, _ = cost_of(codes, result, np.ones(4))
    assert cost == result.cost >= result.least
    shown = defaultdict(set)
    for row, home in zip(np.where(result.kept, codes, -1).tolist(), homes.tolist(), strict=True):
        shown[tuple(row)].add(home)
    assert min(map(len, shown.values())) >= k
    records = suppress_locally(codes, k, Context(seed=seed))
    assert records.cost <= result.cost


@pytest.mark.slow
def test_a_time_limit_and_the_exact_programme_never_lose():
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.choice(m, 500, p=_steep(m)) for m in (2, 5, 4, 6, 3)]).astype(np.int64)
    plain = suppress_locally(codes, 3, Context(seed=0))
    longer = suppress_locally(codes, 3, Context(seed=0, time_limit=20.0))
    exact = suppress_locally(codes, 3, Context(seed=0, time_limit=20.0), exact=True)
    assert longer.cost <= plain.cost
    assert exact.cost <= plain.cost
    assert plain.least - 1e-6 <= exact.least <= exact.cost


def _steep(many):
    share = 1.0 / np.arange(1, many + 1) ** 1.5
    return share / share.sum()


def test_gaps_as_others_count_them(tmp_path):
    """Fewer gaps do where one matches everything; the release is the same, and a plain loop agrees."""
    release = released(survey(), options={"wildcard": True}, seed=0)
    figures = release.figures.local_suppression
    assert 0 < figures.wildcard < figures.cost
    assert figures.suppressed == released(survey(), seed=0).figures.local_suppression.suppressed
    rows = [tuple(row) for row in np.random.default_rng(1).integers(-1, 3, (40, 3)).tolist()]

    def alike(a, b):
        return all(x < 0 or y < 0 or x == y for x, y in zip(a, b, strict=True))

    codes = np.array(rows)
    for row in rows:
        plain = sum(alike(row, other) for other in rows)
        assert matches(codes, np.array(row), np.ones(len(rows), np.int64)) == plain


def test_recoding_first_leaves_fewer_gaps(plain):
    coarse = released(survey(), steps=["recode job values=pilot,judge to=other", "round age=20"])
    assert coarse.figures.local_suppression.cost < plain.figures.local_suppression.cost


def test_refusals():
    table = survey(20)
    with pytest.raises(InputError, match="importance: 'nobody' is no key"):
        released(table, importance={"nobody": 2})
    with pytest.raises(InputError, match="above 0"):
        released(table, importance={"age": 0})
    with pytest.raises(GuaranteeError, match="fewer records than that"):
        released(table, k=21)
    homes = table.with_columns(home=pl.Series([0, 1] * 10))
    with pytest.raises(GuaranteeError, match="k=5 cannot be reached with 2 households"):
        released(homes, household="home")
    with pytest.raises(InputError, match="publishes no pseudonyms of households"):
        released(homes, household="home", pseudonyms=True, k=2)
    assert released(homes, household="home", method="lattice", k=2).risk.k >= 2


@examples(12, 75)
@given(key_tables(), st.sampled_from(LIBRARIES))
def test_any_kinds_and_missing_values(columns_and_k, library):
    columns, k = columns_and_k
    keys = [name for name in columns if name.startswith("key")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            release = vr.anonymize(
                build(columns, library), keys=keys, other=["secret"], identifiers=["name"], k=k,
                method="local-suppression", allow_near_unique=keys, allow_loss=keys,
            )  # fmt: skip
        except InputError:
            return
    assert release.risk.k >= k


# The intruder ---------------------------------------------------------------------------------------------


def carelessly(table, k):
    """Make values missing, the rarest first, until each record has k that match it if a gap matches all."""
    rows = [list(row) for row in table.select(KEYS).iter_rows()]
    often = [Counter(row[c] for row in rows) for c in range(len(KEYS))]

    def alike(a, b):
        return all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))

    for row in rows:
        for c in sorted(range(len(KEYS)), key=lambda c: often[c][row[c]]):
            if sum(alike(row, other) for other in rows) >= k:
                break
            row[c] = None
    return rows


def found_out(shown, secrets, people):
    """Let an intruder who knows everybody's keys and the code do the work again, and look who looks how.

    ``shown`` are the published rows, ``people`` what each person's row looks like when he does the work
    again. Returns the fewest rows that any person can be, and the share that he finds by guessing.
    """
    here = defaultdict(list)
    for row, secret in zip(shown, secrets, strict=True):
        here[row].append(secret)
    sizes = [len(here[row]) for row in people]
    right = [1.0 / len(here[row]) if own in here[row] else 0.0 for own, row in enumerate(people)]
    return min(sizes), float(np.mean(right))


def test_whoever_does_the_work_again_finds_k_of_each():
    table, k = survey(), 5
    release, again = released(table, seed=0), released(table, seed=0)  # as if he had drawn the same
    shown = list(release.table.select(KEYS).iter_rows())
    secrets = release.table["secret"].to_list()
    mine = dict(zip(again.table["secret"].to_list(), again.table.select(KEYS).iter_rows(), strict=True))
    fewest, share = found_out(shown, secrets, [mine[i] for i in range(len(table))])
    assert fewest >= k
    assert share <= 1 / k
    # The same intruder, where gaps match everything: he finds some for certain.
    careless = list(map(tuple, carelessly(table, k)))
    fewest, _ = found_out(careless, range(len(table)), careless)
    assert fewest == 1


def test_rare_values_are_the_missing_ones_and_that_finds_nobody(plain):
    """An intruder knows one person's keys, and that common values are seldom suppressed."""
    table, k = survey(), 5
    shown = list(plain.table.select(KEYS).iter_rows())
    classes = Counter(shown)
    for person in table.select(KEYS).iter_rows():
        fits = [
            item for item in classes if all(x is None or x == y for x, y in zip(item, person, strict=True))
        ]
        likely = min(fits, key=lambda item: sum(x is None for x in item))  # the fewest gaps
        assert classes[likely] >= k


def test_the_gap_is_what_the_cost_is_above_the_bound():
    def gap(cost, least):
        return Gaps(np.zeros(2, np.int64), np.ones((2, 1), bool), cost, least).gap

    assert gap(12.0, 10.0) == pytest.approx(20.0)
    assert gap(10.0, 10.0) == 0.0
    assert gap(3.0, 0.0) == np.inf
