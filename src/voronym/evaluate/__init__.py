"""The cost of a release, and what it still gives away.

``risk``     exposure counted from the table alone: sizes of classes, uniqueness
``attacks``  what an intruder who holds the originals achieves: record linkage, interval disclosure
``pair``     original and table brought to common types and one encoding
``columns``  change of single columns and of correlations
``pmse``     whether a model can tell original from released records
``utility``  what the data lost: information loss and all of the above
``frontier`` the least risk at a distortion, and where a release is
``tradeoff`` loss against mutual information, with the limits on it
``measure``  everything at once, for any table, ours or not

The last three look at channels, too. A release does without them, so this room does not import them.
"""

from voronym.core.rate import Rate
from voronym.evaluate.attacks import Interval, Linkage, interval_disclosure, record_linkage
from voronym.evaluate.risk import Risk, risk
from voronym.evaluate.utility import Utility, utility

__all__ = [
    "Interval",
    "Linkage",
    "Rate",
    "Risk",
    "Utility",
    "interval_disclosure",
    "record_linkage",
    "risk",
    "utility",
]
