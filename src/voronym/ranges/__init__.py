"""What a group publishes when it is a range: "30–39", "080**", "Undergraduate", instead of a centre.

``atoms``    what the ends of ranges may be, so that no end is the value of fewer than k people
``columns``  a key as a line, a tree or a set; the range of a group in it, its text and its penalty
``publish``  from groups to the table of what they publish
``keys``     the space of keys "ranges", in which searches keep the penalty low
"""

from voronym.ranges.columns import RangeColumn, range_columns
from voronym.ranges.publish import PUBLISH, published_ranges

__all__ = ["PUBLISH", "RangeColumn", "published_ranges", "range_columns"]
