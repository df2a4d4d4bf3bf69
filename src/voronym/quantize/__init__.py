"""Probability-constrained quantization: cells of prescribed sizes, each with one additive cost.

`design` the door: points in, a quantizer out, and the methods "pcl" and "pcl-variable"; `pcl` the alternation
behind it, which tells how it went; `quantizer` centroids and costs, to be applied and saved; `costs` the
solvers that find costs for sizes. `allocate` sends points to fixed places with limited room; `density`
designs for a population, `integrals` for a density of the plane without a sample, `levels` cells within
cells, `measures` for points with weights, two measures, and a price of moving. The method "prepartition" is
in `prepartition`.
"""

from voronym.quantize import costs, prepartition  # noqa: F401 - importing registers
from voronym.quantize.allocate import Allocation, allocate
from voronym.quantize.density import Shares, design_density, shares
from voronym.quantize.design import design
from voronym.quantize.integrals import Masses, design_integral, integrate_cells
from voronym.quantize.levels import LevelQuantizer, design_levels
from voronym.quantize.measures import Measured, design_measures
from voronym.quantize.pcl import Design, pcl
from voronym.quantize.quantizer import Quantizer

__all__ = [
    "Allocation",
    "Design",
    "LevelQuantizer",
    "Masses",
    "Measured",
    "Quantizer",
    "Shares",
    "allocate",
    "costs",
    "design",
    "design_density",
    "design_integral",
    "design_levels",
    "design_measures",
    "integrate_cells",
    "pcl",
    "shares",
]
