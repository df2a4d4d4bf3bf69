"""One encoder per kind of key: a column to coordinates, and a centroid back to a value of the column.

Every encoder gives its column a total variance of about 1, so that no key outweighs another because of its
unit or its number of categories; it is less where nearly all have the same category. `numeric` numbers and
times; `levels` ordinal and nominal; `location`.

Missing values: the coordinate is 0, the mean of the others, and one more coordinate says that it is
missing (`base.Absence`), two standard deviations away however rare that is. A nominal column takes missing
as one more category.
"""

from voronym.table.encoders.base import Absence, Encoder
from voronym.table.encoders.levels import Nominal, Ordinal
from voronym.table.encoders.location import Location
from voronym.table.encoders.numeric import Numeric

__all__ = ["Absence", "Encoder", "Location", "Nominal", "Numeric", "Ordinal"]
