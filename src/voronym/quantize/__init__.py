"""Probability-constrained quantization: cells of prescribed sizes, each with one additive cost.

`design` the door: points in, a quantizer out, and the methods "pcl" and "pcl-variable"; `pcl` the alternation behind it,
which tells how it went; `quantizer` centroids and costs, to be applied and saved; `costs` the solvers that find costs
for sizes.
"""

from voronym.quantize import costs
from voronym.quantize.design import design
from voronym.quantize.pcl import Design, pcl
from voronym.quantize.quantizer import Quantizer

__all__ = ["Design", "Quantizer", "costs", "design", "pcl"]
