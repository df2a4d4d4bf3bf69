"""Probability-constrained quantization: cells of prescribed sizes, each with one additive cost.

``design``        the entry point: from points to a quantizer; the methods "pcl" and "pcl-variable"
``pcl``           the alternation of centroids and assignments behind it
``quantizer``     centroids and costs, to apply and save
``costs``         solvers that find costs for given sizes
``allocate``      send points to fixed places with limited capacity
``density``       quantizers for a population; ``integrals``: for a density of the plane, without a sample
``levels``        cells within cells
``measures``      points with weights, two measures, and a price of moving
``prepartition``  the method "prepartition"
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
