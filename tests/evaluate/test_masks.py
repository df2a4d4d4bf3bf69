"""Methods without groups in the comparison: the same loss, the same plane, their own options."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym import comparison
from voronym.errors import InputError
from voronym.method import METHODS


def people(n=400):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, n)
    return pl.DataFrame(
        {
            "age": age,
            "region": rng.choice(["north", "south", "west"], n),
            "ill": np.where(rng.random(n) < (age - 10) / 100, "yes", "no"),
        }
    )


def test_channel_and_records_stand_beside_the_groups():
    result = vr.compare(
        people(), keys=["age", "region"], k=[5], methods=["mdav", "channel", "records"], confidential=["ill"],
        risk="mutual-information",
    )  # fmt: skip
    rows = {row.method: row for row in result.rows}
    assert set(rows) == {"mdav", "channel", "records"}
    assert not result.skipped
    # The channel was given the loss of the groups, and tells less about the column at the same price.
    assert 0.2 * rows["mdav"].loss < rows["channel"].loss < 2 * rows["mdav"].loss
    assert rows["records"].groups > 10
    for row in result.rows:
        assert row.information.low <= row.information.high
        assert set(row.limits) == {"floor", "reached", "by_lot"}
    # What is linked is what an intruder links who knows the keys.
    assert rows["records"].linkage <= 0.2


def test_they_are_there_by_default_where_what_keys_tell_is_asked_for(monkeypatch):
    monkeypatch.setattr(comparison, "algorithms", lambda: {"mdav": METHODS["mdav"]})  # the others take long
    asked = {"keys": ["age"], "k": [20], "confidential": ["ill"], "risk": "mutual-information"}
    result = vr.compare(people(120), **asked)
    assert {row.method for row in result.rows} == {"channel", "records", "mdav"}
    plain = vr.compare(people(120), keys=["age"], k=[20], methods=["mdav", "records"])
    assert {row.method for row in plain.rows} == {"mdav", "records"}


def test_options_of_their_own_are_taken_or_refused():
    asked = {"keys": ["region"], "k": [5], "confidential": ["ill"], "risk": "mutual-information"}
    result = vr.compare(people(), methods=["channel"], options={"channel": {"max_risk": 0.001}}, **asked)
    (row,) = result.rows
    assert row.information.plug_in < 0.02
    with pytest.raises(InputError, match="no option 'gamma'"):
        vr.compare(people(), methods=["channel"], options={"channel": {"gamma": 1}}, **asked)
