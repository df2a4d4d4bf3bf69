"""What people look at: rows, one group, a map, other k; and that none of it leaves the house."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.core.context import Context
from voronym.dossier.other_k import MOST_RECORDS, other_k
from voronym.errors import InputError
from voronym.evaluate.comparison import Comparison, Row
from voronym.evaluate.moved import amount
from voronym.problem import Problem
from voronym.report import render, render_comparison
from voronym.report.svg import percent

KEYS = ["age", "height", "paid"]


@pytest.fixture(scope="module")
def people():
    """People whose numbers are so odd that none can be met by accident."""
    rng = np.random.default_rng(5)
    n = 240
    return pl.DataFrame(
        {
            "age": np.round(rng.uniform(18, 90, n), 5),
            "height": np.round(rng.normal(170, 9, n), 5),
            "paid": np.round(rng.lognormal(7, 1, n), 4),
            "ill": rng.choice(["flu", "cold", "gout"], n),
        }
    )


@pytest.fixture(scope="module")
def release(people):
    return vr.anonymize(people, keys=KEYS, confidential=["ill"], k=6, method="mdav")


@pytest.fixture(scope="module")
def homes():
    rng = np.random.default_rng(6)
    at = np.round(rng.normal([41.4, 2.15], [0.02, 0.03], (120, 2)), 6)
    return pl.DataFrame({"lat": at[:, 0], "lon": at[:, 1], "ill": rng.choice(["a", "b"], 120)})


@pytest.fixture(scope="module")
def placed(homes):
    return vr.anonymize(
        homes, keys=["lat", "lon"], locations=[("lat", "lon")], confidential=["ill"], k=8, method="mdav"
    )


def body(page):
    return re.sub(r"<style>.*?</style>", "", page, flags=re.S)


def test_the_unfolded_group_is_one_of_the_release(people, release):
    result = release.dossier().inside.unfolded
    row = dict(zip(result.keys, map(float, result.published), strict=True))
    same = [
        i
        for i, single in enumerate(release.table.select(KEYS).rows())
        if np.allclose(single, [row[key] for key in KEYS], rtol=1e-5)
    ]
    assert len(same) == result.size >= 6
    assert sorted(release.table["ill"][same]) == sorted(value for (value,) in result.kept)
    originals = {tuple(f"{v:.7g}" for v in single): ill for *single, ill in people.rows()}
    assert [originals[own] for own in result.originals] == [value for (value,) in result.kept]
    mean = np.mean([list(map(float, own)) for own in result.originals], axis=0)
    assert np.allclose(mean, [row[key] for key in KEYS], rtol=1e-3)


def test_the_internal_page_says_how_many_metres_places_were_moved(homes, placed):
    """By the flat formula, which is good enough in a town: a degree of latitude is 111,195 m."""
    first = placed.dossier().inside.utility.ways[0]
    away = []
    for lat, lon in homes.select("lat", "lon").rows():
        flat = (111_195 * (placed.table["lat"] - lat)) ** 2
        flat += (111_195 * np.cos(np.radians(41.4)) * (placed.table["lon"] - lon)) ** 2
        away.append(float(np.sqrt(flat.min())))
    assert first.mean >= 0.99 * np.mean(away), "nobody is nearer to their own place than to the nearest one"
    internal, outside = body(render(placed)), body(render(placed, audience="public"))
    for words in (f"published {first.mean:,.0f} m from where", f"moved by {first.mean:,.0f} m on average"):
        assert words in internal
    assert f"{first.mean:,.0f} m" not in outside


def test_no_original_value_is_on_the_public_page_or_in_plain_data(people, release, placed, homes):
    shown = {
        value
        for rows in (release.dossier().inside.unfolded.originals, release.dossier().inside.samples.before)
        for row in rows
        for value in row
        if re.fullmatch(r"\d+\.\d{2,}", value)
    }
    assert len(shown) > 20
    internal, outside = body(render(release)), body(render(release, audience="public"))
    plain = json.dumps(release.to_dict())
    assert all(value in internal for value in shown)  # the test can fail
    assert not [value for value in shown if value in outside]
    # plain data name the extremes of the histograms, so whole numbers of a person must not be there
    assert not [v for v in people["age"].to_list() if f"{v:.7g}" in outside]
    for secret in ("unfolded", "samples"):
        assert f'"{secret}"' not in plain
    assert not [value for value in shown if value in plain]
    outside = body(render(placed, audience="public"))
    assert 'id="map"' in outside
    assert not [v for v in homes["lat"].to_list() if f"{v:.6f}" in outside]
    assert 'id="unfolded"' not in outside
    assert 'id="rows"' not in outside
    assert placed.dossier().public.places.originals == ()


def test_the_map_has_degrees_and_a_scale_and_asks_for_nothing(placed):
    page = render(placed)
    drawn = page[page.index('id="map"') :]
    assert re.search(r"\d+\.?\d*° N", drawn)
    assert re.search(r"\d+ (km|m)<", drawn)
    assert not re.findall(r"(?:src|href)=\"(?!#)|url\(", page)
    sizes = placed.dossier().public.places.sizes
    assert sum(sizes) == 120
    assert min(sizes) >= 8


def test_other_k_is_scaled_by_the_losses_of_mdav(people, release):
    result = release.dossier().inside.other_k
    output = dict(result.points)
    assert output[6] == pytest.approx(release.information_loss)
    assert result.records == 240
    X = vr.standardize(people.select(KEYS).to_numpy())
    loss = {k: vr.information_loss(X, vr.microaggregate(X, k=k, method="mdav")) for k in (2, 6, 20)}
    for k in (2, 20):
        assert output[k] / output[6] == pytest.approx(loss[k] / loss[6], rel=1e-6)
    assert "you are here: k = 6" in render(release)


def test_other_k_takes_a_sample_of_many(release):
    X = vr.standardize(np.random.default_rng(0).normal(size=(3 * MOST_RECORDS, 2)))
    result = other_k(Problem.of(X, 5).records, 5, 1.0, Context())
    assert result.records == MOST_RECORDS
    assert dict(result.points)[5] == pytest.approx(1.0)
    assert [loss for _, loss in result.points] == sorted(loss for _, loss in result.points)
    assert other_k(Problem.of(X[:8], 5).records, 5, 1.0, Context()) is None
    del release


def test_what_was_certain_before_is_counted(people):
    steps = zip(KEYS, (10, 10, 1000), strict=True)
    coarse = people.with_columns((pl.col(name) / size).round() * size for name, size in steps)
    result = vr.anonymize(coarse, keys=KEYS, confidential=["ill"], k=6, method="mdav").dossier()
    groups = coarse.group_by(KEYS).agg(pl.len().alias("n"), pl.col("ill").n_unique().alias("values"))
    certain = groups.filter(pl.col("values") == 1)["n"].sum() / len(coarse)
    assert 0 < certain < 1
    (single,) = result.inside.disclosed
    assert single.before == pytest.approx(certain)
    assert single.usual == pytest.approx(coarse["ill"].value_counts()["count"].max() / len(coarse))


def test_every_figure_has_a_table_and_tells_its_values_on_hover(release, placed):
    for page in (render(release), render(release, audience="public"), render(placed)):
        assert len(page.encode()) < 500_000
        assert "<script" not in page
        for part in re.findall(r'<section id="[^"]+" class="part.*?</section>', page, re.S):
            if '<svg class="fig"' in part:
                assert "<table" in part, part[:60]
    page = render(release)
    for anchor in ("loss", "other-k", "known", "risk", "sizes", "statistics", "distributions"):
        part = page[page.index(f'id="{anchor}"') :]
        assert "><title>" in part[: part.index("</section>")].split("</desc>", 1)[1], anchor


def test_all_but_the_first_page_is_an_annex_with_contents(release):
    page = body(render(release))
    contents, folded = (
        re.findall(r'href="#([\w-]+)"', re.search(rf'<nav class="{name}".*?</nav>', page, re.S)[0])
        for name in ("contents", "folded")
    )
    assert contents == folded
    front, annex = page.split('<h2 id="annex">')
    assert re.findall(r'<section id="([^"]+)"', annex) == contents
    assert 'class="signature"' in front
    assert "<svg class" not in front
    start = annex.index('<div id="specialists">')
    assert "nats" in annex[start:]
    assert "nats" not in annex[:start]
    assert "pMSE" not in front + annex[:start]
    public = body(render(release, audience="public"))
    assert 'class="signature"' not in public
    assert "not published key by key" in public


def test_the_first_page_has_the_figures_of_the_annex(release):
    front = body(render(release)).partition('<h2 id="annex">')[0]
    inside = release.dossier().inside
    for loss in inside.losses:
        assert f'<th scope="row">{loss.key}</th><td>{percent(loss.published)}</td>' in front
    for change in inside.changes:
        if change.distance is not None:
            assert f"<td>{amount(change.distance)}{change.unit}</td>" in front
    for finding in release.findings:
        assert f'<th scope="row">{finding.model}</th>' in front


def test_a_comparison_of_many_methods_can_be_read():
    names = [f"method-{i}" for i in range(24)]
    rows = [
        Row(name, k, k + i / 7, 0.1 / k, 0.0, 0.2, 9, 9, 0.1) for i, name in enumerate(names) for k in (3, 5)
    ]
    result = Comparison(tuple(rows), {}, 100, ("age",))
    drawn = result.plot().svg
    at = {
        name: float(y)
        for y, name in re.findall(r'y="([\d.]+)"[^>]*><title>[^<]*</title>(method-\d+)<', drawn)
    }
    assert sorted(at) == sorted(names)
    places = sorted(at.values())
    assert min(b - a for a, b in pairwise(places)) >= 12
    for name in names:
        assert f"{name}, k = 5: " in drawn
    page = render_comparison(result)
    assert "others" in page[page.index('id="map"') :]
    assert len(page.encode()) < 500_000


def test_notebooks_get_pictures_that_stand_alone(release, placed):
    for made in (release.plot(), release.plot("loss"), release.plot("other-k"), placed.plot("map")):
        root = ElementTree.fromstring(made._repr_svg_())  # noqa: S314 - our own
        assert root.tag.endswith("svg")
        assert "--after" in made._repr_html_()
        assert "Plot(" in repr(made)
    with pytest.raises(InputError, match=r"no figure called 'lost'.*loss"):
        release.plot("lost")
    result = vr.compare(vr.datasets.hospital(60), keys=["age", "sex"], k=[3, 5], methods=["mdav", "md"])
    ElementTree.fromstring(result.plot("map")._repr_html_())  # noqa: S314 - our own
    with pytest.raises(InputError, match="there are: loss, map"):
        result.plot("x")


def test_a_picture_can_be_kept(release, tmp_path):
    kept = release.plot("sizes").save(tmp_path / "sizes.svg")
    assert kept.read_text(encoding="utf-8").startswith("<svg")
