"""Select the columns that vary among some records."""

from __future__ import annotations

from voronym._kernels import kernel


@kernel
def vary(X, rows, out):
    """Mark the columns in which the listed rows differ."""
    d = X.shape[1]
    first = rows[0]
    for c in range(d):
        out[c] = False
    for t in range(1, len(rows)):
        i = rows[t]
        for c in range(d):
            if X[i, c] != X[first, c]:
                out[c] = True


@kernel
def pick(X, rows, columns, out):
    """Copy some columns of some rows."""
    for t in range(len(rows)):
        for j in range(len(columns)):
            out[t, j] = X[rows[t], columns[j]]
