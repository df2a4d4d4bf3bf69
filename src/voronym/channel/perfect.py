"""Perfect privacy: the least distortion at which the published keys are independent of W."""

from __future__ import annotations

import numpy as np

from voronym.channel.alphabet import Alphabet, Array, feasible
from voronym.core import later
from voronym.core.context import Context
from voronym.core.linear import Programme

linalg = later.module("scipy.linalg")
sparse = later.module("scipy.sparse")

_RANK = 1e-12  # singular values below this share of the largest count as 0
_LARGEST = 60_000  # non-zeros of the programme that are worth waiting for


def perfect(alphabet: Alphabet, ctx: Context) -> tuple[Array, float]:
    """Return joint weights of risk 0 with little distortion, and a proven lower bound on that distortion.

    The linear programme: minimise ``sum J d`` subject to ``sum_x (p(w|x) - p(w)) J[x, y] = 0`` for all w and
    y, row sums p(x), J >= 0. Where only multiples of p(x) fulfil the equations, the best single letter is the
    answer. Columns are written in a basis of the solutions, so the equations hold by construction.

    Large alphabets get the best single letter and the bound of least distortion; so does a request to finish.
    """
    single = alphabet.constant()
    n, m = alphabet.d.shape
    basis = linalg.null_space(alphabet.B - alphabet.pw[:, None], rcond=_RANK)
    if basis.shape[1] <= 1:
        return single, alphabet.distortion(single)
    free = basis.shape[1]
    if n * m * free > _LARGEST * 10 or m * free > _LARGEST:
        return single, alphabet.least_distortion
    # Columns in a row: that each weight is 0 or more, and that the weights of a letter x add up to p(x).
    rows = sparse.vstack(
        [sparse.block_diag([sparse.csr_matrix(-basis)] * m), sparse.hstack([sparse.csr_matrix(basis)] * m)],
        format="csc",
    )
    low = np.concatenate([np.full(n * m, -np.inf), alphabet.p])
    programme = Programme(low, np.concatenate([np.zeros(n * m), alphabet.p]), presolve="on")
    programme.add_matrix((basis.T @ alphabet.d).T.ravel(), rows, lower=-np.inf)
    if not programme.run(ctx):
        return single, alphabet.least_distortion
    J = np.maximum((basis @ programme.values.reshape(m, free).T), 0.0)
    J = feasible(alphabet, J)  # clipping what rounding left negative leaks a little, some 1e-14 nats
    prices = programme.duals[n * m :]
    return J, min(float(alphabet.p @ prices), alphabet.distortion(J))
