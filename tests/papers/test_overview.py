"""Every table and figure of the papers has a row in the documentation, made from the results kept."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from voronym.report.curves import LABEL
from voronym.report.svg import width
from voronym_papers import PAPERS, Outcome, overview, stored
from voronym_papers.cli import verdicts
from voronym_papers.icsm import tables
from voronym_papers.items import Chart, Table
from voronym_papers.overview import document, written
from voronym_papers.pcl import literal
from voronym_papers.stored import FOLDER, stale

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"


@cache
def kept_of(name):
    """Return what is kept of a paper; whether it is stale is asked of the source of hundreds of modules."""
    return stored.results(PAPERS[name])


@cache
def lines_of(name):
    return overview.lines_kept(PAPERS[name])


@pytest.fixture(scope="module")
def page():
    return document()


def test_the_page_is_made_from_the_results_that_are_kept():
    text = PAGE.read_text(encoding="utf-8")
    assert written(text) == text, "docs/papers.md is stale: make papers-table"


@pytest.mark.parametrize("name", PAPERS)
def test_no_table_or_figure_is_missing(name, page):
    entry = PAPERS[name]
    by_exhibit = lines_of(name)
    shown = {exhibit for experiment in entry.experiments.values() for exhibit in experiment.shows}
    for exhibit in entry.exhibits:
        assert bool(exhibit.where) != (exhibit.name in shown), (
            f"{exhibit.name} of {name} is neither run nor shown elsewhere"
        )
        if exhibit.where:
            text = (PAGE.parent / exhibit.where).read_text(encoding="utf-8")
            if exhibit.name.startswith("Figure"):
                assert "](_static/" in text or "```{gallery}" in text, f"{exhibit.where} shows no picture"
        else:
            assert by_exhibit[exhibit.name], f"no result is kept of {exhibit.name} of {name}"
        assert f"| {exhibit.name} |" in page


@pytest.mark.parametrize("name", PAPERS)
def test_stale_runs_are_listed_on_the_page(name):
    """Runs kept without a fingerprint, or with another one than today's code has, are said to be stale."""
    entry = PAPERS[name]
    old = stale(entry)
    section = PAGE.read_text(encoding="utf-8").split(f"## `{name}`")[1].split("\n## ")[0]
    listed = f"{len(old)} of {len(kept_of(name))} runs that are kept" in section
    assert listed == bool(old), f"stale: {'; '.join(old)}; make papers-table"
    for run in kept_of(name).values():
        assert run.stale or set(run.made) >= {"version", "fingerprint"}


def test_what_was_chosen_to_agree_is_said_beside_the_verdict(page):
    """The width of clusters, the 3 % that count as the same, the noise of Adult: three, and no other row."""
    lines = [(name, line) for name in PAPERS for own in lines_of(name).values() for line in own]
    for name, line in lines:
        drawn = name == "icsm" and re.match(r"(MDAV|ICSM|gain).*, synthetic, ", line.what)
        noisy = name == "pcl-2013" and line.what.endswith("as published") and line.exhibit == "Figure 7"
        noisy = noisy and line.mark.published is not None and not line.what.startswith("time")
        assert bool(drawn or noisy) == line.texts()[-1].endswith(", fitted"), (name, line.what)
        if drawn:
            assert f"{tables.WIDTH}" in line.why
            assert "3 %" in line.why
        if noisy:
            assert f"{literal.NOISE}" in line.why
    assert f"Of these, {sum(bool(line.fit) for _, line in lines)} are *fitted*" in page


def test_the_five_papers_have_their_tables_and_figures(page):
    counted = {name: len(entry.exhibits) for name, entry in PAPERS.items()}
    # Counted in the papers: 28 figures and 2 tables of 2011, 8 and 1 of 2013, 5 and 5 of ICSM.
    assert (counted["pcl-2011"], counted["pcl-2013"], counted["icsm"]) == (30, 9, 10)
    assert sum(counted.values()) >= 60
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert len(rows) > sum(counted.values())


@pytest.mark.parametrize("name", PAPERS)
def test_whatever_differs_says_why_in_a_sentence(name):
    for (experiment, _), run in kept_of(name).items():
        for mark in run.marks:
            if mark.verdict in ("better", "worse", "faster", "slower", "differs"):
                assert re.fullmatch(r"[A-Z0-9].{15,}[.]", mark.why), (
                    f"{experiment}: {mark.exhibit}, {mark.what}"
                )


@pytest.mark.parametrize("name", PAPERS)
def test_verdicts_say_what_they_compare(name):
    """Times are never better, claims in words never the same, and same needs a printed value."""
    for line in (line for own in lines_of(name).values() for line in own):
        kind, verdict = line.mark.kind, line.mark.verdict
        assert verdict not in ("better", "worse") or kind == "quality"
        assert verdict not in ("faster", "slower") or kind == "time"
        assert (verdict == "holds") <= (kind == "words")
        if verdict == "same":
            assert kind != "words"
            assert any(sign.isdigit() for sign in line.mark.printed())


def test_paper_004_prints_no_experiment_and_002_claims_what_its_descent_does_not_reach():
    own = [line.mark for rows in lines_of("crowd").values() for line in rows]
    assert {mark.exhibit for mark in own if mark.published is not None} == {"Table 1"}
    rows = lines_of("t-closeness")
    claims = [line.mark for name in ("Figure 6", "Figure 7") for line in rows[name] if line.mark.claim]
    assert {(mark.kind, mark.verdict) for mark in claims} == {("words", "differs")}
    ten = [line.mark for name in ("Figure 9", "Figure 10") for line in lines_of("pcl-2011")[name]]
    printed = [mark for mark in ten if mark.published is not None and mark.kind != "words"]
    assert printed
    assert all("mean of" in mark.what for mark in printed)  # never the draw that is nearest to the example


@pytest.mark.parametrize("name", PAPERS)
def test_the_names_of_curves_fit_beside_the_chart(name):
    """Cut in their middle, two of them would look the same."""
    for run in kept_of(name).values():
        for item in run.items:
            for single in item.curves if isinstance(item, Chart) else ():
                assert width(single.name) <= LABEL, f"{item.title}: {single.name}"


LARGE = ("icsm", "pcl-2011")
"""Papers with so many results that it takes seconds to print them."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in PAPERS]
)
def test_what_is_kept_fits_a_terminal_of_80_signs(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for (experiment, full), run in kept_of(name).items():
        outcome = Outcome(PAPERS[name].experiments[experiment], full, (*run.marks, *run.items), run.seconds)
        verdicts.show(PAPERS[name], outcome, tables=True)
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= 80
        assert "…" not in out.replace(" … ", " to ")
        words = set(out.split())
        for item in run.items:
            if isinstance(item, Table):
                assert {word for row in item.texts() for cell in row for word in cell.split()} <= words
        for mark in run.marks:
            assert set(mark.measured().split()) <= words


@pytest.mark.parametrize("name", PAPERS)
def test_what_is_kept_belongs_to_experiments_and_is_small(name):
    entry = PAPERS[name]
    kept = kept_of(name)
    assert {experiment for experiment, _ in kept} <= set(entry.experiments)
    assert all(run.seconds <= 1500 for (_, full), run in kept.items() if full)
    for (experiment, _), run in kept.items():
        assert {mark.exhibit for mark in run.marks} <= set(entry.experiments[experiment].shows)
        keys = [(mark.exhibit, mark.what) for mark in run.marks]
        assert len(keys) == len(set(keys))
    path = FOLDER / f"{name}.json"
    assert not path.exists() or path.stat().st_size < 250_000


def test_census_by_noisy_pcl_is_no_worse_than_published():
    kept = kept_of("pcl-2011")["census", True]
    result = {mark.what: mark for mark in kept.marks if mark.exhibit == "Table 2"}
    assert result["D, k = 5, no prepartition"].ours <= 0.0769 + 0.00005  # to the digits of the paper
    assert result["D, k = 10, no prepartition"].ours <= 0.1174
    assert result["D, k = 25"].ours <= 0.182
    distortions = [mark for what, mark in result.items() if what.startswith("D,")]
    assert all(mark.verdict in ("same", "better", "not printed") for mark in distortions)
