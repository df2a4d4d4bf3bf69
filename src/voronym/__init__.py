"""voronym publishes tables about people without exposing them.

A release is a partition, a centroid per cell, and a proof that every cell has k.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voronym.core import startup as startup  # before the rest: Ctrl-C is answered while that is imported

if TYPE_CHECKING:
    from voronym._public import *  # noqa: F403
    from voronym._public import __all__ as __all__
    from voronym._public import __version__ as __version__

_HOMES = {
    "Bound": "voronym.certify",
    "lower_bound": "voronym.certify",
    "Comparison": "voronym.evaluate.comparison",
    "choose": "voronym.report.chooser",
    "compare": "voronym.comparison",
    "Context": "voronym.core.context",
    "FinishEarly": "voronym.core.context",
    "Progress": "voronym.core.context",
    "Cancelled": "voronym.errors",
    "GuaranteeError": "voronym.errors",
    "InputError": "voronym.errors",
    "MissingExtraError": "voronym.errors",
    "ReadError": "voronym.errors",
    "SchemaError": "voronym.errors",
    "Unfinished": "voronym.errors",
    "VoronymError": "voronym.errors",
    "WriteError": "voronym.errors",
    "Frontier": "voronym.evaluate.frontier",
    "frontier": "voronym.evaluate.frontier",
    "Measurement": "voronym.evaluate.measurement",
    "Rate": "voronym.evaluate",
    "Risk": "voronym.evaluate",
    "Utility": "voronym.evaluate",
    "risk_by_record": "voronym.evaluate.by_record",
    "PopulationRisk": "voronym.evaluate.population",
    "Suda": "voronym.evaluate.population",
    "population_risk": "voronym.evaluate.population",
    "suda": "voronym.evaluate.population",
    "Plane": "voronym.evaluate.tradeoff",
    "attack": "voronym.intruder",
    "Method": "voronym.method",
    "algorithm": "voronym.method",
    "algorithms": "voronym.method",
    "Partition": "voronym.partition",
    "information_loss": "voronym.partitioners",
    "microaggregate": "voronym.partitioners",
    "standardize": "voronym.partitioners",
    "AlphaK": "voronym.privacy",
    "BetaLikeness": "voronym.privacy",
    "DeltaDisclosure": "voronym.privacy",
    "DeltaPresence": "voronym.privacy",
    "DifferentialPrivacy": "voronym.privacy",
    "Finding": "voronym.privacy",
    "KAnonymity": "voronym.privacy",
    "KMap": "voronym.privacy",
    "LDiversity": "voronym.privacy",
    "MutualInformation": "voronym.privacy",
    "PSensitive": "voronym.privacy",
    "TCloseness": "voronym.privacy",
    "parse_model": "voronym.privacy",
    "Problem": "voronym.problem",
    "Quantizer": "voronym.quantize.quantizer",
    "refine": "voronym.refiners",
    "Release": "voronym.release",
    "Recipe": "voronym.request.recipe",
    "anonymize": "voronym.run.door",
    "plan": "voronym.run.door",
    "measure": "voronym.run.measure",
    "Column": "voronym.table",
    "Hierarchy": "voronym.generalize.hierarchy",
    "Schema": "voronym.table",
    "read": "voronym.table",
}
"""The module of each public name; it is loaded on first use of the name."""

_ROOMS = frozenset(
    (
        "attacks",
        "channel",
        "datasets",
        "history",
        "plugins",
        "quantize",
        "records",
        "space",
        "steps",
        "testing",
    )
)
"""Public modules."""


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing voronym stays fast."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = import_module(f"voronym.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("voronym")
    elif name == "__all__":
        value = sorted([*_HOMES, *_ROOMS])
    else:
        value = _module(name)
    globals()[name] = value
    return value


def _module(name: str) -> Any:
    """Import another module of the package."""
    missing = AttributeError(f"module 'voronym' has no attribute {name!r}")
    if name.startswith("_"):
        raise missing
    try:
        return import_module(f"voronym.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"voronym.{name}":  # the module exists, but one of its imports is missing
            raise
        raise missing from None


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*_HOMES, *_ROOMS, "__version__"])
