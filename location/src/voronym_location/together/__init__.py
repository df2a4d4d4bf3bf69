"""Cells designed by devices and two servers; neither server sees a home.

``sharing``    numbers split in two, their sums, and proofs that a message counts as one device
``designing``  probability-constrained Lloyd from counts and sums per cell

Each device splits its message into two halves, each random by itself. Each server adds up one half of all
messages; together, the two sums are the counts and sums of each cell. The servers must not exchange more than
the protocol prescribes. The page on designs without a trusted party states the guarantees and their limits.
"""

from voronym_location.together.designing import Cells, design
from voronym_location.together.sharing import Lie, Plain, TwoServers

__all__ = ["Cells", "Lie", "Plain", "TwoServers", "design"]
