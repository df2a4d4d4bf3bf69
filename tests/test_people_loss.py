"""What people with several rows lose: forecast, groups and release say the same, and it is the rows' loss."""

from __future__ import annotations

import math
import random
import warnings

import numpy as np
import polars as pl
import pytest

import people as made
import voronym as vr
from voronym.web.bench import Bench, Wishes
from voronym.web.settings import Settings

KEYS = ["age", "weight", "town"]


def stays(people: int = 50, seed: int = 4) -> pl.DataFrame:
    """Make up patients with one to five stays: weight and town change from stay to stay."""
    rng = random.Random(seed)
    rows = []
    for patient in range(people):
        age = rng.randrange(18, 90)
        for stay in range(rng.randrange(1, 6)):
            weight, town = round(rng.gauss(70, 12), 1), rng.choice(["Reus", "Valls", "Falset"])
            rows.append({"patient": f"q{patient}", "age": age + stay, "weight": weight, "town": town})
    rng.shuffle(rows)
    return pl.DataFrame(rows)


def release(frame: pl.DataFrame, keys: list[str], **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(frame, keys=keys, drop_undeclared=True, **{"method": "mdav", **given})


@pytest.mark.parametrize("whose", [{}, {"person": "patient"}])
@pytest.mark.parametrize(("k", "method"), [(3, "mdav"), (12, "kd"), (5, "auto")])
def test_the_forecast_is_what_the_release_loses(whose, k, method):
    frame = stays()
    result = release(frame, KEYS, k=k, method=method, **whose)
    row = vr.compare(frame, keys=KEYS, k=k, methods=[method], **whose).rows[0]
    assert row.published == pytest.approx(result.information_loss, rel=1e-9)
    assert row.loss == pytest.approx(result.group_loss, rel=1e-9)
    assert result.costs[-1].loss == result.group_loss


def test_lost_is_what_the_rows_lose_counted_by_hand():
    frame = stays(40)
    result = release(frame.with_row_index("mark"), ["age", "weight"], other=["mark"], person="patient", k=4)
    out = pl.DataFrame(result.table).sort("mark")
    lost = total = own = 0.0
    for name in ("age", "weight"):
        values = frame[name].to_list()
        mean = math.fsum(values) / len(values)
        spread = math.fsum((value - mean) ** 2 for value in values)
        lost += math.fsum((a - b) ** 2 for a, b in zip(values, out[name], strict=True)) / spread
        means = dict(frame.group_by("patient").agg(pl.col(name).mean()).iter_rows())
        inside = zip(values, frame["patient"], strict=True)
        own += math.fsum((value - means[who]) ** 2 for value, who in inside) / spread
        total += 1.0
    assert result.information_loss == pytest.approx(100 * lost / total, rel=1e-6)
    # Whoever is in a group, all that changes from row to row of a person is lost.
    assert result.group_loss >= 100 * own / total > 25.0
    losses = {loss.key: loss.groups for loss in result.dossier().inside.losses}
    assert np.mean(list(losses.values())) == pytest.approx(result.group_loss, rel=1e-9)


def test_people_whose_rows_are_alike_lose_as_much_as_their_one_row():
    first = stays().group_by("patient", maintain_order=True).first()
    twice = pl.concat([first, first])
    alone = release(first, KEYS, k=5)
    both = release(twice, KEYS, k=5, person="patient")
    assert both.information_loss == pytest.approx(alone.information_loss)
    assert both.group_loss == pytest.approx(alone.group_loss)


def test_methods_without_groups_are_not_compared_for_people():
    with pytest.raises(vr.InputError, match="method 'records' makes no groups"):
        vr.compare(stays(), keys=KEYS, k=5, methods=["mdav", "records"], person="patient")


@pytest.fixture
def bench(tmp_path):
    made_of = made.write_rows(tmp_path / "stays.csv", stays().to_dicts())
    bench = Bench()
    bench.open(Wishes(lambda _: None), path=str(made_of), reading={}, limits=None)
    return bench


def drawn(bench: Bench, **given) -> tuple[dict[int, dict], dict]:
    """Return the last point that the page draws at each k, and the last figures that it shows."""
    messages: list[dict] = []
    chosen = Settings({"keys": list(KEYS), "person": "patient", "drop_undeclared": True, **given})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bench.preview(Wishes(messages.append), settings=chosen.plain())
    points = {step["point"]["k"]: step["point"] for step in messages if "point" in step}
    return points, [step["shown"] for step in messages if "shown" in step][-1]


def test_the_picture_on_the_page_is_what_the_release_loses(bench):
    for method in ("mdav", "auto"):
        points, shown = drawn(bench, k=10, method=method)
        assert {3, 5, 10, 20} == set(points)
        for k, point in points.items():
            lost = release(stays(), KEYS, k=k, method=method, person="patient").information_loss
            assert point["loss"] == pytest.approx(lost, rel=1e-9)
        assert points[10]["exact"]
        assert shown["loss"] == shown["effect"]["loss"] == points[10]["loss"]


def test_the_picture_of_fewer_people_than_the_largest_k(bench, tmp_path):
    """Eight people have more than eight rows: a k of ten is none for them."""
    path = made.write_rows(tmp_path / "few.csv", stays(8).to_dicts())
    bench.open(Wishes(lambda _: None), path=str(path), reading={}, limits=None)
    points, shown = drawn(bench, k=4, method="mdav")
    assert set(points) == {3, 4, 5}
    assert shown["smallest"] >= 4
    with pytest.raises(vr.GuaranteeError, match="k=10 cannot be reached with 8 people"):
        drawn(bench, k=10, method="mdav")


def test_the_page_counts_people_who_stand_alone_not_their_rows(bench):
    chosen = Settings({"keys": list(KEYS), "person": "patient"})
    result = bench.alone(Wishes(lambda _: None), settings=chosen.plain())
    owners: dict[tuple, set[str]] = {}
    for row in stays().to_dicts():
        owners.setdefault(tuple(row[name] for name in KEYS), set()).add(row["patient"])
    alone = set().union(*(own for own in owners.values() if len(own) == 1))
    assert (result["alone"], result["records"], result["counted"]) == (len(alone), 50, "people")


@pytest.mark.parametrize("whose", [{}, {"person": "patient"}])
def test_the_progress_says_whose_loss_it_tells(whose):
    messages = []
    release(stays(), KEYS, k=5, method="auto", time_limit=0.5, progress=messages.append, **whose)
    vr.compare(stays(), keys=KEYS, k=5, methods=["exchange"], progress=messages.append, **whose)
    stages = {step.stage for step in messages if step.loss is not None}
    assert stages
    assert all(("people's means" in stage) is bool(whose) for stage in stages), stages
