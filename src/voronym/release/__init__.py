"""The release: a masked table that keeps its promise.

``release``   `Release`: built when every model holds; it writes and describes itself
``figures``   the table and its figures, most of them computed on first use
``proof``     the time of the proof, and when it ends
``write``     write the file, and count everything in it again before it gets its name
``evidence``  figures for the data holder, never public
"""

from voronym.release.release import Release

__all__ = ["Release"]
