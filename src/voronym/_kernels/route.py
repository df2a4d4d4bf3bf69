"""The leaf of each point in a tree of oblique cuts."""

from __future__ import annotations

from voronym._kernels import kernel


@kernel
def route(X, directions, thresholds, below, above, out):
    """Walk every point down from node 0; a child that is negative is the leaf ``-1 - child``."""
    d = X.shape[1]
    for i in range(len(X)):
        node = 0
        while node >= 0:
            along = 0.0
            for j in range(d):
                along += X[i, j] * directions[node, j]
            node = below[node] if along <= thresholds[node] else above[node]
        out[i] = -1 - node
