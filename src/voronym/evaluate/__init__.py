"""What a release costs and what it still gives away.

``risk``     exposure counted from the table alone: sizes of classes, uniqueness
``attacks``  what an attacker who holds the originals achieves: record linkage, interval disclosure
``utility``  what the data lost: information loss, change per column, correlations
``pmse``     whether a model can tell original from released records
``measure``  all of it for any table, ours or not
"""

from voronym.evaluate.risk import Risk, risk

__all__ = ["Risk", "risk"]
