"""Names that authors of plug-ins import: decorators that register entries, and the types of entries.

A plug-in is a distribution with an entry point in the group ``voronym.plugins``. The entry point names a
module that registers entries on import, or a function without arguments that registers them. A plug-in with
verbs has a second entry point, whose name ends in ``.verbs``; voronym loads it to read a command. It loads
the others when a registry lacks a name. The names here are loaded on first use, so a module of verbs loads
quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voronym.core.plugin import INTERFACE, Plugin, plugins

if TYPE_CHECKING:
    from voronym._cuda.device import DEVICES
    from voronym.attacks import Found, Inapplicable, Scene, attack
    from voronym.attacks.interval import judge
    from voronym.cli.verbs import verb
    from voronym.core.context import Context
    from voronym.core.options import Options, by_column, columns, number, one_of, option, read_value, whole
    from voronym.keyspaces import Keys, Published, key_space
    from voronym.method import algorithm, release_method, table_method
    from voronym.partition import Partition
    from voronym.privacy.base import Finding, Model
    from voronym.privacy.base import register as model
    from voronym.privacy.cells import Judge
    from voronym.privacy.confidential import ConfidentialModel
    from voronym.problem import Problem
    from voronym.refiners.registry import refiner
    from voronym.report.html import add_templates
    from voronym.result import Grouped, Masked
    from voronym.run.parts.runners import Runner, runner
    from voronym.space import SPACES, Space
    from voronym.space.metrics.base import Metric, metric
    from voronym.steps import ColumnStep, step
    from voronym.table.formats import FORMATS, Format, How
    from voronym.table.table import Table

_PLACES = {
    "voronym._cuda.device": ("DEVICES",),
    "voronym.attacks": ("Found", "Inapplicable", "Scene", "attack"),
    "voronym.attacks.interval": ("judge",),
    "voronym.cli.verbs": ("verb",),
    "voronym.core.context": ("Context",),
    "voronym.core.options": (
        "Options", "by_column", "columns", "number", "one_of", "option", "read_value", "whole",
    ),
    "voronym.keyspaces": ("Keys", "Published", "key_space"),
    "voronym.method": ("algorithm", "release_method", "table_method"),
    "voronym.partition": ("Partition",),
    "voronym.privacy.base": ("Finding", "Model"),
    "voronym.privacy.cells": ("Judge",),
    "voronym.privacy.confidential": ("ConfidentialModel",),
    "voronym.problem": ("Problem",),
    "voronym.refiners.registry": ("refiner",),
    "voronym.report.html": ("add_templates",),
    "voronym.result": ("Grouped", "Masked"),
    "voronym.run.parts.runners": ("Runner", "runner"),
    "voronym.space": ("SPACES", "Space"),
    "voronym.space.metrics.base": ("Metric", "metric"),
    "voronym.steps": ("ColumnStep", "step"),
    "voronym.table.formats": ("FORMATS", "Format", "How"),
    "voronym.table.table": ("Table",),
}  # fmt: skip
_NAMES = {name: (place, name) for place, names in _PLACES.items() for name in names}
_NAMES["model"] = ("voronym.privacy.base", "register")

__all__ = [
    "DEVICES",
    "FORMATS",
    "INTERFACE",
    "SPACES",
    "ColumnStep",
    "ConfidentialModel",
    "Context",
    "Finding",
    "Format",
    "Found",
    "Grouped",
    "How",
    "Inapplicable",
    "Judge",
    "Keys",
    "Masked",
    "Metric",
    "Model",
    "Options",
    "Partition",
    "Plugin",
    "Problem",
    "Published",
    "Runner",
    "Scene",
    "Space",
    "Table",
    "add_templates",
    "algorithm",
    "attack",
    "by_column",
    "columns",
    "judge",
    "key_space",
    "metric",
    "model",
    "number",
    "one_of",
    "option",
    "plugins",
    "read_value",
    "refiner",
    "release_method",
    "runner",
    "step",
    "table_method",
    "verb",
    "whole",
]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'voronym.plugins' has no attribute {name!r}")
    place, own = _NAMES[name]
    return getattr(import_module(place), own)
