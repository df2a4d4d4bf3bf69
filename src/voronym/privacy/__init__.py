"""Privacy models: what a table promises, measured on the table itself.

``base``         `Finding`, the `Model` protocol, the registry and the parser of ``"k-anonymity=5"``
``classes``      records that share all their keys: the count that every model starts from
``k_anonymity``  `KAnonymity`

A new model is one class under ``@register("its-name")``. From then on ``parse_model("its-name=0.2")`` builds
it, and `voronym.measure` and the command line know it.
"""

from voronym.privacy.base import Finding, Model, models, parse_model, register
from voronym.privacy.classes import Classes, equivalence_classes
from voronym.privacy.k_anonymity import KAnonymity

__all__ = [
    "Classes",
    "Finding",
    "KAnonymity",
    "Model",
    "equivalence_classes",
    "models",
    "parse_model",
    "register",
]
