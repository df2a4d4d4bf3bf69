"""The public names of voronym; importing them loads every package and fills the registries."""

from importlib.metadata import version as _version

from voronym import (
    attacks,
    channel,
    datasets,
    history,
    plugins,
    quantize,
    records,
    space,
    steps,
    testing,
)
from voronym.certify import Bound, lower_bound
from voronym.comparison import compare
from voronym.core import plugin as _plugin
from voronym.core.context import Context, FinishEarly, Progress
from voronym.errors import (
    Cancelled,
    GuaranteeError,
    InputError,
    MissingExtraError,
    ReadError,
    SchemaError,
    Unfinished,
    VoronymError,
    WriteError,
)
from voronym.evaluate import Rate, Risk, Utility
from voronym.evaluate.by_record import risk_by_record
from voronym.evaluate.comparison import Comparison
from voronym.evaluate.frontier import Frontier, frontier
from voronym.evaluate.measurement import Measurement
from voronym.evaluate.population import PopulationRisk, Suda, population_risk, suda
from voronym.evaluate.tradeoff import Plane
from voronym.generalize import keys as _keys  # noqa: F401 - importing registers
from voronym.generalize.hierarchy import Hierarchy
from voronym.intruder import attack
from voronym.method import Method, algorithm, algorithms
from voronym.methods import lattice as _lattice  # noqa: F401
from voronym.methods import local_suppression as _local_suppression  # noqa: F401
from voronym.partition import Partition
from voronym.partitioners import information_loss, microaggregate, standardize
from voronym.privacy import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DifferentialPrivacy,
    Finding,
    KAnonymity,
    KMap,
    LDiversity,
    MutualInformation,
    PSensitive,
    TCloseness,
    parse_model,
)
from voronym.problem import Problem
from voronym.quantize.quantizer import Quantizer
from voronym.records import cells as _cells  # noqa: F401
from voronym.refiners import refine
from voronym.release import Release
from voronym.report.chooser import choose
from voronym.request.recipe import Recipe
from voronym.run.door import anonymize, plan
from voronym.run.measure import measure
from voronym.table import Column, Schema, read

__version__ = _version("voronym")

__all__ = [
    "AlphaK",
    "BetaLikeness",
    "Bound",
    "Cancelled",
    "Column",
    "Comparison",
    "Context",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "Finding",
    "FinishEarly",
    "Frontier",
    "GuaranteeError",
    "Hierarchy",
    "InputError",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "Measurement",
    "Method",
    "MissingExtraError",
    "MutualInformation",
    "PSensitive",
    "Partition",
    "Plane",
    "PopulationRisk",
    "Problem",
    "Progress",
    "Quantizer",
    "Rate",
    "ReadError",
    "Recipe",
    "Release",
    "Risk",
    "Schema",
    "SchemaError",
    "Suda",
    "TCloseness",
    "Unfinished",
    "Utility",
    "VoronymError",
    "WriteError",
    "algorithm",
    "algorithms",
    "anonymize",
    "attack",
    "attacks",
    "channel",
    "choose",
    "compare",
    "datasets",
    "frontier",
    "history",
    "information_loss",
    "lower_bound",
    "measure",
    "microaggregate",
    "parse_model",
    "plan",
    "plugins",
    "population_risk",
    "quantize",
    "read",
    "records",
    "refine",
    "risk_by_record",
    "space",
    "standardize",
    "steps",
    "suda",
    "testing",
]

_plugin.open_registries()
