"""The choice among methods, and the way from groups to a masked table.

`auto` chooses a method by size and time; `grouped` publishes the centres of groups, whatever method made
them. The registry itself, which every method joins by a decorator, is `voronym.method`.
"""

from voronym import channel, partitioners, quantize, records, refiners  # noqa: F401 - importing registers
from voronym.generalize import keys  # noqa: F401
from voronym.methods import auto, blocks, lattice, local_suppression  # noqa: F401
from voronym.records import cells  # noqa: F401
