"""The clusterer keeps scikit-learn's contract and voronym's."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone, is_clusterer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import voronym as vr
from voronym.partitioners.front import OneGroupWarning
from voronym.problem import Problem
from voronym.sklearn import Microaggregation
from voronym.space import Euclidean, Mixed
from voronym.space.field import Field
from voronym.space.metrics import Absolute, Nominal

EXPECTED = {
    # Fifty points in three blobs: ten groups of five agree with the blobs by 0.3, and the check wants 0.4.
    "check_clustering": "groups of k = 5 are smaller than the three blobs that the check wants to see again"
}


def expected(estimator):
    return EXPECTED if estimator.k < 10 else {}


@pytest.mark.filterwarnings("ignore::voronym.partitioners.front.OneGroupWarning")  # tables of ten records
@parametrize_with_checks([Microaggregation(k=10), Microaggregation()], expected_failed_checks=expected)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def X():  # noqa: N802 - the field's own name
    return np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 10.0, 100.0]


def test_groups_are_those_of_microaggregate(X):
    fitted = Microaggregation(k=4, method="vmdav", options={"gamma": 0.3}).fit(X)
    part = vr.microaggregate(X, 4, method="vmdav", gamma=0.3)
    assert fitted.partition_ == part
    np.testing.assert_array_equal(fitted.labels_, part.labels)
    np.testing.assert_array_equal(fitted.cluster_centers_, part.centroids(X))
    assert fitted.information_loss_ == pytest.approx(vr.information_loss(X, part))
    vr.testing.assert_k_anonymous(fitted.cluster_centers_[fitted.labels_].tolist(), 4)


def test_another_space_has_its_own_centres():
    rng = np.random.default_rng(1)
    levels = [np.arange(9.0), ["a", "b", "c"]]
    codes = np.column_stack([rng.integers(0, len(values), 40) for values in levels])
    fields = [
        Field(("age",), "absolute", Absolute().geometry(levels[0], "age"), codes[:, 0]),
        Field(("kind",), "nominal", Nominal().geometry(levels[1], "kind"), codes[:, 1]),
    ]
    space = Mixed.fit(fields, reference=None)
    fitted = Microaggregation(k=5, method="mdav", space=space).fit(codes)
    problem = Problem.of(codes, 5, space=space)
    assert fitted.information_loss_ == problem.loss(fitted.partition_)
    np.testing.assert_array_equal(fitted.cluster_centers_, problem.centroids(fitted.partition_))
    assert set(map(tuple, fitted.cluster_centers_.tolist())) <= set(map(tuple, codes.tolist()))  # real ones


def test_it_is_the_last_step_of_a_pipeline_with_set_output(X):
    pipe = make_pipeline(StandardScaler(), Microaggregation(k=5, method="mdav"))
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    pipe.set_output(transform="polars")
    labels = pipe.fit_predict(frame)
    np.testing.assert_array_equal(
        labels, vr.microaggregate(StandardScaler().fit_transform(X), 5, method="mdav").labels
    )
    assert list(pipe[-1].feature_names_in_) == ["a", "b", "c"]
    assert pipe[-1].n_features_in_ == 3


def test_nothing_is_offered_that_could_break_k():
    # Nearest centres make groups of any size, one record included: DESIGN says no to both.
    estimator = Microaggregation()
    assert is_clusterer(estimator)
    for name in ("predict", "transform", "fit_transform"):
        assert not hasattr(estimator, name)


def test_random_states(X):
    def labels(state):
        return Microaggregation(k=3, method="anneal", random_state=state).fit_predict(X)

    np.testing.assert_array_equal(labels(1), labels(1))
    np.testing.assert_array_equal(labels(np.random.RandomState(1)), labels(np.random.RandomState(1)))
    np.testing.assert_array_equal(labels(np.random.default_rng(1)), labels(1))
    assert labels(None).shape == (60,)


def test_clone_and_pickle_keep_parameters(X):
    given = Microaggregation(3, "mdav", space=Euclidean(), options={})
    again = clone(given)
    assert again.get_params() | {"space": None} == given.get_params() | {"space": None}
    fitted = pickle.loads(pickle.dumps(given.fit(X)))  # noqa: S301 - made here
    np.testing.assert_array_equal(fitted.labels_, given.labels_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 2.5}, "k must be a whole number"),
        ({"k": True}, "k must be a whole number"),
        ({"k": 1}, "hides nobody"),
        ({"k": 61}, "minimum of 61 is required"),
        ({"method": "magic"}, "no method is called 'magic'"),
        ({"method": "mdav", "options": {"gamma": 1}}, "has no option 'gamma'"),
        ({"method": "mdav", "time_limit": 1}, "no use for a time limit"),
        ({"space": "manhattan"}, "space must be a Space"),
        ({"random_state": "one"}, "seed must be a whole number"),
    ],
)
def test_wrong_parameters_are_refused_in_words(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        Microaggregation(**parameters).fit(X)


def test_fewer_than_two_groups_warn(X):
    with pytest.warns(OneGroupWarning):
        labels = Microaggregation(k=40).fit_predict(X)
    assert not labels.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Microaggregation(k=30).fit(X)
