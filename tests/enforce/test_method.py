"""An intruder who knows the method, with all worlds at hand: an oracle that shares no code with ours."""

from __future__ import annotations

import warnings
from collections import Counter
from itertools import permutations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from repeats import few
from voronym.core.context import Context
from voronym.errors import GuaranteeError, InputError
from voronym.method import METHODS as METHODS_OF
from voronym.partition import Partition
from voronym.privacy import parse_model
from voronym.privacy.enforce import WAYS, enforce
from voronym.privacy.enforce.blind import chance, grid
from voronym.privacy.enforce.rules import Requirements
from voronym.privacy.level import Levels
from voronym.problem import Problem
from voronym.table.table import Table

MODELS = ["p-sensitive=2", "l-diversity=2", "t-closeness=0.5,distance=equal"]
AGES, ILL = [30, 31, 50, 51, 52], ("HIV", "HIV", "flu", "ulcer", "cold")


def release(ages, ill, model, **more):
    """Return the published rows, person by person, or None where nothing is."""
    table = pl.DataFrame({"age": ages, "ill": ill, "who": range(len(ages))})
    roles = {"keys": ["age"], "confidential": ["ill"], "other": ["who"], "k": 2, "method": "mdav"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = vr.anonymize(table, models=[model], **roles, **more)
        except GuaranteeError:
            return None
    return made.table.sort("who").select("age", "ill").rows()


def quick(ages, ill, model, way="blind"):
    """Do the same by the doors behind `anonymize`, without files, measures and checks."""
    points = Problem.of(np.array(ages, float)[:, None], 2).records
    values, codes = np.unique(ill, return_inverse=True)
    levels = Levels("ill", codes.astype(np.int64), False, tuple(values))
    problem = Problem(points, 2, [parse_model(model).judge(levels)])
    try:
        part = enforce(
            problem, METHODS_OF["mdav"].partition(problem, Context()), Context(), way=way
        ).partition
    except GuaranteeError:
        return None
    means = part.centroids(points.X)[part.labels, 0].round(6).tolist()
    return list(zip(means, ill, strict=True))


def worst_excess(ages, ill, model, publish=release, **more):
    """Return by how much, at most, somebody's value is surer than the counts of their group say."""
    truth = publish(ages, ill, model, **more)
    if truth is None:
        return None
    same = []
    for world in sorted(set(permutations(ill))):
        result = publish(ages, world, model, **more)
        if result is not None and Counter(result) == Counter(truth):
            same.append((world, [age for age, _ in result]))
    excess = 0.0
    for i in range(len(ages)):
        for value in set(ill):
            sure = np.mean([world[i] == value for world, _ in same])
            # What the counts say: in each believed world, the share of the value in this person's group.
            counts = []
            for world, groups in same:
                mates = [j for j in range(len(ages)) if groups[j] == groups[i]]
                counts.append(np.mean([world[j] == value for j in mates]))
            excess = max(excess, sure - np.mean(counts))
    return excess


def random_table(rng):
    n = int(rng.integers(5, 8))
    ages = sorted(rng.choice(60, n, replace=False).tolist())
    kinds = int(rng.integers(2, 4))
    ill = tuple(rng.permutation([f"v{i % kinds}" for i in range(n)]).tolist())
    return ages, ill


@pytest.mark.parametrize("model", MODELS)
def test_who_knows_the_method_is_certain_unless_it_is_blind(model):
    assert worst_excess(AGES, ILL, model, quick, way="merge") > 0.09  # the known attack
    assert worst_excess(AGES, ILL, model, quick) in (None, pytest.approx(0.0))


def test_the_known_attack_on_whole_releases():
    young = ("HIV", "HIV", "flu", "flu", "cold")
    assert worst_excess(AGES, young, "p-sensitive=2", enforce="merge") > 0.1
    assert worst_excess(AGES, young, "p-sensitive=2", intruder="method") == pytest.approx(0.0)


def check_tables(count, seed):
    rng = np.random.default_rng(seed)
    published, figures = 0, {model: [] for model in MODELS}
    for _ in range(count):
        ages, ill = random_table(rng)
        for model in MODELS:
            result = worst_excess(ages, ill, model, quick)
            published += result is not None
            figures[model].append(0.0 if result is None else result)
    return published / (count * len(MODELS)), {model: max(single) for model, single in figures.items()}


def test_the_quick_way_publishes_what_anonymize_does():
    rng = np.random.default_rng(5)
    for model in MODELS:
        ages, ill = random_table(rng)
        slow, fast = release(ages, ill, model, intruder="method"), quick(ages, ill, model)
        assert (slow is None) == (fast is None)
        groups = [
            [item.index(row) for row in item] for item in ([a for a, _ in rows] for rows in (slow, fast))
        ]
        assert groups[0] == groups[1]


def test_random_tables_against_all_worlds():
    published, worst = check_tables(3, seed=1)
    assert max(worst.values()) <= 1e-9
    assert published > 0.5


@pytest.mark.slow
def test_a_hundred_random_tables_against_all_worlds():
    published, worst = check_tables(100, seed=0)
    assert max(worst.values()) <= 1e-9, worst
    assert published > 0.8


def records(n, seed=0):
    return Problem.of(np.random.default_rng(seed).normal(size=(n, 2)), 3).records


def judged(n, seed=0, p=2, kinds=2):
    codes = np.random.default_rng(seed).permutation(np.arange(n) % kinds)
    return vr.privacy.p_sensitive.PSensitive(p).judge(Levels("ill", codes, False, tuple("abcdefgh"[:kinds])))


@pytest.mark.parametrize("way", ["blind", "random-merge", "random-swap"])
@pytest.mark.parametrize("kinds", [2, 4])
def test_every_judge_accepts_every_group(way, kinds):
    judge = judged(200, kinds=kinds)
    start = by_keys(200)
    done = enforce(Problem(records(200), 3, [judge]), start, Context(), way=way)
    assert done.partition.sizes.min() >= 3
    assert judge.values(done.partition.labels, done.partition.n_cells).min() >= 2


def by_keys(n):  # a start that looks at nothing else
    return vr.microaggregate(records(n).X, k=3, method="mdav")


def test_blind_groups_are_unions_of_groups_that_the_keys_alone_made():
    """Whatever the values, no base group is torn apart, and partners are the same."""
    base, seen = by_keys(120), []
    for seed in range(12):
        done = enforce(Problem(records(120), 3, [judged(120, seed)]), base, Context(seed=seed), way="blind")
        assert done.way == "blind"
        labels = done.partition.labels
        assert all(len(set(labels[base.labels == group])) == 1 for group in range(base.n_cells))
        seen.append({frozenset(np.flatnonzero(labels == item).tolist()) for item in range(labels.max() + 1)})
    # two unions of different tables are apart, or one holds the other: they are nodes of the same trees
    for item in seen:
        for other in seen:
            assert all(not a & b or a <= b or b <= a for a in item for b in other)
    assert len({frozenset(item) for item in seen}) > 1


@pytest.mark.parametrize(("n", "kinds"), few([(8, 2), (6, 3), (9, 2)], 2))
def test_all_worlds_where_partners_were_joined(n, kinds):
    """In tables in which groups had to be merged, nobody is surer than the counts say, to the last digit."""
    rng = np.random.default_rng(n)
    joined = 0
    for _ in range(2):
        ages = sorted(rng.choice(60, n, replace=False).tolist())
        ill = tuple(rng.permutation([f"v{i % kinds}" for i in range(n)]).tolist())
        made = quick(ages, ill, "p-sensitive=2")
        if made is None:
            continue
        joined += max(Counter(age for age, _ in made).values()) > 3
        assert worst_excess(ages, ill, "p-sensitive=2", quick) <= 1e-9
    assert joined


def surest(n, k, values, seed, worlds):
    """Deal values inside published groups, believe worlds that publish the same, and return the surest gain.

    None where no group by keys had a single value, so that nothing had to be done.
    """
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(n, 2)), rng.integers(0, values, n)
    points = Problem.of(X, k).records
    base = METHODS_OF["mdav"].partition(Problem(points, k), Context())
    if all(len(set(codes[base.labels == item])) > 1 for item in range(base.n_cells)):
        return None

    def made(codes):
        judge = parse_model("p-sensitive=2").judge(Levels("ill", codes, False, tuple(range(values))))
        return enforce(Problem(points, k, [judge]), base, Context(), way="blind").partition

    part = made(codes)
    members = [np.flatnonzero(part.labels == item) for item in range(part.n_cells)]
    same = []
    for _ in range(worlds):
        world = codes.copy()
        for rows in members:
            world[rows] = rng.permutation(codes[rows])
        if made(world) == part:
            same.append(world)
    worst = 0.0
    for rows in members:
        for value in set(codes[rows].tolist()):
            sure = np.mean([world[rows] == value for world in same], axis=0)
            worst = max(worst, float((sure - np.mean(codes[rows] == value)).max()))
    return worst


def test_diagnoses_that_nearly_all_differ(monkeypatch):
    """Sixty people, k = 2, two hundred values: a pair that is alike was known to whom the method is."""
    monkeypatch.setattr("voronym.privacy.enforce.blind.WORLDS", 20)
    results = [surest(60, 2, 200, seed, worlds=WORLDS) for seed in ALIKE]
    assert None not in results
    assert max(results) < 0.25  # the largest of many shares, each of some worlds; it was 0.5 and more


WORLDS, ALIKE = 300, (4, 21)


def test_the_chance_of_a_world_does_not_depend_on_who_has_which_value():
    part = Partition([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    matches = {chance(part, Requirements([judged(11, seed)])) for seed in range(5)}
    assert len(matches) == 1
    assert 0 < matches.pop() < 1


@pytest.mark.parametrize("model", [*MODELS, "mutual-information=0.4", "delta-disclosure=1"])
def test_the_chance_of_a_world_is_what_worlds_one_by_one_say(model, monkeypatch):
    monkeypatch.setattr("voronym.privacy.enforce.blind.WORLDS", 40)
    part = Partition([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    frame = pl.DataFrame({"age": range(11), "ill": list("aabbbbcaaab")})
    judges = parse_model(model).judges(Table.build(frame, keys=["age"], confidential=["ill"]))
    asked, rng, passed = Requirements(judges), np.random.default_rng(0), 0
    for _ in range(40):
        world = np.empty(11, np.int64)
        world[asked.order] = rng.permutation(np.sort(part.labels))
        passed += asked.hold(world) if not judges[0].additive else judges[0].holds(judges[0].values(world, 3))
    assert chance(part, asked) == passed / 40


def test_randomised_ways_do_not_repeat_themselves_from_the_seed():
    problem, start = Problem(records(200), 3, [judged(200)]), by_keys(200)
    for way in ("random-merge", "random-swap"):
        first, second = (enforce(problem, start, Context(seed=1), way=way).partition for _ in range(2))
        assert first != second


def test_a_grid_is_coarse_and_ends_with_one_group():
    assert grid(3, 4) == [3, 4]
    assert grid(2, 2) == [2]
    assert len(grid(5, 10**6)) < 35


def test_what_was_chosen_is_in_the_recipe_and_on_the_page(tmp_path):
    people = vr.datasets.hospital(300, seed=2)
    roles = {"keys": ["age", "sex"], "confidential": ["diagnosis"], "drop_undeclared": True, "k": 3}
    made = vr.anonymize(people, models=["p-sensitive=2"], intruder="method", **roles)
    assert made.recipe.intruder == "method"
    assert any("knows the method: by keys alone" in step for step in made.log)
    assert made.costs[-1].method == "blind"
    page = made.report(tmp_path / "page.html", audience="public").read_text(encoding="utf-8")
    assert "knows the method: by keys alone" in " ".join(page.split())
    usual = vr.anonymize(people, models=["p-sensitive=2"], **roles)
    assert any("may learn more" in step for step in usual.log)
    with pytest.raises(InputError, match="looks at confidential values"):
        vr.anonymize(people, models=["p-sensitive=2"], intruder="method", enforce="swap", **roles)
    assert set(WAYS) >= {"blind", "random-merge", "random-swap"}
