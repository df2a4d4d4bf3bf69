"""The loss and the risk of a release.

``risk``     exposure counted from the table alone: sizes of classes, uniqueness
``attacks``  success of an intruder who holds the originals by record linkage; ``interval``: by close values
``pair``     make original and released table comparable: common types, one encoding
``columns``  change of single columns and of correlations
``pmse``     how well a model tells original from released records
``utility``  all losses: information loss and the measures above
``frontier`` the least risk at each distortion, and the place of a release
``tradeoff`` loss against mutual information, with the limits on it
``measure``  all measures at once, for any table, also of other tools

The last three use channels. A release does not need them, so this package does not import them.
"""

from voronym.core.rate import Rate
from voronym.evaluate.attacks import Linkage, record_linkage
from voronym.evaluate.interval import Interval, interval_disclosure
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
