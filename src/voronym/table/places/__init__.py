"""Sources and targets of tables other than files: stores, databases, Delta and Iceberg tables."""

from voronym.table.places.base import MARK, PLACES, Load, Place, Sink, place_of, shown
from voronym.table.places.delta import DeltaTables
from voronym.table.places.duck import DuckFile
from voronym.table.places.iceberg import IcebergTables
from voronym.table.places.postgresql import Server
from voronym.table.places.store import Store

for _place in (DeltaTables(), DuckFile(), IcebergTables(), Server(), Store()):
    PLACES.add(_place.name, _place)

__all__ = ["MARK", "PLACES", "Load", "Place", "Sink", "place_of", "shown"]
