"""Cohorts: groups that are published again and again, and what an intruder who keeps every release learns.

``engine``  `advance`: from the last groups and the people present now to the groups of this release
``policy``  what may be chosen: headroom, who may wait, what becomes of the people of a dissolved group
``ledger``  `Ledger`: a file of keyed fingerprints and groups; ``people`` makes the fingerprints
``booking``  a release on its way into a ledger; ``known``: whom of its people the ledger knows
``roster``  everybody of a release as its entry has them; ``notes``, ``figures``: for the data holder
``check``   looks at all releases together; ``means``: differences of means; ``refusal``: the ways out
``following``  a table's release on the old groups
``kept``    groups publish what they published before, which ``frozen`` writes and reads
``epsilon``  what private releases cost their people, and the budget that limits it
``marks``   whether what a person has changed; ``cells``: figures of columns over people, such as tail means
``sets``    how many people share all that was published about a person; `smallest_history`

The promise. A *history* is the list of groups that a person was in since their group was last formed, and the
list of releases that they were in: "in none until now" is a history. Nobody joins a group that lives; one
with fewer than k people left is dissolved before anything is published. New groups are formed of people who
were in the same releases. So all people of a group that is published have shared every group since it was
formed, and were in the same releases before; they are k or more, all of them still there.

Why it holds, by induction: a group that was just formed has k people with one and the same history. A group
that lives only loses people, so the others go on to share all that they shared. Below k it is dissolved.

What is computed over people, such as a centre or a mean weight, is computed when they are first published.
After that, the published values of their group replace their own: no difference of figures is about fewer
people than a group had when it was formed, including people who left.

The limits. If an intruder recognises the rows of a person in two releases, by values that do not change,
histories do not end with a group: `shared` without ``begun`` counts for that intruder. With the policy
``dissolved="retire"`` nobody below k is published in that count either. The difference of two releases
reveals a person who leaves a group alone: no later release can hide that.
"""

from voronym.history.engine import Round, advance
from voronym.history.ledger import Entry, Ledger
from voronym.history.policy import Policy
from voronym.history.sets import shared, smallest_history

__all__ = ["Entry", "Ledger", "Policy", "Round", "advance", "shared", "smallest_history"]
