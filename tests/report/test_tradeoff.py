"""The plane of loss and risk in the release's report and on the comparison's page."""

import re

import polars as pl
import pytest

import voronym as vr
from voronym.report import render, render_comparison
from voronym.report.curves import Dot, Line, risk_plane
from voronym.table import Table


def section(page):
    match = re.search(r'<section id="told".*?</section>', page, re.S)
    return match and match.group(0)


@pytest.fixture
def mixed(patients):
    table = patients.select("age").with_columns(
        ill=pl.when(pl.col("age") > 60).then(pl.lit("heart")).otherwise(pl.lit("lung")),
        cost=pl.col("age").cast(pl.Float64) * 10,
    )
    return table.filter(pl.col("age").is_not_null())


def test_the_release_stands_in_the_plane_of_its_worst_column(mixed, make_release):
    release = make_release(mixed, keys=["age"], confidential=["ill", "cost"])
    result = section(render(release))
    measured = vr.MutualInformation().measure(Table.of(release.table, release.schema))
    columns = measured.detail["columns"]
    worst = max(columns, key=lambda name: columns[name]["value"])
    assert f"What the keys tell about {worst}" in result
    for name in columns:  # the table as it was published, counted apart
        assert f">{columns[name]['nats']:.3f}<" in result
    assert result.count("this release") >= 2
    assert "keys unchanged" in result
    assert "one record for all" in result


def test_no_confidential_column_no_section_and_none_in_public(mixed, make_release):
    plain = make_release(mixed.select("age"), keys=["age"])
    assert section(render(plain)) is None
    whole = make_release(mixed, keys=["age"], confidential=["ill", "cost"])
    assert section(render(whole, audience="public")) is None


def test_labels_have_no_normal_curve_and_the_page_says_why(mixed, make_release):
    ill = section(render(make_release(mixed.drop("cost"), keys=["age"], confidential=["ill"])))
    assert "has no order" in ill
    assert 'class="nd"' not in ill


def test_the_comparison_draws_points_intervals_and_limits(mixed):
    noisy = mixed.with_columns(cost=(pl.col("age") * 37 + pl.int_range(pl.len()) * 101) % 997)
    result = vr.compare(
        noisy,
        keys=["age"],
        k=[3, 9],
        methods=["mdav", "md"],
        confidential=["cost"],
        risk="mutual-information",
    )
    page = section(render_comparison(result))
    assert page.count('class="iv ') == len(result.rows) == 4
    assert 'class="re"' in page
    for row in result.rows:
        assert f">{row.information.plug_in:.3f}<" in page
    without = vr.compare(noisy, keys=["age"], k=3, methods=["mdav"])
    assert section(render_comparison(without)) is None


def test_lines_are_cut_at_the_borders_of_the_plane():
    drawn = risk_plane(
        {"a": [Dot(5.0, 0.2)]},
        [Line("limit", "re", [(0.0, 2.0), (10.0, 0.0), (50.0, 0.0)])],
        title="t",
        desc="",
        limits=(20.0, 1.0),
    )
    numbers = re.search(r'<path class="re" d="M([^"]*)"', drawn).group(1)
    points = [tuple(map(float, pair.split())) for pair in numbers.split("L")]
    assert all(22 - 0.1 <= y <= 262.1 and x <= 368.1 for x, y in points)
    assert points[0][1] == pytest.approx(22.0)  # enters at the top, half way to 10 %
    assert points[0][0] == pytest.approx((points[1][0] + _origin(drawn)) / 2, abs=0.2)


def _origin(drawn):
    axis = re.search(r'<line class="ax" x1="([\d.]+)"', drawn).group(1)
    return float(axis) + 2
