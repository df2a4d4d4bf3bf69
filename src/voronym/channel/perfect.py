"""Perfect privacy: the least distortion at which what is published says nothing about W."""

from __future__ import annotations

import numpy as np
from scipy import linalg, optimize, sparse

from voronym.channel.alphabet import Alphabet, Array, feasible

_RANK = 1e-12  # singular values below this share of the largest count as 0
_LARGEST = 60_000  # non-zeros of the programme that are worth waiting for


def perfect(alphabet: Alphabet) -> tuple[Array, float]:
    """Return joint weights of risk 0 with little distortion, and a proven lower bound on that distortion.

    The linear programme: minimise ``sum J d`` subject to ``sum_x (p(w|x) - p(w)) J[x, y] = 0`` for all w and
    y, row sums p(x), J >= 0. Where only multiples of p(x) fulfil the equations, the best single letter is the
    answer. Columns are written in a basis of the solutions, so the equations hold by construction.

    Large alphabets get the best single letter, and the bound 0.
    """
    single = alphabet.constant()
    n, m = alphabet.d.shape
    basis = linalg.null_space(alphabet.B - alphabet.pw[:, None], rcond=_RANK)
    if basis.shape[1] <= 1:
        return single, alphabet.distortion(single)
    free = basis.shape[1]
    if n * m * free > _LARGEST * 10 or m * free > _LARGEST:
        return single, alphabet.least_distortion
    cost = (basis.T @ alphabet.d).T.ravel()  # column after column
    rows = sparse.hstack([sparse.csr_matrix(basis)] * m, format="csr")
    positive = sparse.block_diag([sparse.csr_matrix(-basis)] * m, format="csr")
    found = optimize.linprog(
        cost,
        A_ub=positive,
        b_ub=np.zeros(n * m),
        A_eq=rows,
        b_eq=alphabet.p,
        bounds=(None, None),
        method="highs",
    )
    if found.status != 0:
        return single, alphabet.least_distortion
    J = np.maximum((basis @ found.x.reshape(m, free).T), 0.0)
    J = feasible(alphabet, J)  # clipping what rounding left negative leaks a little, some 1e-14 nats
    prices = found.eqlin.marginals
    return J, min(float(alphabet.p @ prices), alphabet.distortion(J))
