"""Classical partitioners, one file each, behind one door.

`front` has the door, `microaggregate`; `mdav` maximum distance to average; `md` maximum distance; `vmdav`
variable-size MDAV; `tfrp` two fixed reference points; `mst` the minimum spanning tree; `mu_approx` a forest,
with a proven factor; `dba` by density; `gsms` by what is left; `mhm` and `fdm` the best cut of a path;
`univariate` the optimum of a single column.

Shared: `_order` paths and their cuts; `_near` the nearest of every record;
`_cells` what is done to cells once they are made.
"""

from voronym.partitioners import (  # noqa: F401 - importing registers
    dba,
    gsms,
    md,
    mdav,
    mhm,
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
