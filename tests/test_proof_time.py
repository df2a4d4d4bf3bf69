"""The proof of a release with many records takes no longer than its search."""

from __future__ import annotations

from dataclasses import replace

import pytest

import voronym as vr
from voronym.certify import front
from voronym.certify.state import Enough, State
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


def gap_with(monkeypatch, **enough) -> tuple[float, list[tuple[float, float]]]:
    """Return the gap that a proof shows, and the gap at several times before."""
    seen: list[State] = []

    class Noting(State):
        def __init__(self, *args) -> None:
            super().__init__(*args)
            seen.append(self)

    monkeypatch.setattr("voronym.certify.columns.State", Noting)
    monkeypatch.setattr("voronym.certify.front.Enough", lambda: Enough(**enough))
    monkeypatch.setattr("voronym.certify.front.BRIEF", 60.0)
    table = vr.datasets.hospital(120, seed=1)
    release = vr.anonymize(table, keys=["age", "weight"], k=3, drop_undeclared=True, method="mdav")
    return figures.find_gap(release, Context()), seen[0].steps


def test_the_proof_of_a_small_release_ends_at_a_small_gap(monkeypatch):
    gap, steps = gap_with(monkeypatch, gap=0.3)
    assert 1.0 < gap <= 30.0  # without the rule it would go on below one percent
    assert len({now for _, now in steps if now <= 0.3}) == 1  # at the first of them


def test_other_tests_prove_briefly():
    assert front.BRIEF < 1.0  # after a test that is about the gap, and sets a time of its own


def test_the_proof_of_a_small_release_ends_where_a_small_gap_is_out_of_reach(monkeypatch):
    """The groups of MDAV lose far more than 1e-9 above the best, which the proof cannot know."""
    monkeypatch.setattr("voronym.certify.state.PATIENCE", 0.0)
    monkeypatch.setattr("voronym.certify.state.out_of_reach", lambda steps, *_: len(steps) >= 5)
    _, steps = gap_with(monkeypatch, gap=1e-9, fair=9.9)
    assert len({now for _, now in steps[4:]}) == 1  # it was asked again, and nothing more was proven


def test_tests_about_the_gap_prove_in_the_usual_time():
    assert front.BRIEF == 3.0
