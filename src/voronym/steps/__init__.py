"""Steps: changes to columns one by one, before groups are made or after.

``base``      `ColumnStep`, the registry `STEPS`, and `run`, which does a list of steps
``numbers``   columns as numbers and back, in their own resolution
``effect``    the change by a step and its benefit: `Effect`; unique records: `Exposed`
``limits``    ``top``, ``bottom``
``rounding``  ``round``
``recode``    ``recode``: a level of a hierarchy, leading characters, some values as one, ranges
``suppress``  ``suppress``: values that become missing
``noise``     ``noise``
``swap``      ``rank-swap``, ``record-swap``
``shuffle``   ``shuffle``
``pram``      ``pram``
``means``     ``microaggregate``

A new step is one dataclass under ``@step("its-name", ...)``. From then on recipes, the command line and the
contract tests know it. Steps that draw at random draw new numbers in every run: recipes are passed on, and
anybody who could repeat the draw could remove the noise.
"""

from voronym.steps.base import STEPS, ColumnStep, parse_step, run, step
from voronym.steps.effect import Effect, Exposed
from voronym.steps.limits import Bottom, Top
from voronym.steps.means import Microaggregate
from voronym.steps.noise import Noise
from voronym.steps.pram import Pram
from voronym.steps.recode import Recode
from voronym.steps.rounding import Round
from voronym.steps.shuffle import Shuffle
from voronym.steps.suppress import Suppress
from voronym.steps.swap import RankSwap, RecordSwap

__all__ = [
    "STEPS",
    "Bottom",
    "ColumnStep",
    "Effect",
    "Exposed",
    "Microaggregate",
    "Noise",
    "Pram",
    "RankSwap",
    "Recode",
    "RecordSwap",
    "Round",
    "Shuffle",
    "Suppress",
    "Top",
    "parse_step",
    "run",
    "step",
]
