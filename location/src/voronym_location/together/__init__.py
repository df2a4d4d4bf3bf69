"""Cells designed by devices and two servers, none of which sees a home.

``sharing``    numbers split in two, sums of them, and proofs that a message is one device's and no more
``designing``  probability-constrained Lloyd from counts and sums per cell alone

Each device splits its message into two halves that are random by themselves. The servers, which must not tell
each other more than the protocol does, add up the halves of all devices; the two sums together are the counts
and sums of each cell. See the page on designs without a trusted party for what holds and what does not.
"""

from voronym_location.together.designing import Cells, design
from voronym_location.together.sharing import Lie, Plain, TwoServers

__all__ = ["Cells", "Lie", "Plain", "TwoServers", "design"]
