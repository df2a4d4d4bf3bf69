"""All figures about a release: those for everybody, and those for the data holder only.

A `Dossier` is made once, by `dossier`, under a `Context`: with progress, and it ends when somebody cancels.
JSON, the report and the page read it and compute nothing.

``parts``    what a dossier is made of: `Public`, `Inside` and their parts, typed
``make``     `dossier`: the one place that looks into a release and its evidence
``masks``    parts about methods that make no groups; ``clusters`` takes those of `records`
``methods``  what of a method's figures is public, chosen one by one
``counts``   distributions of columns and sizes of groups, as counts
``intruders`` a release as intruders meet it, and the quick attacks on it
``planes``   records and groups in the plane
``places``   records on a map, where two keys are a place
``population`` the risk in the population, before and after, and what each key contributes
``other_k``  what other sizes of groups would cost, estimated
``rows``     one group unfolded, and people before and after; never public
``revealed`` what the keys reveal about a confidential column, with its limits
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
