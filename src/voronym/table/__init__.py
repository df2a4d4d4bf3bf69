"""Tables at the border: their content, their encoding as points, their input and output.

`table` a frame with its schema, conformed and factorised once (`values` its columns); `frame` any eager data
frame, and what its columns hold; `classes` records that share all their keys; `schema` roles and kinds, by
`kinds` and `infer`; `codec` keys to points and back (`encoders`, `build`); `read` files and queries by
`formats` (`delimited`, `columnar`, `statistical` with `codebook`, `sql`); texts by `spelling` (`numerals`,
`moments`), in a `dialect`, with what the `source` said beside values, and back to text by `typeset`;
`conform` texts meant as numbers; `clean` and `rebuild` what must not travel;
`write` a release to a file, verified by `check`, which imports nothing of the library.
"""

from voronym.table.clean import tidy
from voronym.table.codebook import Labels, labels_of
from voronym.table.codec import Block, Codec
from voronym.table.conform import check_kinds, conform
from voronym.table.dialect import Dialect, Reading
from voronym.table.frame import as_frame
from voronym.table.proposal import Proposal
from voronym.table.read import load, read
from voronym.table.schema import Column, Kind, Role, Schema
from voronym.table.source import Source, source_of
from voronym.table.table import Table
from voronym.table.values import Columns, Values
from voronym.table.write import WriteReceipt, write

__all__ = [
    "Block",
    "Codec",
    "Column",
    "Columns",
    "Dialect",
    "Kind",
    "Labels",
    "Proposal",
    "Reading",
    "Role",
    "Schema",
    "Source",
    "Table",
    "Values",
    "WriteReceipt",
    "as_frame",
    "check_kinds",
    "conform",
    "labels_of",
    "load",
    "read",
    "source_of",
    "tidy",
    "write",
]
