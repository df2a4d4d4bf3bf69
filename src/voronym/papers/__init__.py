"""The tables and figures of published papers, beside ours.

`base` has the registry, `items` what a reproduction consists of; each paper has a room of its own: `icsm` is
Mortazavi and Jalili 2015, `pcl` is Rebollo-Monedero and others 2011 and 2013, `t_closeness` is
Rebollo-Monedero and others 2010. Published figures are typed in with their place; ours are measured when
asked for.
"""

from voronym.papers import icsm, pcl, t_closeness  # noqa: F401 - importing registers
from voronym.papers.base import PAPERS, Paper, reproduce
from voronym.papers.items import Chart, Curve, Highlight, Item, Panel, Picture, Table

__all__ = ["PAPERS", "Chart", "Curve", "Highlight", "Item", "Panel", "Paper", "Picture", "Table", "reproduce"]
