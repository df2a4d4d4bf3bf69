"""The proof of a release with many records takes no longer than its search."""

from __future__ import annotations

from dataclasses import replace

import pytest

import voronym as vr
from voronym.core.clock import now
from voronym.core.context import Context
from voronym.errors import Unfinished
from voronym.release import figures, proof


@pytest.fixture
def release(monkeypatch) -> vr.Release:
    """Return a release with more records than column generation takes."""
    monkeypatch.setattr(proof, "COLUMNS", 50)
    table = vr.datasets.hospital(80, seed=1)
    return vr.anonymize(table, keys=["age", "weight"], k=3, drop_undeclared=True, method="mdav")


@pytest.mark.parametrize(("searched", "allowed"), [(40.0, 40.0), (0.1, proof.BRIEF)])
def test_a_proof_may_take_as_long_as_the_search(release, monkeypatch, searched, allowed):
    left = []

    def noting(problem, part, ctx: Context) -> None:
        left.append(ctx._until - now())
        assert not ctx.over

    monkeypatch.setattr(proof, "prove_briefly", noting)
    release._evidence = replace(release._evidence, seconds={"masking": searched})
    assert figures.find_gap(release, Context()) is None
    assert left == [pytest.approx(allowed, abs=1.0)]


def test_without_enough_time_nothing_is_proven(release, monkeypatch):
    monkeypatch.setattr(proof, "BRIEF", 0.0)
    release._evidence = replace(release._evidence, seconds={"masking": 0.0})
    assert figures.find_gap(release, Context()) is None
    monkeypatch.setattr(proof, "BRIEF", 60.0)
    assert figures.find_gap(release, Context()) > 0.0


def test_a_request_to_finish_is_obeyed(release):
    ctx = Context()
    ctx.finish()
    with pytest.raises(Unfinished):
        figures.find_gap(release, ctx)


def test_the_proof_of_a_small_release_ends_early(monkeypatch):
    """Without the watch it would go on to one percent or to the end of its time."""
    table = vr.datasets.hospital(120, seed=1)
    release = vr.anonymize(table, keys=["age", "weight"], k=3, drop_undeclared=True, method="mdav")
    gaps = []

    class Noting(proof.Watch):
        def enough(self, gap):
            gaps.append(gap)
            return gap <= 0.3

    monkeypatch.setattr(proof, "Watch", Noting)
    monkeypatch.setattr("voronym.certify.front.BRIEF", 60.0)
    figures.find_gap(release, Context())
    assert sum(gap <= 0.3 for gap in gaps) >= 1
    assert min(gaps) > 0.01
