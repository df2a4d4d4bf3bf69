"""The tables and figures of published papers, beside ours.

``base``       the registry: papers, their exhibits, experiments; how to write an entry
``marks``      a published figure, ours, and the verdict
``items``      what else an experiment yields: tables, charts, pictures
``stored``     full and quick results that were kept, in ``results/``
``overview``   published, full and quick side by side; the documentation's table

Each paper has a room of its own: `icsm` is Mortazavi and Jalili 2015, `pcl` is Rebollo-Monedero and others
2011 and 2013, `t_closeness` is Rebollo-Monedero and others 2010, `crowd` the paper on mixed records.
Published figures are typed in with their place; ours are measured when asked for.
"""

from voronym.papers import crowd, icsm, pcl, t_closeness  # noqa: F401 - importing registers
from voronym.papers.base import PAPERS, Exhibit, Experiment, Outcome, Paper, reproduce
from voronym.papers.items import Chart, Curve, Highlight, Item, Panel, Picture, Table
from voronym.papers.marks import Mark

__all__ = [
    "PAPERS", "Chart", "Curve", "Exhibit", "Experiment", "Highlight", "Item", "Mark", "Outcome", "Panel",
    "Paper", "Picture", "Table", "reproduce",
]  # fmt: skip
