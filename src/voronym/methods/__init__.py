"""The choice among methods, and the way from groups to a masked table.

`auto` chooses a method by size and time; `grouped` publishes the centres of groups, whatever method made
them. The registry itself, which every method joins by a decorator, is `voronym.method`; asked for a method
of another room it loads all of them (`voronym._public`), and a release by groups does not wait for these.
"""

from voronym import partitioners, refiners  # noqa: F401 - importing registers
from voronym.methods import auto, blocks  # noqa: F401
