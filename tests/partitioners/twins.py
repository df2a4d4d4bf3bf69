"""Slow and obvious versions of the classical methods, in plain NumPy, without a line of the library's own."""

from __future__ import annotations

import numpy as np

from partitioners.oracles import farthest, md, mdav, mean, nearest, squared, sse


def nearest_next(X, first):
    order, rest = [first], np.delete(np.arange(len(X)), first)
    while len(rest):
        order.append(nearest(X, rest, X[order[-1]], 1)[0])
        rest = rest[rest != order[-1]]
    return np.array(order)


def chain(X, labels):
    """Cells by nearest centroid, from that of the outermost record; records inside a cell by nearest next."""
    cells = np.unique(labels)
    means = np.array([mean(X[labels == c]) for c in cells])
    last = farthest(X, np.arange(len(X)), mean(X))
    order = []
    for c in nearest_next(means, int(np.flatnonzero(cells == labels[last])[0])):
        rest = np.flatnonzero(labels == cells[c])
        while len(rest):
            last = nearest(X, rest, X[last], 1)[0]
            rest = rest[rest != last]
            order.append(last)
    return np.array(order)


def cuts(n, k):
    """All ways to cut a row of n into runs of k to 2k-1."""
    if n == 0:
        yield []
    for size in range(k, min(2 * k, n + 1)):
        for rest in cuts(n - size, k):
            yield [size, *rest]


def best_cut(X, order, k):
    """Least loss over all cuts of an order, one by one."""
    return min(sse(X[order], np.repeat(np.arange(len(sizes)), sizes)) for sizes in cuts(len(X), k))


def attach(X, labels):
    """Put the records without a cell into those with the nearest means."""
    labels = labels.copy()
    left, cells = np.flatnonzero(labels < 0), np.arange(labels.max() + 1)
    means = np.array([mean(X[labels == c]) for c in cells])
    for i in left:
        labels[i] = cells[int(np.argmin(squared(means, X[i])))]
    return labels


def tfrp(X, k):
    labels, rest, cell = np.full(len(X), -1), np.arange(len(X)), 0
    while len(rest) >= k:
        end = X.min(axis=0) if cell % 2 == 0 else X.max(axis=0)
        labels[nearest(X, rest, X[farthest(X, rest, end)], k)] = cell
        rest, cell = np.flatnonzero(labels < 0), cell + 1
    return attach(X, labels)


def by_falling_loss(X, labels):
    cells = np.unique(labels)
    return sorted(cells, key=lambda c: -sse(X[labels == c], labels[labels == c]))


def dissolve(X, k, labels, order):
    """Try to dissolve the cells in an order; the loss is recomputed from scratch."""
    labels = labels.copy()
    for cell in order:
        trial = labels.copy()
        for i in np.flatnonzero(labels == cell):
            others = [c for c in np.unique(trial) if c != cell]
            if not others:
                return labels
            means = np.array([mean(X[trial == c]) for c in others])
            trial[i] = others[int(np.argmin(squared(means, X[i])))]
        if sse(X, trial) < sse(X, labels):
            labels = split(X, k, trial)
    return labels


def split(X, k, labels):
    labels = labels.copy()
    for cell in np.unique(labels):
        members = np.flatnonzero(labels == cell)
        if len(members) >= 2 * k:
            parts = mdav(X[members], k)
            labels[members] = np.where(parts == 0, cell, labels.max() + parts)
    return labels


def component(edges, start):
    """Return the records that edges join to one."""
    result, look = {start}, [start]
    while look:
        i = look.pop()
        for a, b in edges:
            for here, there in ((a, b), (b, a)):
                if here == i and there not in result:
                    result.add(there)
                    look.append(there)
    return result


def spanning_tree(X):
    """Kruskal's algorithm over all pairs."""
    pairs = [(squared(X[[i]], X[j])[0], j, i) for i in range(len(X)) for j in range(i)]
    edges = []
    for length, a, b in sorted(pairs):
        if b not in component([edge[1:] for edge in edges], a):
            edges.append((length, a, b))
    return edges


def mst(X, k):
    edges = [(a, b) for _, a, b in spanning_tree(X)]
    for edge in edges[::-1]:
        others = [e for e in edges if e != edge]
        if min(len(component(others, end)) for end in edge) >= k:
            edges = others
    labels = np.array([min(component(edges, i)) for i in range(len(X))])
    new = labels.copy()
    for cell in np.unique(labels):
        members = np.flatnonzero(labels == cell)
        if len(members) >= 2 * k:
            new[members] = (cell + 1) * 1000 + md(X[members], k)
    return new


def spread(X, members):
    return ((X[members] - X[members].mean(axis=0)) ** 2).sum()


def dba(X, k, p=0, ties=1):
    """DBA-1, after p cells around the records that are sparsest at the start; labels as cells were made.

    Records with the same nearest are equally sparse: the first of them comes first, or with -1 the last.
    """
    labels, rest, cell = np.full(len(X), -1), np.arange(len(X)), 0
    sparse = sorted(rest, key=lambda i: (-np.round(spread(X, nearest(X, rest, X[i], k)), 9), ties * i))
    while len(rest) >= k:
        if cell < p:
            chosen = next(i for i in sparse if labels[i] < 0)
        else:
            chosen = min(rest, key=lambda i: spread(X, nearest(X, rest, X[i], k)))
        labels[nearest(X, rest, X[chosen], k)] = cell
        rest, cell = np.flatnonzero(labels < 0), cell + 1
    return attach(X, labels)


def gsms(X, k):
    labels, rest, cell = np.full(len(X), -1), np.arange(len(X)), 0
    while len(rest) >= k:
        groups = [nearest(X, rest, X[i], k) for i in rest]
        if len(rest) > k:
            groups.sort(key=lambda g: spread(X, g) + spread(X, np.setdiff1d(rest, g)))
        labels[groups[0]] = cell
        rest, cell = np.flatnonzero(labels < 0), cell + 1
    return attach(X, labels)


def forest(X, k):
    """Return the parent of every record, -1 for roots: components of fewer than k join by shortest edges."""
    parent = np.full(len(X), -1)
    component = np.arange(len(X))
    while True:
        edges = []
        for c in np.unique(component):
            inside, outside = np.flatnonzero(component == c), np.flatnonzero(component != c)
            if len(inside) < k:
                root = next(i for i in inside if parent[i] < 0)
                near = nearest(X, outside, X[root], 1)[0]
                edges.append((squared(X[[near]], X[root])[0], root, near))
        if not edges:
            return parent
        _, root, near = min(edges)
        parent[root] = near
        component[component == component[root]] = component[near]


def mu_approx(X, k):
    parent = forest(X, k)
    links = [(i, p) for i, p in enumerate(parent) if p >= 0]
    labels = np.full(len(X), -1)
    for root in np.flatnonzero(parent < 0):
        tree = component(links, root)
        parts, rest = [], set(tree)
        if len(tree) > max(2 * k - 1, 3 * k - 5):
            depth = {i: len(path_up(parent, i)) for i in tree}
            for i in sorted(tree - {root}, key=lambda i: -depth[i]):
                hanging = {j for j in rest if i in path_up(parent, j)}
                if len(hanging) >= k:
                    parts.append((i, hanging))
                    rest -= hanging
            if 0 < len(rest) < k:
                ends = [(squared(X[[i]], X[parent[i]])[0], i) for i, _ in parts if parent[i] in rest]
                next(part for i, part in parts if i == min(ends)[1]).update(rest)
                rest = set()
        for part in [part for _, part in parts] + [rest] * bool(rest):
            labels[list(part)] = min(part)
    return split(X, k, labels)


def path_up(parent, i):
    path = [i]
    while parent[path[-1]] >= 0:
        path.append(parent[path[-1]])
    return path
