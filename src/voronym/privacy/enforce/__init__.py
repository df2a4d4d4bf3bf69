"""Make a partition obey privacy models at the least loss.

``front``   the door, `enforce`, and what it gives back, `Enforced`
``merge``   merge cells until every judge accepts them, the cheapest merge first
``swap``    repair cells by exchanges with near cells; `polish`, which every method but merging ends with
``first``   confidential-first: spread the sorted confidential values over the cells, then look at the keys
``blind``   groups and their partners by keys alone, against an intruder who knows the method
``chance``  merging and swapping with draws that no recipe holds, which blur what made them act
``search``  the local search behind the last two; ``split`` halves cells where both halves are accepted
``rules``   judges as the kernels see them

Any judge can be obeyed. Those in `rules.KINDS` are known to the kernels, which measure a cell that records
would leave or join; others are obeyed by merging and by exchanges of records with equal confidential values.
"""

from voronym.privacy.enforce.front import WARY, WAYS, Enforced, choose, enforce
from voronym.privacy.enforce.rules import refuse_impossible

__all__ = ["WARY", "WAYS", "Enforced", "choose", "enforce", "refuse_impossible"]
