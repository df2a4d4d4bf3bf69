"""The privacy-distortion function, and the randomised rules that reach it. Risk is in nats.

``function``  `privacy_distortion`, the entry point
``alphabet``  the finite problem and its certificate; ``interior``, ``mirror`` and ``perfect`` solve it
``blocks``    linear algebra of these solvers; ``columns`` leaves letters out
``base``      the result: a channel that perturbs data and knows its distortion D and its risk I(W; X̂)
``worst``     limits on every published letter instead of their mean, by ``cones``
``crowded``   a limit on information, and k people on average behind each letter
``seeing``    rules that see w
``gaussian``  the same for normal data, by ``logdet``
``bounds``    bounds on the least risk: closed form (``waterfill``), optimisation, any law (``regression``)
``limits``    bounds for a table without assumptions, and the risks that rules reach on it
``pram``      randomise categorical columns; analysts can correct for it on average
``release``   mask the keys of a table by ``rules``; ``published`` has the publishable form of the rules
``measured``  the information that remains

``risk_bits`` gives the risk in bits.
"""

from voronym.channel.base import Channel, FiniteChannel
from voronym.channel.bounds import (
    Point,
    between_bounds,
    closed_form_bound,
    curve,
    gaussian_bound,
    information_bound,
    scalar_bound,
    scalar_multiplier,
    scalar_risk,
)
from voronym.channel.crowded import crowded_channel
from voronym.channel.function import privacy_distortion
from voronym.channel.gaussian import GaussianChannel, GaussianSource, gaussian_channel
from voronym.channel.pram import Pram, Recovered, pram, recover
from voronym.channel.regression import regression_bound
from voronym.channel.release import Perturbed, mask_keys
from voronym.channel.worst import WorstCaseChannel, worst_case

__all__ = [
    "Channel",
    "FiniteChannel",
    "GaussianChannel",
    "GaussianSource",
    "Perturbed",
    "Point",
    "Pram",
    "Recovered",
    "WorstCaseChannel",
    "between_bounds",
    "closed_form_bound",
    "crowded_channel",
    "curve",
    "gaussian_bound",
    "gaussian_channel",
    "information_bound",
    "mask_keys",
    "pram",
    "privacy_distortion",
    "recover",
    "regression_bound",
    "scalar_bound",
    "scalar_multiplier",
    "scalar_risk",
    "worst_case",
]
