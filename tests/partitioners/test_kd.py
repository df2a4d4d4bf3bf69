from __future__ import annotations

import numpy as np

import voronym as vr


def test_categories_are_kept_together():
    """Columns of two values: groups cross from one category to another only at the borders."""
    rng = np.random.default_rng(1)
    category = rng.integers(0, 12, 6000)
    X = np.hstack([rng.normal(size=(6000, 2)), 4.0 * np.eye(12)[category]])
    labels = vr.microaggregate(X, 5, method="kd").labels
    mixed = sum(len(np.unique(category[labels == c])) > 1 for c in range(labels.max() + 1))
    assert mixed <= 24
