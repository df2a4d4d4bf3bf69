"""A slow, independent checker of the privacy models: plain Python and SciPy, no code of the library.

A table is a dict of columns. A class is the list of confidential values of the rows that agree in all
keys. None and NaN are one missing value, equal to itself; in an order it comes last.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

MISSING = "<missing>"


def plain(value):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    return 0.0 if value == 0 and not isinstance(value, (str, bool)) else value


def classes(columns, keys, confidential):
    """Return the confidential values of each class."""
    result = defaultdict(list)
    rows = zip(*(map(plain, columns[name]) for name in keys), strict=True)
    for row, value in zip(rows, map(plain, columns[confidential]), strict=True):
        result[row].append(value)
    return list(result.values())


def domain(values):
    """Return the distinct values in ascending order, missing last."""
    there = {value for value in values if value is not MISSING}
    return sorted(there) + ([MISSING] if MISSING in values else [])


def shares(values, of):
    count = Counter(values)
    return [Fraction(count[value], len(values)) for value in of]


def distinct(groups):
    return min(len(set(group)) for group in groups)


def entropy(group):
    count = Counter(group)
    return -sum(c / len(group) * math.log(c / len(group)) for c in count.values())


def entropy_l(groups):
    return min(math.exp(entropy(group)) for group in groups)


def recursive_holds(groups, c, l):  # noqa: E741
    for group in groups:
        counts = sorted(Counter(group).values(), reverse=True)
        if not counts[0] < Fraction(c) * sum(counts[l - 1 :]):
            return False
    return True


def ordered(group, everybody):
    """Earth mover's distance over ranks, by SciPy."""
    of = domain(everybody)
    if len(of) == 1:
        return 0.0
    p, q = (np.array([float(x) for x in shares(v, of)]) for v in (group, everybody))
    ranks = np.arange(len(of))
    return wasserstein_distance(ranks, ranks, p, q) / (len(of) - 1)


def equal(group, everybody):
    of = domain(everybody)
    p, q = shares(group, of), shares(everybody, of)
    return float(sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2)


def transport(group, everybody, ground):
    """Earth mover's distance as the linear programme it is; ``ground(a, b)`` between values."""
    of = list(dict.fromkeys(everybody))
    m = len(of)
    p, q = (np.array([float(x) for x in shares(v, of)]) for v in (group, everybody))
    cost = np.array([[float(ground(a, b)) for b in of] for a in of])
    rows = np.kron(np.eye(m), np.ones(m))
    columns = np.kron(np.ones(m), np.eye(m))
    solved = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([p, q]))
    assert solved.success
    return float(solved.fun)


def tree_ground(tree):
    """Return the distance of two leaves: height of the lowest common ancestor over the height of the root."""
    height = max(len(above) for above in tree.values())

    def ground(a, b):
        if a == b:
            return 0.0
        if MISSING in (a, b):
            return 1.0
        level = next(h for h, (x, y) in enumerate(zip(tree[a], tree[b], strict=True), 1) if x == y)
        return level / height

    return ground


def kl(group, everybody):
    p, q = Counter(group), Counter(everybody)
    n, s = len(everybody), len(group)
    return sum(c / s * math.log((c / s) / (q[value] / n)) for value, c in p.items())


def delta(groups):
    everybody = [value for group in groups for value in group]
    q, n, most = Counter(everybody), len(everybody), 0.0
    for group in groups:
        p = Counter(group)
        for value in q:
            if p[value] == 0:
                return math.inf
            most = max(most, abs(math.log((p[value] / len(group)) / (q[value] / n))))
    return most


def information(groups):
    """Return I(W; class) as H(W) - H(W | class)."""
    everybody = [value for group in groups for value in group]
    inside = sum(len(group) / len(everybody) * entropy(group) for group in groups)
    return entropy(everybody) - inside
