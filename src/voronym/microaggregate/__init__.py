"""Classical partitioners, one file each, behind one door.

`front` has the door, `microaggregate`; `mdav` maximum distance to average; `md` maximum distance; `vmdav`
variable-size MDAV; `univariate` the optimum of a single column; `auto` the choice among them.
"""

from voronym.microaggregate import auto, dba, gsms, md, mdav, mhm, mst, mu_approx, tfrp, univariate, vmdav  # noqa: F401
from voronym.microaggregate.front import microaggregate
from voronym.microaggregate.loss import information_loss, standardize

__all__ = ["information_loss", "microaggregate", "standardize"]
