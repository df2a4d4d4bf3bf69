"""Privacy models: the promises of a table, measured on the table itself.

``base``           `Finding`, the `Model` protocol, the registry and the parser of ``"k-anonymity=5"``
``k_anonymity``    `KAnonymity`
``cells``          a confidential column as `Levels`; `Judge`, how enforcement sees a model
``distances``      distances between the distributions in a cell and in the table
``confidential``   shared code of models of confidential columns: every class, and the worst
``p_sensitive``    `PSensitive`: p different values
``l_diversity``    `LDiversity`: l well represented values
``t_closeness``    `TCloseness`: distributed about as in the table
``delta_disclosure``    `DeltaDisclosure`: no value much more or less likely
``mutual_information``  `MutualInformation`: the mean information of keys; ``information`` estimates it
``alpha_k``        `AlphaK`: no value has too large a share
``beta_likeness``  `BetaLikeness`: no value much more likely
``k_map``          `KMap`: k people of the population
``delta_presence`` `DeltaPresence`: nobody is surely in the table
``differential``   `DifferentialPrivacy`: a promise about the method, which no table can show
``individual``     how likely a match with each record is correct, from sampling weights
``text``           the text forms of models
``within``         models within strata

A new model is one class under ``@register("its-name")``. From then on ``parse_model("its-name=0.2")`` builds
it, and `voronym.measure` and the command line know it.
"""

from voronym.privacy.alpha_k import AlphaK
from voronym.privacy.base import Finding, Model, models, parse_model, register
from voronym.privacy.beta_likeness import BetaLikeness
from voronym.privacy.cells import Judge, Rule
from voronym.privacy.delta_disclosure import DeltaDisclosure
from voronym.privacy.delta_presence import DeltaPresence
from voronym.privacy.differential import DifferentialPrivacy
from voronym.privacy.k_anonymity import KAnonymity
from voronym.privacy.k_map import KMap
from voronym.privacy.l_diversity import LDiversity
from voronym.privacy.level import Levels, levels
from voronym.privacy.mutual_information import MutualInformation
from voronym.privacy.p_sensitive import PSensitive
from voronym.privacy.t_closeness import TCloseness
from voronym.privacy.text import listed_models, split_models
from voronym.privacy.within import measure_within
from voronym.table.classes import Classes, equivalence_classes

__all__ = [
    "AlphaK",
    "BetaLikeness",
    "Classes",
    "DeltaDisclosure",
    "DeltaPresence",
    "DifferentialPrivacy",
    "Finding",
    "Judge",
    "KAnonymity",
    "KMap",
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
    "measure_within",
    "models",
    "parse_model",
    "register",
    "split_models",
]
