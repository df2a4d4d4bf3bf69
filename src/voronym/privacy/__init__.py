"""Privacy models: what a table promises, measured on the table itself.

``base``           `Finding`, the `Model` protocol, the registry and the parser of ``"k-anonymity=5"``
``classes``        records that share all their keys: the count that every model starts from
``k_anonymity``    `KAnonymity`
``cells``          a confidential column as `Levels`; `Judge`, how enforcement sees a model
``distances``      between the distribution in a cell and that in the table
``confidential``   what the models of confidential columns share: every class, the worst of them
``p_sensitive``    `PSensitive`: p different values
``l_diversity``    `LDiversity`: l well represented values
``t_closeness``    `TCloseness`: distributed about as in the table
``delta_disclosure``    `DeltaDisclosure`: no value much more or less likely
``mutual_information``  `MutualInformation`: what the keys tell on average; estimates in ``information``
``text``           the text forms of models

A new model is one class under ``@register("its-name")``. From then on ``parse_model("its-name=0.2")`` builds
it, and `voronym.measure` and the command line know it.
"""

from voronym.privacy.base import Finding, Model, models, parse_model, register
from voronym.privacy.cells import Judge, Levels, Rule, levels
from voronym.privacy.delta_disclosure import DeltaDisclosure
from voronym.privacy.k_anonymity import KAnonymity
from voronym.privacy.l_diversity import LDiversity
from voronym.privacy.mutual_information import MutualInformation
from voronym.privacy.p_sensitive import PSensitive
from voronym.privacy.t_closeness import TCloseness
from voronym.privacy.text import listed_models, split_models
from voronym.table.classes import Classes, equivalence_classes

__all__ = [
    "Classes",
    "DeltaDisclosure",
    "Finding",
    "Judge",
    "KAnonymity",
    "LDiversity",
    "Levels",
    "Model",
    "MutualInformation",
    "PSensitive",
    "Rule",
    "TCloseness",
    "equivalence_classes",
    "levels",
    "listed_models",
    "models",
    "parse_model",
    "register",
    "split_models",
]
