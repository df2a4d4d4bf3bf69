"""The report on real releases, made by `anonymize`."""

import polars as pl
import pytest

import voronym as vr
from voronym.report import render, render_comparison

KEYS = ["age", "sex", "zip", "nationality", "admitted", "weight"]


@pytest.fixture(scope="module")
def patients():
    return vr.datasets.hospital(300, seed=4)


def anonymize(frame, **options):
    roles = {
        "keys": KEYS,
        "confidential": ["diagnosis", "days", "cost"],
        "identifiers": ["name", "patient_id"],
    }
    return vr.anonymize(frame, **{**roles, "k": 5, "method": "mdav", **options})


def test_report_files(patients, tmp_path):
    release = anonymize(patients)
    inside = release.report(tmp_path / "in.html").read_text(encoding="utf-8")
    outside = release.report(tmp_path / "out.html", audience="public").read_text(encoding="utf-8")
    assert "Every combination of keys is shared by at least 5 records." in inside
    assert "Every combination of keys is shared by at least 5 records." in outside
    assert "interval" in inside
    assert len(outside) < len(inside) < 300_000


def test_the_public_page_needs_no_originals(patients):
    release = anonymize(patients)
    with_originals = render(release, audience="public")
    release._evidence = None
    assert render(release, audience="public") == with_originals


def test_the_public_page_does_not_name_the_file_of_the_originals(patients, tmp_path):
    patients.write_csv(tmp_path / "ward-seven.csv")
    release = vr.anonymize(
        tmp_path / "ward-seven.csv", keys=["age", "sex"], drop_undeclared=True, k=5, method="mdav"
    )
    assert "ward-seven" in render(release)
    assert "ward-seven" not in render(release, audience="public")


def test_public_page_has_no_identifier_and_no_planted_value(patients):
    marked = patients.with_columns(
        pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("SECRETZIP")).otherwise(pl.col("zip")).alias("zip"),
        pl.when(pl.int_range(pl.len()) == 9).then(pl.lit(7654.3)).otherwise(pl.col("weight")).alias("weight"),
        pl.format("SECRETNAME{}", pl.col("name")).alias("name"),
    )
    release = anonymize(marked)
    outside, inside = render(release, audience="public"), render(release)
    assert "SECRET" not in outside
    assert "7654.3" not in outside
    for name in patients["patient_id"].head(50):
        assert name not in outside
        assert name not in inside


def test_locations_and_times(patients):
    frame = patients.select("age").with_columns(
        lat=41 + pl.col("age") / 100,
        lon=2 + pl.col("age") / 90,
        at=pl.datetime(2024, 1, 1) + pl.duration(hours="age"),
    )
    release = vr.anonymize(
        frame, keys=["age", "lat", "lon", "at"], locations=[("lat", "lon")], k=4, method="mdav"
    )
    for audience in ("internal", "public"):
        page = render(release, audience=audience)
        assert "<h3>lat</h3>" in page
        assert "<h3>at</h3>" in page


def test_comparison_of_real_methods(patients):
    result = vr.compare(patients, keys=["age", "sex"], k=[3, 5], methods=["mdav", "md"])
    page = render_comparison(result)
    assert f"{result.best(5).loss:.2f}\u202f%" in page


@pytest.mark.filterwarnings("ignore:.*made missing")
@pytest.mark.parametrize(
    ("how", "centred"),
    [
        ({"method": "mdav"}, "Replaced each key by the centre of its group"),
        ({"method": "local-suppression"}, None),
        ({"method": "mdav", "publish": "interval"}, None),
        ({"method": "local-suppression", "strata": ["sex"]}, None),
        (
            {"blocks": ["sex: local-suppression", "age: mdav"], "method": "auto"},
            "Replaced age by the centre of",
        ),
    ],
)
def test_what_was_done_is_said_of_what_was_done(patients, how, centred):
    made = vr.anonymize(patients, keys=["age", "sex"], drop_undeclared=True, k=5, seed=0, **how)
    page = " ".join(render(made, audience="public").split())
    assert ("by the centre of" in page) == (centred is not None)
    assert centred is None or centred in page
