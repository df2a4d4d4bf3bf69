"""Policies: the demands of a guidance on a release, as a file, checked one by one.

``policy``     `Policy`: a file of demands, read strictly; those that are shipped
``base``       what a demand is, and the registry of demands
``columns``    demands on columns; ``codes`` on codes and rare values
``groups``     demands on groups; ``others`` on attacks, losses and process
``cells``      a published cell by its kind, whichever tool wrote it
``recognise``  what a column holds
``case``       what is judged; ``judge`` judges it; ``checklist`` is what comes of it
``complete``   what a policy demands of a run and nobody chose; ``alternatives`` is what an advice tells
"""

from voronym.policy.base import Demand, Item, demand
from voronym.policy.checklist import Added, Checklist
from voronym.policy.judge import check
from voronym.policy.policy import Policy, shipped

__all__ = ["Added", "Checklist", "Demand", "Item", "Policy", "check", "demand", "shipped"]
