"""voronym publishes tables about people without exposing them.

A release is a partition, a centroid per cell, and a proof that every cell has k.
"""

from typing import TYPE_CHECKING, Any

from voronym.core import startup  # before the rest: Ctrl-C is answered while that is imported

if TYPE_CHECKING or not startup.LATER:
    from voronym._public import *  # noqa: F403
    from voronym._public import __all__ as __all__
    from voronym._public import __version__ as __version__
else:

    def __getattr__(name: str) -> Any:
        """Load the rest when a name of it is asked for: help pages and mistakes are answered without it."""
        if name.startswith("_") and name not in ("__all__", "__version__"):
            raise AttributeError(f"module 'voronym' has no attribute {name!r}")
        from voronym import _public

        return getattr(_public, name)
