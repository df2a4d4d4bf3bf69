"""Microaggregation as a scikit-learn clusterer; needs the extra ``sklearn``.

It has no ``transform`` and no ``predict``. scikit-learn demands that ``fit(X).transform(X)`` equals
``fit_transform(X)``, so both would assign each record to its nearest centre. Groups of nearest records can
have a single member, but every group must have k. To publish, use ``cluster_centers_[labels_]``, for the
fitted records only.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from voronym.errors import InputError, MissingExtraError
from voronym.partitioners import microaggregate
from voronym.problem import Problem
from voronym.space import Space

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.utils.validation import validate_data
except ImportError:
    raise MissingExtraError(
        "voronym.sklearn needs scikit-learn 1.6 or later: pip install 'voronym[sklearn]'"
    ) from None

__all__ = ["Microaggregation"]


class Microaggregation(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Group records into groups of at least k that lose as little as possible by publishing their centres.

    Columns are used unscaled. Put a ``StandardScaler`` before it, so that all columns count alike.

    Parameters
    ----------
    k : int, default=5
        Least number of records in a group.
    method : str, default="auto"
        A name from `voronym.algorithms`.
    space : Space, optional
        The cost between records and its centre, see `voronym.space`; Euclidean by default.
    time_limit : float, optional
        Seconds, for methods that search.
    random_state : int, RandomState, Generator or None, default=0
        Seed of random methods. The same int gives the same groups; None gives new ones.
    options : mapping, optional
        Options of the method, such as ``{"gamma": 0.2}`` for "vmdav".

    Attributes
    ----------
    labels_ : array of int, shape (n_samples,)
        The group of each record, 0, 1, 2, ...; every group has at least k.
    cluster_centers_ : array, shape (n_groups, n_features)
        The published centre of each group: its mean, or the centroid of the space.
    partition_ : Partition
        The groups as voronym sees them.
    information_loss_ : float
        Loss by publishing the centres, in percent.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of str
        Names of the columns, if X has some.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from voronym.sklearn import Microaggregation
    >>> people = np.array([[30, 1.0], [31, 1.1], [32, 0.9], [60, 5.0], [61, 5.1], [62, 5.2]])
    >>> make_pipeline(StandardScaler(), Microaggregation(k=3)).fit_predict(people).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(
        self,
        k: int = 5,
        method: str = "auto",
        *,
        space: Space | None = None,
        time_limit: float | None = None,
        random_state: Any = 0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.k = k
        self.method = method
        self.space = space
        self.time_limit = time_limit
        self.random_state = random_state
        self.options = options

    def fit(self, X: Any, y: Any = None) -> Microaggregation:  # noqa: ARG002 - pipelines pass one
        """Divide the records into groups.

        Parameters
        ----------
        X : array or dataframe of numbers, shape (n_samples, n_features)
            The records; 2k or more, or else all of them become one group, with a warning.
        y : None
            Ignored.

        Returns
        -------
        Microaggregation
            Itself, fitted.
        """
        if isinstance(self.k, bool) or not isinstance(self.k, Integral):
            raise InputError(f"k must be a whole number, not {self.k!r}")
        points = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=max(2, int(self.k)))
        part = microaggregate(
            points,
            int(self.k),
            method=self.method,
            space=self.space,
            time_limit=self.time_limit,
            seed=_seed(self.random_state),
            **(self.options or {}),
        )
        problem = Problem.of(points, int(self.k), space=self.space)
        self.partition_ = part
        self.labels_ = part.labels.copy()  # a partition's own labels cannot be written to
        self.cluster_centers_ = problem.centroids(part)
        self.information_loss_ = problem.loss(part)
        return self


def _seed(random_state: Any) -> int | np.random.Generator | None:
    """Return voronym's seed; a ``RandomState`` gives its next number."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    return random_state  # type: ignore[no-any-return]
