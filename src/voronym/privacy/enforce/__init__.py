"""Make a partition obey privacy models at the least loss.

``front``   the entry point, `enforce`, and its result, `Enforced`
``merge``   merge cells until every judge accepts them, the cheapest merge first
``swap``    repair cells by exchanges with near cells; `polish`, the last step of every method but merging
``first``   confidential-first: spread the sorted confidential values over the cells, then use the keys
``blind``   groups and their partners by keys alone, against an intruder who knows the method
``chance``  merging and swapping with random draws that no recipe holds, so their cause stays unclear
``search``  the local search behind ``swap`` and ``first``; ``split`` halves cells if both halves are accepted
``rules``   judges in the form that kernels use

Every judge can be enforced. The kernels know those in `rules.KINDS`, and measure cells that records would
leave or join. All others are enforced by merging, and by exchanges of records with equal confidential values.
"""

from voronym.privacy.enforce.front import WARY, WAYS, Enforced, choose, enforce
from voronym.privacy.enforce.rules import refuse_impossible

__all__ = ["WARY", "WAYS", "Enforced", "choose", "enforce", "refuse_impossible"]
