"""The loss of keys over all leaves, and the price above which records are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.run.parts.coding import Coding
from voronym.run.parts.learn import Stratum
from voronym.run.parts.stages import Stages
from voronym.table.encoders import Nominal
from voronym.table.encoders.levels import KnownLevels
from voronym.table.table import Table


def key_losses(lead: Stages) -> dict[str, tuple[float, float]]:
    """Return two losses of each key over all leaves, in percent: of its variance, and of the maximum."""
    answers, coding = lead.course.answers["published"], lead.job.coding
    if any("lost" not in answer for answer in answers):
        return {}
    lost, had = (np.sum([answer[what] for answer in answers], axis=0) for what in ("lost", "spreads"))
    rows = sum(answer["rows"] for answer in answers)
    most = had + rows * np.square(for_everybody(coding))  # means are 0
    out = {}
    for block in coding.codec.blocks:
        here = slice(block.start, block.stop)
        gone = float(lost[here].sum())
        out[block.name] = (
            100.0 * gone / max(float(had[here].sum()), 1e-300),
            100.0 * gone / max(float(most[here].sum()), 1e-300),
        )
    return out


def for_everybody(coding: Coding) -> NDArray[np.float64]:
    """Return the published keys if everybody were in one group, encoded, shape (d,).

    The mean of every number, as a value that can occur, and the most frequent of every category.
    """
    row: dict[str, Any] = {}
    for encoder in coding.codec.encoders:
        levels = getattr(encoder, "levels", None)
        if isinstance(encoder, Nominal) and isinstance(levels, KnownLevels):
            common = int(np.argmax(levels.counts)) if len(levels.counts) else -1
            if common >= 0 and levels.missing > int(levels.counts[common]):
                common = -1
            made = [levels.gather(np.array([common]))]
        else:
            made = encoder.decode(np.zeros((1, encoder.width)))  # the mean of all
        row.update(zip(encoder.columns, (column.to_native() for column in made), strict=True))
    frame = nw.from_native(pl.DataFrame(row), eager_only=True)
    return np.asarray(coding.codec.encode(Table(frame, coding.schema))[0])


def limits_of(answers: Sequence[Mapping[Stratum, Any]], share: float) -> dict[Stratum, float]:
    """Return for each stratum the price above which records are left out; at most a share exceeds it."""
    many: dict[Stratum, int] = {}
    prices: dict[Stratum, list[Any]] = {}
    for answer in answers:
        for stratum, (records, highest) in answer.items():
            many[stratum] = many.get(stratum, 0) + records
            prices.setdefault(stratum, []).append(highest)
    out = {}
    for stratum, records in many.items():
        highest = np.sort(np.concatenate(prices[stratum]))[::-1]
        budget = int(share * records + 1e-9)
        # The price of the first record that stays: records of equal price stay, too.
        first = float(highest[min(budget, len(highest) - 1)])
        out[stratum] = float(np.nextafter(first, np.inf)) if budget else np.inf
    return out
