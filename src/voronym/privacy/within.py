"""Models within strata: each stratum is judged separately, and the worst counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from voronym.privacy.base import Finding, Model
from voronym.table.classes import equivalence_classes
from voronym.table.table import Table


def measure_within(model: Model, table: Table, strata: Sequence[str]) -> Finding:
    """Measure a model in each stratum of a table, and return the worst finding.

    A class is compared with the distribution in its stratum, because readers of a release know the
    stratum of each class.
    """
    if not strata or model.required is None:
        return model.measure(table)
    of = equivalence_classes(table.frame, strata).labels
    rows = [table.rows(np.flatnonzero(of == stratum)) for stratum in range(int(of.max()) + 1)]
    return worst_of([model.measure(part) for part in rows])


def worst_of(findings: Sequence[Finding]) -> Finding:
    """Return the worst finding of a model among several strata."""
    pick = max if findings[0].at_most else min
    worst = pick(findings, key=lambda finding: finding.value)
    about = ", ".join(part for part in (worst.about, f"the worst of {len(findings)} strata") if part)
    return replace(worst, holds=all(finding.holds for finding in findings), about=about)
