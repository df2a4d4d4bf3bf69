"""One encoder per kind of key: a column to coordinates, and a centroid back to a value of the column.

``numeric`` encodes numbers and times, ``levels`` ordinal and nominal columns, ``location`` places.

Every encoder gives its column a total variance of about 1, so that no key outweighs another because of its
unit or its number of categories. The variance is lower if nearly all records have the same category.

A missing value has the coordinate 0, the mean of the others, and a second coordinate that marks it as missing
(`base.Absence`), two standard deviations away, however rare it is. In a nominal column, missing is one more
category.
"""

from voronym.table.encoders.base import Absence, Encoder
from voronym.table.encoders.levels import Nominal, Ordinal
from voronym.table.encoders.location import Location
from voronym.table.encoders.numeric import Numeric

__all__ = ["Absence", "Encoder", "Location", "Nominal", "Numeric", "Ordinal"]
