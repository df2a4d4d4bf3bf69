"""The release: a masked table that keeps its promise.

``release``   `Release`: built when every model holds; writes itself and tells about itself
``figures``   the table and the figures about it, most of them computed on first use
``write``     the file, in which everything is counted again before it gets its name
``evidence``  what the data holder knows and the public does not
"""

from voronym.release.release import Release

__all__ = ["Release"]
