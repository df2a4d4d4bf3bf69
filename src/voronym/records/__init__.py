"""Mixed records in metric spaces: push outliers back into the crowd, then flatten or shuffle.

``front``     the entry point; ``options`` has its options, ``figures`` the reported figures
``fields``    the columns of a table with their metrics (`voronym.space.metrics`)
``cluster``   makes groups within epsilon in every column; ``blocks``: for large tables
``pushback``  moves isolated records into larger clusters; ``noise`` draws values
``stir``      flattens and shuffles under a bound, by ``divergence``
``attack``    links records

Equations are numbered as in the paper on data anonymization from a vector quantization point of view, which
speaks of "pushing back outliers in the crowd". It left the algorithms open.
"""

from voronym.generalize.hierarchy import Hierarchy
from voronym.records.attack import linkage
from voronym.records.cluster import Clusters, clusters
from voronym.records.fields import DEFAULTS, make_fields
from voronym.records.front import Stirred, anonymize_records
from voronym.records.options import RecordsOptions
from voronym.records.pushback import Blended, blend
from voronym.records.stir import Shuffled, flatten, shuffle
from voronym.space.field import Field
from voronym.space.mapping import DistanceMap, Spread
from voronym.space.metrics import (
    Absolute,
    Circular,
    Edit,
    Elapsed,
    Function,
    Geographic,
    Matrix,
    Metric,
    Nominal,
    Overlap,
    Rank,
    Taxonomy,
    metric,
    metrics,
)
from voronym.space.mixed import Mixed

__all__ = [
    "DEFAULTS",
    "Absolute",
    "Blended",
    "Circular",
    "Clusters",
    "DistanceMap",
    "Edit",
    "Elapsed",
    "Field",
    "Function",
    "Geographic",
    "Hierarchy",
    "Matrix",
    "Metric",
    "Mixed",
    "Nominal",
    "Overlap",
    "Rank",
    "RecordsOptions",
    "Shuffled",
    "Spread",
    "Stirred",
    "Taxonomy",
    "anonymize_records",
    "blend",
    "clusters",
    "flatten",
    "linkage",
    "make_fields",
    "metric",
    "metrics",
    "shuffle",
]
