"""The Census file, masked by MDAV: figures of the literature, measured on the finished table."""

import numpy as np
import polars as pl
import pytest

from voronym import datasets
from voronym.evaluate.measure import measure
from voronym.partitioners import microaggregate, standardize


@pytest.mark.data
@pytest.mark.parametrize(("k", "loss"), [(3, 5.69), (5, 9.09), (10, 14.16)])
def test_information_loss_of_mdav_and_linkage_below_one_in_k(k, loss):
    frame = datasets.census()
    table = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)
    raw = table.to_numpy().astype(float)
    part = microaggregate(standardize(raw), k, method="mdav")
    masked = pl.DataFrame(part.centroids(raw)[part.labels], schema=table.columns)
    result = measure(masked, keys=table.columns, original=table, aligned=True)
    assert result.risk.k == k
    assert result.utility.information_loss == pytest.approx(loss, abs=0.005)
    assert 0.5 / k < result.linkage.rate.value <= result.linkage.rate.high <= 1 / k
    # Cells keep every mean and the table's variance shrinks by the information loss, on average over columns.
    ratios = np.array([result.utility[name].variance_ratio for name in table.columns])
    assert 100 * (1 - ratios.mean()) == pytest.approx(loss, abs=0.005)
    for name in table.columns:
        assert result.utility[name].mean_after == pytest.approx(result.utility[name].mean_before)
