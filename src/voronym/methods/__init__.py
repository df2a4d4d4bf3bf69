"""The choice among methods, and the way from groups to a masked table.

`auto` chooses a method by size and time. `grouped` publishes the centres of groups made by any method.
`voronym.method` has the registry of methods. A request for an unknown method loads all packages
(`voronym._public`); a release by groups does not need them.
"""

from voronym import partitioners, refiners  # noqa: F401 - importing registers
from voronym.methods import auto, blocks  # noqa: F401
