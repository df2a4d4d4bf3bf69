"""Cohorts: groups that are published repeatedly, safe against an intruder who keeps every release.

``engine``  `advance`: from the last groups and the people present now to the groups of this release
``policy``  the choices: headroom, who may wait, and the fate of people of a dissolved group
``ledger``  `Ledger`: a file of keyed fingerprints and groups; ``people`` makes the fingerprints
``booking``  enter a release in a ledger; ``known``: its people that the ledger already knows
``roster``  the people of a release as its entry lists them; ``notes``, ``figures``: for the data holder
``check``   check all releases together; ``means``: differences of means; ``refusal``: the remedies
``following``  a release of a table with the old groups
``kept``    groups repeat their published values, which ``frozen`` writes and reads
``epsilon``  the privacy cost of private releases for each person, and the budget that limits it
``marks``   whether a person's values have changed; ``cells``: figures over people, such as tail means
``sets``    the number of people who share everything published about a person; `smallest_history`

The promise. A person's *history* is two lists: their groups since the group was last formed, and the releases
that they were in. "In none until now" is a history, too. Nobody joins an existing group. A group with fewer
than k people left is dissolved before anything is published. New groups consist of people who were in the
same releases. So all people of a published group have shared every group since it was formed, and were in the
same releases before; there are at least k of them, all still present.

Why it holds, by induction: a new group has k people with the same history. An existing group only loses
people, so the others continue to share their history. Below k it is dissolved.

Figures over people, such as a centre or a mean weight, are computed when the people are first published.
After that, the published values of their group replace their own: no difference of figures is about fewer
people than a group had when it was formed, including people who left.

The limits. If an intruder recognises the rows of a person in two releases, by values that do not change,
histories do not end with a group: `shared` without ``begun`` counts for that intruder. With the policy
``dissolved="retire"``, nobody below k in that count is published either. If one person alone leaves a group,
the difference of two releases reveals it: no later release can hide that.
"""

from voronym.history.engine import Round, advance
from voronym.history.ledger import Entry, Ledger
from voronym.history.policy import Policy
from voronym.history.sets import shared, smallest_history

__all__ = ["Entry", "Ledger", "Policy", "Round", "advance", "shared", "smallest_history"]
