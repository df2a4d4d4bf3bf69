"""Classes of records that share the codes of all columns, by a table of hashes."""

from __future__ import annotations

import numpy as np

from voronym._kernels import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)


@kernel
def classes(codes, sizes, table, first, labels):
    """Write the class of each row, numbered by first appearance; return the number of classes.

    ``codes`` (d, n) are the codes of the columns, below ``sizes`` (d,), whose product is below 2**63.
    ``table``, a power of two larger than n, is room for hashes, and ``first`` (n,) for the keys of classes.
    """
    d, n = codes.shape
    mask = np.uint64(len(table) - 1)
    for at in range(len(table)):
        table[at] = -1
    many = 0
    for i in range(n):
        key = np.int64(0)
        for c in range(d):
            key = key * sizes[c] + codes[c, i]
        mixed = np.uint64(key) * _MIX
        slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & mask)
        while table[slot] >= 0 and first[table[slot]] != key:
            slot = (slot + 1) & np.int64(mask)
        if table[slot] < 0:
            table[slot] = many
            first[many] = key
            many += 1
        labels[i] = table[slot]
    return many
