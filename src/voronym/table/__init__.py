"""Tables: their content, their encoding as points, their input and output.

``table``    a frame with its schema, converted and factorised once; ``values`` has its columns
``frame``    any eager data frame, and the content of its columns
``classes``  records that share all their keys
``schema``   roles and kinds, by ``kinds`` and ``infer``
``codec``    keys to points and back, by ``encoders`` and ``build``
``read``     files and queries by ``formats``: ``delimited``, ``columnar``, ``statistical`` with
             ``codebook``, ``sql``
``spelling``  texts as numbers, dates and gaps, by ``numerals`` and ``moments``, in a ``dialect``; ``conform``
             finds texts that should be numbers
``source``   facts about a file beyond its values; ``typeset`` writes them back as text
``clean``    removes private remains from a release, with ``rebuild``
``write``    a release to a file, verified by ``check``, which imports nothing of voronym
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
