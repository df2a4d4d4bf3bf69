"""The publishable part of a channel's rules, so that analysts can correct for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voronym.channel.figures import PublishedMatrix

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

RARE_RECORDS = 10
"""A letter with fewer records shares its row of a matrix with other rare letters."""
_PARTS = 1_000_000  # published probabilities are whole millionths, and rows add up exactly


def published_matrix(
    matrix: Array, codes: Ints, drawn: Ints, names: Sequence[Sequence[object]], *, few: int = RARE_RECORDS
) -> PublishedMatrix | None:
    """Return a publishable transition matrix, in which rare letters share one row and column.

    The row of a letter that few people have was computed from these few, and could reveal their values;
    the letter itself may be in no released record. So letters of fewer than ``few`` records, and letters
    that were never drawn, are merged. Guarantee: the result is the exact law (rounded to millionths) of
    the column with these letters merged. Analysts who merge the same letters in the published column can
    correct counts with it.

    Parameters
    ----------
    matrix : array, shape (n, n)
        Transition probabilities.
    codes, drawn : arrays of int, shape (r,)
        Original and published letters.
    names : list
        The values of each letter.
    few : int
        Letters of fewer records are merged.

    Returns
    -------
    PublishedMatrix or None
        None where fewer than two rows are left.

    Examples
    --------
    >>> told = published_matrix(np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.0, 1.0]]),
    ...                         np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 2]),
    ...                         [["a"], ["b"], ["c"]], few=3)
    >>> told.letters, told.together, told.rows
    ((('a',),), 2, ((0.9, 0.1), (0.133333, 0.866667)))
    """
    n = len(matrix)
    often = np.bincount(codes, minlength=n)
    rare = (often < few) | (np.bincount(drawn, minlength=n) == 0)
    for letter in np.argsort(often, kind="stable"):
        if not rare.any() or often[rare].sum() >= few:
            break
        rare[letter] = True
    if n - int(rare.sum()) + bool(rare.any()) < 2:
        return None
    place = np.where(rare, n - int(rare.sum()), np.cumsum(~rare) - 1)
    rows = np.zeros((int(place.max()) + 1, n))
    np.add.at(rows, place, matrix * often[:, None])
    law = np.zeros((len(rows), len(rows)))
    np.add.at(law.T, place, rows.T)
    law /= law.sum(axis=1, keepdims=True)
    whole = np.rint(law * _PARTS).astype(np.int64)
    whole[np.arange(len(whole)), law.argmax(axis=1)] += _PARTS - whole.sum(axis=1)
    return PublishedMatrix(
        letters=tuple(tuple(name) for name, hidden in zip(names, rare, strict=True) if not hidden),
        together=int(rare.sum()),
        share=float(often[rare].sum() / len(codes)),
        rows=tuple(map(tuple, (whole / _PARTS).tolist())),
    )
