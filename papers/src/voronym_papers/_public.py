"""The public names of voronym-papers; importing them loads every paper and fills the registry."""

from voronym_papers import crowd, icsm, pcl, t_closeness  # noqa: F401 - importing registers
from voronym_papers.base import PAPERS, Exhibit, Experiment, Outcome, Paper, reproduce
from voronym_papers.icsm import readings  # noqa: F401 - registers, too
from voronym_papers.items import Chart, Curve, Highlight, Item, Panel, Picture, Table
from voronym_papers.marks import Mark

__all__ = [
    "PAPERS", "Chart", "Curve", "Exhibit", "Experiment", "Highlight", "Item", "Mark", "Outcome", "Panel",
    "Paper", "Picture", "Table", "reproduce",
]  # fmt: skip
