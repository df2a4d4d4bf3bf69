"""voronym publishes tables about people without exposing them.

A release is a partition, a centroid per cell, and a proof that every cell has k.
"""

from importlib.metadata import version as _version

from voronym import channel, datasets, quantize, records
from voronym.certify import lower_bound
from voronym.comparison import compare
from voronym.errors import (
    GuaranteeError,
    InputError,
    MissingExtraError,
    ReadError,
    SchemaError,
    VoronymError,
    WriteError,
)
from voronym.evaluate.measure import measure
from voronym.partition import Partition
from voronym.partitioners import information_loss, microaggregate, standardize
from voronym.pipeline import anonymize
from voronym.privacy import (
    DeltaDisclosure,
    Finding,
    KAnonymity,
    LDiversity,
    MutualInformation,
    PSensitive,
    TCloseness,
    parse_model,
)
from voronym.quantize.quantizer import Quantizer
from voronym.recipe import Recipe
from voronym.refiners import refine
from voronym.registry import algorithm, algorithms
from voronym.release import Release
from voronym.table.read import read
from voronym.table.schema import Schema

__version__ = _version("voronym")

__all__ = [
    "DeltaDisclosure",
    "Finding",
    "GuaranteeError",
    "InputError",
    "KAnonymity",
    "LDiversity",
    "MissingExtraError",
    "MutualInformation",
    "PSensitive",
    "Partition",
    "Quantizer",
    "ReadError",
    "Recipe",
    "Release",
    "Schema",
    "SchemaError",
    "TCloseness",
    "VoronymError",
    "WriteError",
    "algorithm",
    "algorithms",
    "anonymize",
    "channel",
    "compare",
    "datasets",
    "information_loss",
    "lower_bound",
    "measure",
    "microaggregate",
    "parse_model",
    "quantize",
    "read",
    "records",
    "refine",
    "standardize",
]
