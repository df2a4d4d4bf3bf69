"""Refiners: searches that improve a partition.

``front``     `refine`, the entry point
``registry``  the decorator that registers a refiner
``icsm``      iterative constraint satisfaction
``exchange``  local search with candidate lists
``tour``      the best cuts of a tour
``anneal``    random moves that may increase the loss; ``chain`` is one run, ``schedule`` its temperatures,
              ``blocks`` cuts large tables
``work``      shared code
"""

from voronym.refiners import anneal, exchange, icsm, pairs  # noqa: F401 - importing registers
from voronym.refiners.front import refine

__all__ = ["refine"]
