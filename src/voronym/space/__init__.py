"""Spaces: a cost between records, and the centroid that minimises it.

``base``         the interface of a space
``euclidean``    the squared distance, and the mean
``mahalanobis``  the same under a matrix
``manhattan``    the sum of absolute differences, and the median
``sphere``       places on the globe, and the direction of their mean
``graph``        vertices with their shortest paths, and the vertex of least cost
``mixed``        records whose columns have their own metrics (``metrics``, ``field``, ``mapping``)
``medoid``       the centre of such records

The cells of a quantizer are convex for the squared Euclidean distance, by proof, and for `Mahalanobis`, which
is the same after a linear map. In the other spaces cells need not be convex.
"""

from voronym.core.registry import Registry
from voronym.space import metrics
from voronym.space.base import Space
from voronym.space.euclidean import Euclidean
from voronym.space.graph import Graph
from voronym.space.mahalanobis import Mahalanobis
from voronym.space.manhattan import Manhattan
from voronym.space.mixed import Mixed
from voronym.space.sphere import Sphere

SPACES: Registry[type[Space]] = Registry("space")
"""Spaces that can be named in a file; ``parameters()`` has the other data needed to rebuild one."""
SPACES.add("euclidean", Euclidean)
SPACES.add("mahalanobis", Mahalanobis)
SPACES.add("manhattan", Manhattan)
SPACES.add("sphere", Sphere)
SPACES.add("graph", Graph)

__all__ = ["SPACES", "Euclidean", "Graph", "Mahalanobis", "Manhattan", "Mixed", "Space", "Sphere", "metrics"]
