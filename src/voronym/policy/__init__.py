"""Policies: the demands of a guidance on a release, as a file, checked one by one.

``policy``     `Policy`: a file of demands, read strictly; the included policies
``base``       the interface of a demand, and the registry of demands
``columns``    demands on columns; ``codes``: on codes and rare values
``groups``     demands on groups; ``others``: on attacks, losses and process
``cells``      a published cell by its kind, from any tool
``recognise``  the content of a column, such as names or postcodes
``case``       the release and facts to judge; ``judge`` judges them; ``checklist`` is the result
``complete``   the choices that a policy adds to a run; ``alternatives``: releases by `advise`
"""

from voronym.policy.base import Demand, Item, demand
from voronym.policy.checklist import Added, Checklist
from voronym.policy.judge import check
from voronym.policy.policy import Policy, shipped

__all__ = ["Added", "Checklist", "Demand", "Item", "Policy", "check", "demand", "shipped"]
