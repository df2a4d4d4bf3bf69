"""The dossier: plain data, two parts, told and stopped on the way."""

import json
import warnings

import numpy as np
import pytest

import voronym as vr
from voronym.core.context import Context
from voronym.core.jsonable import plain
from voronym.dossier import dossier, planes
from voronym.errors import Cancelled

KEYS = ["age", "sex", "zip", "nationality", "admitted", "weight"]
WAYS = {
    "groups": {"k": 5, "method": "mdav"},
    "t-closeness": {"k": 5, "method": "mdav", "models": ["t-closeness=0.5"]},
    "mixed": {"k": 5, "method": "mdav", "space": "mixed"},
    "channel": {"method": "channel", "options": {"max_distortion": 0.3}, "seed": 1},
    "records": {"method": "records", "options": {"m": 4, "despite_loss": True}, "seed": 1},
}


@pytest.fixture(scope="module")
def releases():
    patients = vr.datasets.hospital(240, outliers=3, seed=4)
    roles = {"keys": KEYS, "confidential": ["diagnosis"], "drop_undeclared": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: vr.anonymize(patients, **roles, **way) for name, way in WAYS.items()}


@pytest.mark.parametrize("way", WAYS)
def test_everything_is_plain_data(releases, way):
    result = releases[way].dossier()
    for pictures in (False, True):
        made = result.to_dict(pictures=pictures)
        assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert "plane" not in result.to_dict()["inside"]
    assert set(made) == {"public", "inside", "versions"}


@pytest.mark.parametrize("way", WAYS)
def test_figures_are_those_of_the_release(releases, way):
    release = releases[way]
    result = release.dossier()
    public, inside = result.public, result.inside
    assert (public.information_loss, public.group_loss, public.gap) == (
        release.information_loss,
        None if way == "mixed" else release.group_loss,
        release.gap,
    )
    assert public.risk == release.risk
    assert public.findings == release.findings
    assert inside.utility == release.utility
    assert inside.linkage.population == inside.linkage.n == 240
    assert {loss.key for loss in inside.losses} == set(KEYS)
    assert inside.told.column == "diagnosis"
    assert [loss.column for loss in public.distributions] == KEYS
    assert all(loss.before is None for loss in public.distributions)
    assert all(sum(loss.before) + loss.missing_before == 240 for loss in inside.distributions if loss.edges)
    assert (inside.clusters is not None) == (way == "records")


def test_a_dossier_is_made_once_and_a_pickled_release_has_none_of_the_inside(releases):
    import pickle

    release = releases["groups"]
    assert release.dossier() is release.dossier()
    again = pickle.loads(pickle.dumps(release))  # noqa: S301 - our own
    assert again.dossier().inside is None
    assert again.dossier().public == release.dossier().public


@pytest.mark.parametrize("way", WAYS)
def test_progress_never_goes_back(releases, way):
    messages = []
    ctx = Context(progress=messages.append)
    assert dossier(releases[way], ctx) == releases[way].dossier()
    done = [step.done for step in messages]
    assert done == sorted(done)
    assert len(messages) > 10
    assert {step.stage for step in messages} <= {"proving", "counting", "measuring", "attacking", "working"}


@pytest.mark.parametrize("at", [1, 5, 9, 14])
def test_cancel_is_heard(releases, at):
    steps = []

    def stop(step):
        steps.append(step)
        if len(steps) == at:
            ctx.cancel()

    ctx = Context(progress=stop)
    with pytest.raises(Cancelled):
        dossier(releases["groups"], ctx)
    assert len(steps) <= at + 2


def test_plain_takes_objects_apart():
    assert plain((1, float("inf"), {"a": {3}})) == [1, None, {"a": [3]}]
    assert plain(float("nan")) is None


def test_the_cloud_of_classes_is_that_of_all_their_rows():
    """Each class is placed once and counts as often as it has rows; the axes are those of all rows."""
    rng = np.random.default_rng(3)
    places, often = rng.normal(size=(9, 4)), rng.integers(1, 6, 9)
    rows = np.repeat(places, often, axis=0)
    cloud, whole = planes.cloud(places, often), planes.principal_axes(rows)
    assert cloud.shares == pytest.approx(whole.shares)
    assert sorted(cloud.sizes) == sorted(often.tolist())
    drawn = {(round(a, 6), round(b, 6)): size for (a, b), size in zip(cloud.points, cloud.sizes, strict=True)}
    for place, size in zip(whole.points[np.cumsum(often) - 1], often.tolist(), strict=True):
        assert drawn[round(place[0], 6), round(place[1], 6)] == size
