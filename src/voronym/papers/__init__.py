"""The tables of published papers, beside ours.

`base` has the registry and what a reproduction consists of; each paper has a file of its own: `icsm` is
Mortazavi and Jalili 2015. Published figures are typed in with their place; ours are measured when asked for.
"""

from voronym.papers import icsm  # noqa: F401 - importing registers
from voronym.papers.base import Paper, Table, papers, reproduce

__all__ = ["Paper", "Table", "papers", "reproduce"]
