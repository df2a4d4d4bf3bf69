"""Classical partitioners, one file each, behind one entry point.

``front``       `microaggregate`, the entry point
``mdav``        maximum distance to average; ``vmdav``: with variable sizes
``md``          maximum distance
``tfrp``        two fixed reference points
``mst``         the minimum spanning tree
``mu_approx``   a forest, with a proven factor
``dba``         groups by density
``gsms``        successive selection of groups
``mhm``         the best cut of a path; ``fdm``: one tour, cut for every k
``univariate``  the optimum of a single column

Shared code: ``_classic`` has the promise about sizes, ``_order`` paths and their cuts, ``_near`` the nearest
records of every record, ``_cells`` operations on finished groups.

Examples
--------
If groups are obvious, all methods find the same ones:

>>> import voronym as vr
>>> X = [[0.0], [0.1], [5.0], [5.1], [5.2], [9.0], [9.2]]
>>> for name in ("dba-1", "fdm", "gsms", "md", "mdav-mhm", "mst", "mu-approx", "npn-mhm", "tfrp-1"):
...     print(f"{name:9}", vr.microaggregate(X, 2, method=name).labels.tolist())
dba-1     [0, 0, 1, 1, 1, 2, 2]
fdm       [0, 0, 1, 1, 1, 2, 2]
gsms      [0, 0, 1, 1, 1, 2, 2]
md        [0, 0, 1, 1, 1, 2, 2]
mdav-mhm  [0, 0, 1, 1, 1, 2, 2]
mst       [0, 0, 1, 1, 1, 2, 2]
mu-approx [0, 0, 1, 1, 1, 2, 2]
npn-mhm   [0, 0, 1, 1, 1, 2, 2]
tfrp-1    [0, 0, 1, 1, 1, 2, 2]
"""

from voronym.partitioners import (  # noqa: F401 - importing registers
    cuts,
    dba,
    gsms,
    kd,
    md,
    mdav,
    mhm,
    mondrian,
    mst,
    mu_approx,
    tfrp,
    univariate,
    vmdav,
)
from voronym.partitioners.fdm import fdm_partitions
from voronym.partitioners.front import microaggregate
from voronym.partitioners.loss import information_loss, standardize

__all__ = ["fdm_partitions", "information_loss", "microaggregate", "standardize"]
