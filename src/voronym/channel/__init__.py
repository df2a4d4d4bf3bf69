"""The privacy-distortion function, and the randomised rules that reach it.

`alphabet` is the finite problem and its certificate; `interior`, `mirror` (also the paper's steepest descent)
and `perfect` solve it; `function` is the door, `base` the answer: a channel that perturbs data and knows its
distortion D and its risk I(W; X̂). `gaussian` has the same for normal data: the quadratic-Gaussian lower bound
by `logdet` and `waterfill`, closed forms, and the optimal noise. `bounds` puts both bounds beside a measured
point; `limits` has what holds for a table without assumptions, and what rules reach on it. `pram` randomises
categorical columns and lets analysts undo it on average. `release` masks the keys of a table. Risk is in nats
everywhere; ``risk_bits`` gives bits.
"""

from voronym.channel.base import Channel, FiniteChannel
from voronym.channel.bounds import Point, beside, curve, miub
from voronym.channel.function import blahut_arimoto, privacy_distortion
from voronym.channel.gaussian import (
    GaussianChannel,
    GaussianSource,
    closed_form_bound,
    gaussian_channel,
    qglb,
    scalar_bound,
    scalar_multiplier,
    scalar_risk,
)
from voronym.channel.pram import Pram, Recovered, pram, recover
from voronym.channel.release import Perturbed, mask_keys

__all__ = [
    "Channel",
    "FiniteChannel",
    "GaussianChannel",
    "GaussianSource",
    "Perturbed",
    "Point",
    "Pram",
    "Recovered",
    "beside",
    "blahut_arimoto",
    "closed_form_bound",
    "curve",
    "gaussian_channel",
    "mask_keys",
    "miub",
    "pram",
    "privacy_distortion",
    "qglb",
    "recover",
    "scalar_bound",
    "scalar_multiplier",
    "scalar_risk",
]
