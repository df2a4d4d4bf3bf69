"""Pages about methods that make no cells: what they promise, and what the public one must not tell."""

import csv
import dataclasses
import html
import io
import json
import re
import warnings
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import voronym as vr
from report.test_html import check
from voronym.core.context import Context
from voronym.core.figures import Figures
from voronym.dossier import dossier, methods, planes, public_of
from voronym.dossier.parts import ShiftMap
from voronym.method import METHODS, table_method
from voronym.report import maps, render
from voronym.result import Masked

KEYS = ["age", "sex", "zip", "nationality", "admitted", "weight"]


def anonymize(frame, **options):
    roles = {"confidential": ["diagnosis"], "drop_undeclared": True, "keys": KEYS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(frame, **{**roles, **options})


@pytest.fixture(scope="module")
def patients():
    return vr.datasets.hospital(240, outliers=3, seed=4).with_columns(
        pl.when(pl.int_range(pl.len()) == 9).then(pl.lit(7654.3)).otherwise(pl.col("weight")).alias("weight"),
    )


@pytest.fixture(scope="module")
def stirred(patients):
    return anonymize(patients, method="records", options={"despite_loss": True, "m": 4}, seed=11)


@pytest.fixture(scope="module")
def noisy(patients):
    return anonymize(patients, method="channel", options={"max_distortion": 0.3}, seed=11)


@pytest.fixture(scope="module")
def pages(stirred, noisy):
    """Each page once."""
    return {
        (name, audience): render(release.dossier(), audience=audience)
        for name, release in (("stirred", stirred), ("noisy", noisy))
        for audience in ("internal", "public")
    }


def words(page):
    """Return a page's text without its style sheet."""
    return html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", page, flags=re.S)))


def section(page, name):
    match = re.search(rf'<section id="{name}".*?</section>', page, re.S)
    return match.group(0) if match else ""


@pytest.mark.parametrize("audience", ["internal", "public"])
@pytest.mark.parametrize("made", ["stirred", "noisy"])
def test_pages_are_whole(made, audience, pages):
    page = pages[made, audience]
    result = check(page)
    inside = {"stirred": {"plane", "sizes", "epsilon", "changed", "kept", "told"}, "noisy": {"loss", "told"}}
    open_to_all = {"stirred": {"risk", "changed", "kept"}, "noisy": {"rules", "noise", "matrices"}}
    wanted = inside[made] | open_to_all[made] if audience == "internal" else open_to_all[made]
    assert wanted | {"distributions", "repeat", "limits"} <= set(result.ids)
    assert page.count("<table") >= page.count('<div class="panel">') / 2 + 5
    assert len(page) < 400_000


def test_the_first_sentence_is_the_promise_and_says_that_it_is_no_k(stirred, noisy, pages):
    smallest = stirred.figures.clusters_after.smallest
    assert smallest > 4
    for audience in ("internal", "public"):
        text = words(pages["stirred", audience])
        assert f"finds their record with a chance of at most 1 in {smallest}." in text
        assert "This is not k-anonymity" in text
        assert "at least 1 record" not in text
        text = words(pages["noisy", audience])
        assert f"{noisy.figures.risk:.3g} nats." in text
        assert "This is not k-anonymity" in text
        assert "together the keys may tell more than the sum" in text


def test_keys_that_are_left_alone_take_the_promise_away(patients):
    release = anonymize(
        patients, method="records", options={"despite_loss": True, "shuffle": ["age"], "flatten": ["zip"]}
    )
    for audience in ("internal", "public"):
        text = words(render(release, audience=audience))
        assert "chance of at most" not in text
        assert "promised" not in re.sub("What this report does not promise", "", text).split("attack")[0]
        assert "can tell them apart" in text
        assert "no limit is promised" in text


def test_flattened_keys_are_k_anonymous_and_the_page_says_so(patients):
    release = anonymize(patients, method="records", options={"despite_loss": True, "flatten": KEYS})
    assert release.risk.k >= release.figures.clusters_after.smallest > 4
    for audience in ("internal", "public"):
        text = words(render(release, audience=audience))
        assert text.count(f"Every combination of keys is shared by at least {release.risk.k} records.") == 1
        assert "not k-anonymity" not in text


@pytest.mark.parametrize("made", ["stirred", "noisy"])
def test_the_public_page_needs_no_originals_and_tells_nothing_of_them(made, request, patients, pages):
    release = request.getfixturevalue(made)
    page = pages[made, "public"]
    kept, release._evidence = release._evidence, None
    try:
        assert render(dossier(release), audience="public") == page
        assert "The originals are not in memory" in render(dossier(release))
    finally:
        release._evidence = kept
    text = words(page)
    assert "7654" not in text.replace(",", "")  # the outlier's weight, or a range that ends with it
    assert not any(name in text for name in patients["name"])
    assert "drawn from the given seed" not in text
    assert "seed = 11" not in text
    assert "drawn from the given seed" in words(pages[made, "internal"])
    assert "seed = 11" in words(pages[made, "internal"])


def test_public_figures_are_chosen_and_not_merely_trimmed(stirred, noisy, pages):
    options, schema = stirred.recipe.options, stirred.schema
    output = json.dumps(stirred.dossier().to_dict()["public"])
    for name in ("clusters_before", "curve", "centroid_shift", "intact", "epsilon", "distinct", "repaired"):
        assert f'"{name}"' not in output
    assert "7654" not in output
    result = public_of(stirred, Context()).stirred
    assert methods.stirred_of(stirred.figures, options, schema) == result
    assert result.linkage == stirred.figures.linkage.after
    output = json.dumps(noisy.dossier().to_dict()["public"])
    assert not {"joint", "codes", "seed"} & set(re.findall(r'"(\w+)":', output))
    assert "ε" not in words(pages["stirred", "public"])
    assert "ε" in words(pages["stirred", "internal"])


def test_hierarchies_and_folders_stay_inside(patients, tmp_path):
    tree = tmp_path / "zips.csv"
    tree.write_text(
        "\n".join(f"{code};SECRETREGION{code[:2]};*" for code in patients["zip"].unique()), encoding="utf-8"
    )
    sexes = {"male": ["SECRETPARENT", "*"], "female": ["SECRETPARENT", "*"], "SECRETSEX": ["x", "*"]}
    release = anonymize(
        patients,
        method="records",
        metrics={"zip": f"taxonomy={tree}", "sex": sexes},
        options={"despite_loss": True, "m": 3},
    )
    assert release.figures.columns["zip"].metric == "taxonomy"
    page = render(release, audience="public")
    assert "SECRET" not in page
    assert str(tmp_path) not in page
    assert "taxonomy=zips.csv" in words(page)
    assert "SECRETSEX" in words(render(release))  # the data holder's recipe is whole


def test_a_value_that_only_an_outlier_had_is_gone(patients):
    """With a limit on the zip code, the far-away one is changed: the public page cannot name it."""
    marked = patients.with_columns(
        pl.when(pl.int_range(pl.len()) == 7)
        .then(pl.lit("SECRETZIP"))
        .otherwise(pl.col("zip").str.head(2))
        .alias("zip")
    )
    release = anonymize(
        marked,
        keys=["age", "zip"],
        method="records",
        options={"despite_loss": True, "m": 4, "epsilon": {"zip": 0, "age": 15}},
    )
    assert "SECRETZIP" not in release.table["zip"].to_list()
    assert "SECRET" not in render(release, audience="public")
    assert "SECRETZIP" in render(release)


def test_figures_of_the_pages_are_those_of_the_release(stirred, pages):
    page = pages["stirred", "internal"]
    sizes = section(page, "sizes")
    for when in ("before", "after"):
        assert f">{getattr(stirred.figures, f'clusters_{when}').count:,}<" in sizes
    old, new = stirred.figures.linkage.before.value, stirred.figures.linkage.after.value
    assert old > new
    assert "promised: at most 20" in words(section(page, "risk"))
    changed = section(page, "changed")
    assert all(f">{name}<" in changed for name in KEYS)
    assert f"{stirred.figures.outliers} outliers" in words(page)
    # all that clusters tell: they, not single combinations, are what the keys lead to
    assert "and the cluster, to which the published keys lead," in words(section(page, "told"))


def test_keys_without_coordinates(stirred):
    kept = stirred._evidence
    stirred._evidence = dataclasses.replace(kept, coordinates=None, published_loss=None)
    try:
        page = render(dossier(stirred))
    finally:
        stirred._evidence = kept
    check(page)
    assert "by distances, first axis" in page
    assert 'id="told"' not in page
    assert 'id="changed"' in page


def test_a_key_with_an_edit_distance(patients):
    pytest.importorskip("rapidfuzz")
    release = anonymize(
        patients,
        keys=["age", "nationality"],
        method="records",
        metrics={"nationality": "edit"},
        options={"despite_loss": True},
    )
    for audience in ("internal", "public"):
        check(render(release, audience=audience))
    assert "nationality (edit)" in words(render(release, audience="public"))


def test_one_key_and_one_record_more_than_m():
    table = pl.DataFrame({"age": [30, 31, 32, 33, 90], "ill": ["a", "b", "a", "b", "a"]})
    for options in (
        {"method": "records", "options": {"m": 4, "despite_loss": True}},
        {"method": "channel", "options": {"max_distortion": 1.0}},
    ):
        release = anonymize(table, keys=["age"], confidential=["ill"], **options)
        for audience in ("internal", "public"):
            check(render(release, audience=audience))


def test_counts_can_be_corrected_with_the_public_matrix():
    """The matrix is read from the page as an analyst would, and undoes the draw within its stated errors."""
    rng = np.random.default_rng(3)
    n = 6000
    region = rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2]).astype("U10")
    ill = np.where(rng.random(n) < np.where(region == "west", 0.7, 0.2), "yes", "no")
    region[:12] = np.repeat(["SECRETISLE", "SECRETREEF", "SECRETROCK"], 4)
    table = pl.DataFrame({"region": region, "ill": ill})
    release = anonymize(
        table,
        keys=["region"],
        confidential=["ill"],
        method="channel",
        options={"max_distortion": 0.3},
        seed=5,
    )
    page = render(release, audience="public")
    text = next(
        html.unescape(result)
        for result in re.findall(r"<code>(.*?)</code>", section(page, "matrices"), re.S)
        if result.startswith("region,")
    )
    rows = list(csv.reader(io.StringIO(text)))
    letters = rows[0][1:]
    assert letters == [row[0] for row in rows[1:]] == ["north", "south", "west", "all others"]
    matrix = np.array([[float(value) for value in row[1:]] for row in rows[1:]])
    codes = np.array([letters.index(v) if v in letters else 3 for v in release.table["region"]])
    seldom = "leave out the last row" in words(section(page, "matrices"))  # as the rare ones are published
    result = vr.channel.recover(codes, matrix[:-1] if seldom else matrix)
    truth = np.array([(region == name).mean() for name in letters[:3]])
    published = np.array([(release.table["region"] == name).mean() for name in letters[:3]])
    assert np.abs(published - truth).max() > 0.01  # there is something to correct
    assert np.all(np.abs(result.shares[:3] - truth) < 4 * result.errors[:3] + 12 / n)
    assert "SECRET" not in section(page, "matrices")
    assert ("SECRET" in page) == any(value.startswith("SECRET") for value in release.table["region"])


@dataclass(frozen=True)
class SecretFigures(Figures):
    secret: int


def test_a_mask_of_somebodys_own_gets_a_page(patients):
    with pytest.raises(TypeError, match="derived from voronym"):
        Masked(None, {"secret": 7654})

    @table_method("upside-down", guarantee="rows are read backwards", cost="O(n)", reference="an example")
    def upside_down(table, ctx):
        """Turn the keys around."""
        del ctx
        frame = table.frame
        made = frame.with_columns(*(frame[name].sort(descending=True) for name in table.schema.keys))
        gone = [name for name in table.schema.identifiers if name in made.columns]
        return Masked(made.drop(*gone), SecretFigures(7654))

    try:
        release = anonymize(patients.drop("weight"), keys=["age"], method="upside-down")
        for audience in ("internal", "public"):
            page = render(release, audience=audience)
            check(page)
            assert "rows are read backwards" in page
            assert "7654" not in page
        assert "7654" in str(release.dossier().to_dict()["inside"])
    finally:
        METHODS.remove("upside-down")


def test_the_same_axes_before_and_after():
    before = np.array([[0.0, 0.0], [1.0, 1.0], [9.0, 9.0]])
    after = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    places = [tuple(map(tuple, table.tolist())) for table in (before, after)]
    result = ShiftMap(*places, (0, 0, 0), (2,), 3, 1, 1, ("a", "b"), (0.5, 0.5))
    drawn = maps.shift(result, words=("x", "y"), title="t")
    rings = re.findall(r'<circle class="x" cx="([\d.]+)" cy="([\d.]+)"', drawn)
    line = re.search(r'<line class="mv" x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)"', drawn)
    assert line.groups() == (*rings[0], *rings[1])  # from where it was to where it is
    assert rings[0] == ("368", "12")  # the far corner: right and up


def test_places_by_distance_keep_distances_of_the_plane():
    points = np.random.default_rng(0).normal(size=(12, 2))
    costs = np.linalg.norm(points[:, None] - points[None], axis=2)
    places, _ = planes.by_distance(costs)
    assert np.allclose(np.linalg.norm(places[:, None] - places[None], axis=2), costs)
