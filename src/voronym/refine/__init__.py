"""A partition in, a better partition out.

`front` has the door, `refine`; `registry` the decorator; each refiner has a file of its own.
"""

from voronym.refine.front import refine

__all__ = ["refine"]
