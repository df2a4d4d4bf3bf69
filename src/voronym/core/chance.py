"""Choose the source of randomness for masking, in this module only.

Noise hides a person only while nobody else can repeat the draw. So masking draws from the system's generator,
unless the user gives a seed, with a warning. Methods that form groups promise nothing by their draws; their
seed only makes runs repeatable, and this module does not concern it.
"""

# promise: doc-chance
from __future__ import annotations

import warnings

import numpy as np

from voronym.core.validate import check_seed

Seed = int | np.random.Generator | None

SEEDED = (
    "the masking is drawn from the given seed: anybody who knows or guesses the seed can undo the masking. "
    "Give no seed, or keep the seed and every recipe with it as secret as the originals"
)


def masking(seed: Seed) -> np.random.Generator:
    """Return the random generator for masking.

    Parameters
    ----------
    seed : int, Generator or None
        None draws from the system. A number is accepted with a warning. A generator is used
        unchanged: its maker must keep others from repeating it.

    Examples
    --------
    >>> bool(masking(None).random() != masking(None).random())
    True
    """
    if seed is not None and not isinstance(seed, np.random.Generator):
        made = check_seed(seed)
        warnings.warn(SEEDED, stacklevel=4)
        return made
    return check_seed(seed)
