"""Models within strata: each part of a table is judged by itself, and the worst of them counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voronym.privacy.base import Finding, Model
from voronym.table.classes import equivalence_classes
from voronym.table.table import Table


def measure_within(model: Model, table: Table, strata: Sequence[str]) -> Finding:
    """Measure a model in each stratum of a table, and return the worst finding; without strata, in all of it.

    What a class reveals is judged against the distribution in its stratum: whoever looks at a release knows
    which stratum a class is in.
    """
    if not strata or model.required is None:
        return model.measure(table)
    of = equivalence_classes(table.frame, strata).labels
    found = [model.measure(table.rows(np.flatnonzero(of == one))) for one in range(int(of.max()) + 1)]
    required = float(model.required)
    most = any(one.value > required for one in found if not one.holds) or any(
        one.value < required for one in found if one.holds
    )
    worst = (max if most else min)(found, key=lambda one: one.value)
    about = ", ".join(part for part in (worst.about, f"the worst of {len(found)} strata") if part)
    return replace(worst, holds=all(one.holds for one in found), about=about)
