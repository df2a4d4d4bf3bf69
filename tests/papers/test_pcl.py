"""Both PCL papers: what was typed in agrees with itself, and ours is no worse."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from voronym.core.context import Context
from voronym.errors import ReadError
from voronym_papers import Chart, Highlight, Mark, Picture, Table, reproduce
from voronym_papers.pcl import adult, census, gaussian, plane, published, runs, ten


def only(items, kind):
    return [item for item in items if isinstance(item, kind)]


def column(table, name, number=0):
    at = [i for i, heading in enumerate(table.columns) if heading == name][number]
    return [row[at] for row in table.rows]


def inside(points, polygon):
    """Say which points are in a convex polygon whose corners go round counter-clockwise."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    away = points[:, None, :] - polygon[None]
    return np.all(edges[None, :, 0] * away[:, :, 1] - edges[None, :, 1] * away[:, :, 0] >= -1e-9, axis=1)


def test_the_typed_changes_follow_from_the_typed_distortions():
    for (k, _), (_, distortion, change, *_) in published.TABLE_2.items():
        before = published.TABLE_1[k][0]
        digit = 0.0005 if before >= 0.1 else 0.00005  # three figures were printed
        slack = 100 * digit * (1 / before + distortion / before**2) + 0.05
        assert 100 * (distortion / before - 1) == pytest.approx(change, abs=slack)
    for before, after, change in (published.FIGURES_9_10[3], published.FIGURE_16):
        assert 100 * (after / before - 1) == pytest.approx(change, abs=0.6)


def test_without_the_data_it_says_what_to_set(monkeypatch):
    monkeypatch.delenv("VORONYM_DATA", raising=False)
    with pytest.raises(ReadError, match="VORONYM_DATA"):
        next(reproduce("pcl-2011"))


def test_figure_3_has_exact_sizes_and_gains(monkeypatch):
    monkeypatch.setattr(gaussian, "POINTS", 4096)
    items = list(gaussian.figure_3(Context()))
    assert [len(picture.panels) for picture in only(items, Picture)] == [2, 2]
    (table,) = only(items, Table)
    assert column(table, "costs by") == ["transport", "LM"] * 2
    assert column(table, "farthest off")[::2] == [0, 0]
    assert all(off <= 3 for off in column(table, "farthest off"))  # the paper: one or two points
    assert all(change < -8 for change in column(table, "ours"))
    assert column(table, "change %, published") == [-16.0, -16.0, -11.0, -11.0]
    assert [item.note for item in only(items, Highlight)] == ["published −16 %", "published −11 %"]


def test_the_papers_solver_ends_where_ours_does():
    X = plane.draw("Gaussian", 3000, 3)
    start = runs.mdav(X, 300)
    theirs, off = runs.as_published(X, start, rounds=30)
    assert off <= 3
    assert np.array_equal(np.sort(theirs.partition.sizes), np.sort(start.partition.sizes))
    assert theirs.distortion == pytest.approx(runs.design(X, start).distortion, rel=0.02)
    assert len(theirs.trace) == 30


def test_figure_4_gains_from_two_dimensions_on(monkeypatch):
    monkeypatch.setattr(gaussian, "CELLS", (1, 4, 16))
    chart, table, *marks = gaussian.figure_4(1024, Context())
    assert marks[1].verdict == "holds"  # in one dimension
    assert len(chart.curves) == len(table.rows) == 7
    line, *others = table.rows
    assert line[1:] == pytest.approx(
        [0, 0, 0], abs=1e-6
    )  # MDAV's runs of a sorted line are the best there are
    assert all(row[1] == 0 and row[3] < -5 for row in others)


def test_figure_5_never_rises():
    chart, table, *marks = gaussian.figure_5(2048, Context())
    assert column(table, "rounds that rose")[:2] == [0, 0]
    assert [mark.verdict for mark in marks[:2]] == ["holds", "holds"]
    mdav, fast, slow, _ = (np.array(curve.points) for curve in chart.curves)
    assert fast[-1, 1] < 0.95 * mdav[0, 1]
    assert slow[1, 1] > fast[1, 1]  # half the way each time


@pytest.mark.parametrize(("d", "known"), [(2, [1.98, 1.87]), (10, [2.0, 1.91])])
def test_figure_6_fits_exponents_over_all_rounds(d, known):
    chart, table, *marks = gaussian.figure_6((3000, 6000), Context(), d=d)
    assert column(table, "published") == known
    for curve, exponent in zip(chart.curves, column(table, "ours"), strict=True):
        (_, first), (_, last) = curve.points
        assert exponent == pytest.approx(np.log2(last / first))
    assert marks[-1].what == f"rounds of PCL, {d} dimensions"
    assert marks[-1].ours <= 100


@pytest.mark.parametrize("clusters", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_sweep_gains_and_draws_cells_around_their_points(clusters, monkeypatch):
    monkeypatch.setattr(plane, "NOISY", {"samples": 20, "iterations": 10})
    known = plane.EXPERIMENTS["large-uniform" if clusters else "small-gaussian"]
    small = replace(known, n=120, drawn=4)
    *marks, picture, chart, table = plane.sweep(small, {3: 2, 4: 3}, 2, Context())
    assert all(mark.ours <= 1e-9 for mark in marks if "gain" in mark.what)
    assert {mark.exhibit for mark in marks} == {f"Figure {small.sweep}", f"Figure {small.sweep + 1}"}
    gains = {mark.what: mark.ours for mark in marks if mark.what.startswith("gain") and "= 4" in mark.what}
    *reached, proven = gains.values()  # PCL, the search, what no groups exceed
    assert clusters or all(gain > proven - 1e-9 for gain in reached)
    assert len(gains) == (1 if clusters else 3)
    starts = [5, 5] if clusters else [2, 2]
    first, others, means, *_ = chart.curves
    assert len(first.points) == 5
    assert len(others.points) == 2 * (starts[0] - 1) + 3 * (starts[1] - 1)
    for (_, mean), worst in zip(means.points, column(table, "worst draw"), strict=True):
        assert mean <= worst
    before, after = picture.panels
    assert before.polygons is None
    assert before.edges is not clusters
    for cell, polygon in enumerate(after.polygons):
        members = after.points[after.labels == cell]
        assert len(members) >= (30 if clusters else 4)
        assert inside(members, polygon).all()
        assert np.allclose(after.centroids[cell], members.mean(axis=0))


def test_uniform_points_are_in_the_unit_square_and_gaussian_ones_are_not():
    assert np.ptp(plane.draw("uniform", 500, 0), axis=0) == pytest.approx(1, abs=0.05)
    assert plane.draw("Gaussian", 500, 0).std() == pytest.approx(1, abs=0.1)


def test_ten_points():
    *result, table = ten.figures_9_10(5, Context())
    pictures = only(result, Picture)
    assert len(only(result, Mark)) == 8
    assert [len(picture.panels[1].centroids) for picture in pictures] == [5, 3]
    for mean, best, worst, optimal in zip(
        *(column(table, name) for name in ("ours, mean", "best", "worst", "optimal")), strict=True
    ):
        assert best <= mean <= worst <= 1e-9
        assert 0 <= float(optimal.removesuffix(" %")) <= 100


@pytest.mark.slow
def test_noise_gets_past_where_pcl_stops():
    X = plane.draw("Gaussian", 250, 17)
    start = runs.mdav(X, 4)
    plain = runs.best_of_five_equal(X, 4, start)
    first, other = runs.noisy(X, 4, 2, samples=30, iterations=40, noise=2.0)
    assert first.partition.labels.tolist() != other.partition.labels.tolist()
    assert np.ptp(first.partition.sizes) <= 1  # what is left over is shared equally
    assert np.array_equal(np.sort(first.partition.sizes), np.sort(plain.partition.sizes))
    assert runs.least([first, other]).distortion < 0.99 * plain.distortion < start.distortion


def test_the_first_start_is_mdavs_and_the_others_are_random(monkeypatch):
    asked = []
    monkeypatch.setattr(runs, "method", lambda _X, _k, name, **options: asked.append((name, options)))
    runs.noisy(np.zeros((9, 2)), 3, 3, samples=20)
    runs.noisy(np.zeros((9, 2)), 3, 2, size=4)
    assert [options["init"] for _, options in asked[:3]] == ["mdav", "random", "random"]
    assert len({options["seed"] for _, options in asked[:3]}) == 3
    assert [options["inner_options"]["init"] for _, options in asked[3:]] == ["mdav", "random"]
    assert {name for name, _ in asked} == {"noisy-pcl", "prepartition"}


def test_in_prepartitions_no_cell_crosses_the_border():
    X = plane.draw("uniform", 240, 3)
    (run,) = runs.noisy(X, 4, 1, size=120, samples=20, iterations=5)
    assert run.partition.sizes.min() >= 4
    assert run.partition.n_cells == 60


@pytest.mark.data
@pytest.mark.slow
def test_census_is_where_the_paper_is_under_its_own_sizes(monkeypatch):
    kept = {case: row for case, row in published.TABLE_2.items() if case[0] in (75, 100)}
    monkeypatch.setattr(published, "TABLE_2", kept)
    monkeypatch.setattr(published, "TABLE_1", {k: published.TABLE_1[k] for k in (75, 100)})
    monkeypatch.setattr(census, "BEYOND", ((100, None),))
    items = list(census.tables_1_2(False, Context()))
    marks = {(mark.exhibit, mark.what): mark for mark in only(items, Mark)}
    assert [marks["Table 1", f"D, k = {k}"].verdict for k in (75, 100)] == ["same"] * 2
    for k, least in ((75, 77), (100, 108)):
        name = f"k = {k}" + (", no prepartition" if k == 100 else "")
        result = marks["Table 2", f"D, {name}"]
        assert result.ours <= result.published + 0.002
        assert marks["Table 2", f"smallest cell, {name}"].ours == least
        assert marks["Figure 19", f"D, mean of starts, {name}"].ours >= result.ours
        assert marks["Figure 20", f"one start, {name}"].verdict == "faster"
    scatter, clock = only(items, Chart)
    assert len(scatter.curves[2].points) == 12  # four random starts of three cases
    assert len(clock.curves[0].points) == 15


@pytest.mark.data
@pytest.mark.slow
def test_adult_gains_what_was_published(monkeypatch):
    monkeypatch.setattr(adult, "QUICK", (2000, 4000))
    monkeypatch.setattr(adult, "vmdav", lambda X, k, _: runs.mdav(X, k))
    items = list(adult.figures_7_8(False, Context()))
    (table,) = only(items, Table)
    best, last = column(table, "ours")
    assert best <= published.FIGURE_7[2000]
    assert last <= published.FIGURE_7_LEAST
    assert column(table, "smallest cell") == [2000, 4000]
    assert len(only(items, Chart)) == 2


@pytest.fixture
def few(monkeypatch):
    """Let a pair of figures be small."""
    monkeypatch.setattr(plane, "NOISY", {"samples": 20, "iterations": 5})
    small = replace(plane.EXPERIMENTS["small-uniform"], n=60)
    monkeypatch.setitem(plane.EXPERIMENTS, "small-uniform", small)


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_the_page_is_written_once(voronym, tmp_path):
    page = tmp_path / "pcl.html"
    words = ("papers", "pcl-2011", "--item", "figure-16", "--report", str(page))
    code, out, err = voronym(*words)
    assert code == 0, err
    assert "Figure 16" in out
    text = page.read_text(encoding="utf-8")
    assert text.count('class="pc ') == 20
    assert "Figure 16" in text
    assert "Data &amp; Knowledge Engineering" in text
    assert voronym(*words)[0] == 2
    assert voronym(*words, "--overwrite")[0] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_json_has_marks_tables_and_figures(voronym):
    output = json.loads(voronym("papers", "pcl-2011", "--item", "small-uniform", "--json")[1])
    assert [len(table["rows"]) for table in output["tables"]] == [2]
    drawn, swept = output["figures"]
    assert len(drawn["panels"][1]["centroids"]) == 20
    assert list(swept["series"])[:2] == ["from MDAV", "from random points"]
    assert {"Figure 15", "Figure 16"} == {mark["exhibit"] for mark in output["marks"]}
