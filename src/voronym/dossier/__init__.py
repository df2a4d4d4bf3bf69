"""All figures about a release: public ones, and ones for the data holder only.

`dossier` makes a `Dossier` once, under a `Context` that shows progress and can cancel. JSON, the report and
the page read it and compute nothing.

``parts``    the typed parts of a dossier: `Public`, `Inside` and their parts
``make``     `dossier`: the only place that looks into a release and its evidence
``masks``    parts about methods without groups; ``clusters`` are those of `records`
``methods``  the public figures of each method
``counts``   distributions of columns and sizes of groups, as counts
``intruders`` a release as intruders meet it, and the quick attacks on it
``planes``   records and groups in the plane
``places``   records on a map, if two keys are a place
``population`` the risk in the population, before and after, and the contribution of each key
``other_k``  the estimated cost of other k
``rows``     one group with all members, and people before and after; never public
``revealed`` the information of keys about a confidential column, with its limits
"""

from voronym.dossier.inside import inside_of
from voronym.dossier.intruders import quick_exposure, scene_of
from voronym.dossier.make import dossier
from voronym.dossier.parts import Dossier, Inside, Public, ladder_of
from voronym.dossier.public import public_of

__all__ = [
    "Dossier",
    "Inside",
    "Public",
    "dossier",
    "inside_of",
    "ladder_of",
    "public_of",
    "quick_exposure",
    "scene_of",
]
