"""The risk in the population, in dossier and report: against figures computed here, without the library's."""

import json
import pickle
import warnings
from collections import Counter

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad

import voronym as vr
from voronym.core.context import Context
from voronym.dossier import dossier
from voronym.dossier.population import in_population, outlook
from voronym.errors import Cancelled, InputError
from voronym.report import render

KEYS = ["age", "sex", "region"]
ROLES = {"keys": KEYS, "other": ["weight"], "household": "hid", "k": 3, "method": "mdav"}


def country(n=3000):
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "hid": np.arange(n) // 3,
            "age": rng.integers(15, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice([f"region {i}" for i in range(12)], n),
        }
    )


@pytest.fixture(scope="module")
def people():
    return country()


@pytest.fixture(scope="module")
def survey(people):
    rng = np.random.default_rng(6)
    asked = people.filter(pl.Series(rng.random(len(people)) < 0.1))
    return asked.with_columns(weight=pl.Series(np.round(rng.uniform(5, 15, len(asked)), 1)))


def made(frame, **message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(frame, **{**ROLES, **message})


@pytest.fixture(scope="module")
def weighted(survey):
    return made(survey, weights="weight")


def parts(release):
    """Return what a dossier would hold of it, without all else."""
    inside = in_population(release.recipe, release._evidence, release.unnamed, Context())
    return inside, outlook(release.unnamed, release.recipe, Context())


def chances(rows, weights):
    """Return each record's chance of a correct match: the integral of Benedetti and Franconi."""
    sizes, sums = Counter(rows), Counter()
    for row, weight in zip(rows, weights, strict=True):
        sums[row] += weight
    known = {}
    for row, f in sizes.items():
        p = f / sums[row]
        known[row] = p * quad(lambda u, p=p, f=f: u ** (f - 1) / (p + (1 - p) * u), 0, 1)[0]
    return [known[row] for row in rows]


def found_homes(chance, homes):
    out = {}
    for single, home in zip(chance, homes, strict=True):
        out[home] = out.get(home, 1.0) * (1 - single)
    return {home: 1 - missed for home, missed in out.items()}


def test_before_and_after_are_those_of_the_two_tables(weighted, survey):
    result = weighted.dossier().inside.population
    back = np.argsort(weighted._evidence.order).tolist()
    released = weighted.table[back]
    for frame, figures in ((survey, result.before), (released, result.after)):
        chance = chances(frame.select(KEYS).rows(), survey["weight"])
        assert figures.matches.expected == pytest.approx(sum(chance), rel=1e-9)
        assert figures.matches.greatest == pytest.approx(max(chance), rel=1e-9)
        homes = found_homes(chance, survey["hid"])
        assert figures.households.expected == pytest.approx(sum(homes.values()), rel=1e-9)
        assert figures.households.number == len(homes)
        own = [homes[home] for home in survey["hid"]]
        assert figures.members.expected == pytest.approx(sum(own), rel=1e-9)
        assert figures.members.greatest == pytest.approx(max(own), rel=1e-9)
        spread = sum(
            many**2 * homes[home] * (1 - homes[home]) for home, many in Counter(survey["hid"]).items()
        )
        low, high = figures.members.interval
        assert (high - low) / 2 == pytest.approx(1.96 * spread**0.5, rel=1e-9)
    assert result.after.matches.expected < 0.5 * result.before.matches.expected
    rows = Counter(survey.select(KEYS).rows())
    assert result.unique == (sum(many == 1 for many in rows.values()), 0)
    assert result.special[1] == 0
    without = Counter(survey.select("sex", "region").rows())
    shares = {column.key: column for column in result.columns}
    assert shares["age"].unique_without == sum(many == 1 for many in without.values())
    assert shares["age"].score == vr.suda(survey, keys=KEYS).contribution["age"]


def test_a_population_hides_a_group_by_the_originals_of_its_records(survey, people, tmp_path):
    file = tmp_path / "people.csv"
    people.write_csv(file)
    release = made(survey, population=str(file))
    result = release.dossier().inside.population
    everybody = Counter(people.select(KEYS).rows())
    own = survey.select(KEYS).rows()
    assert result.before.matches.expected == pytest.approx(sum(1 / everybody[row] for row in own))
    back = np.argsort(release._evidence.order).tolist()
    groups = release.table[back].select(KEYS).rows()
    hidden = {}
    for group, row in zip(groups, own, strict=True):
        hidden.setdefault(group, set()).add(row)
    crowd = {group: sum(everybody[row] for row in rows) for group, rows in hidden.items()}
    assert result.after.matches.expected == pytest.approx(sum(1 / crowd[group] for group in groups))
    assert min(crowd.values()) >= 3
    assert release.dossier().public.population is None  # a release alone does not say whom the file had
    file.unlink()
    assert pickle.loads(pickle.dumps(release)).dossier().public.population is None  # noqa: S301 - our own
    assert "people.csv" in json.dumps(release.dossier().to_dict()["public"])
    assert str(tmp_path) not in json.dumps(release.dossier().to_dict()["public"])


def test_each_way_to_say_it_is_heard(survey, tmp_path):
    plain = made(survey, household=None, drop_undeclared=True)
    assert parts(plain) == (None, None)
    for text, basis in (
        ({"sampling_fraction": 0.1}, "sampling fraction"),
        ({"sampling_fraction": "10%"}, "sampling fraction"),
        ({"models": ["k-map=20,weights=weight"]}, "weights"),
    ):
        release = made(survey, household=None, drop_undeclared=True, **text)
        inside, public = parts(release)
        assert (inside.before.basis, public.basis) == (basis, basis)
        assert inside.before.households is None
    for text, sentence in (
        ({"sampling_fraction": 0}, "sampling_fraction must be a number, above 0, 1 at most"),
        ({"sampling_fraction": "many"}, "sampling_fraction must be a number"),
        ({"population": str(tmp_path / "no.csv")}, "population must be a file"),
    ):
        with pytest.raises(InputError, match=sentence):
            made(survey, **text)


def test_people_with_several_rows_count_once_in_a_class(survey):
    twice = pl.concat([survey, survey]).with_columns(pid=pl.Series([*range(len(survey))] * 2))
    roles = {"household": None, "person": "pid", "drop_undeclared": True, "allow_unit_columns": ["weight"]}
    once = made(survey, household=None, drop_undeclared=True, sampling_fraction=0.1)
    both = made(twice, **roles, sampling_fraction=0.1)
    first, second = (parts(item)[0].before for item in (once, both))
    assert second.matches == first.matches
    assert second.population == pytest.approx(first.population)
    assert any("several rows belong to one person" in note for note in second.notes)
    assert parts(both)[1].expected == pytest.approx(parts(both)[0].after.matches.expected)
    again = pickle.loads(pickle.dumps(both))  # noqa: S301 - our own
    assert outlook(again.unnamed, again.recipe, Context()) is None  # it no longer knows whose rows are whose
    frame = twice.drop("hid", "weight")
    assert vr.population_risk(frame, keys=KEYS, sampling_fraction=0.1, person="pid").matches == first.matches


def test_the_public_part_has_sums_alone_and_needs_no_originals(weighted):
    public = weighted.dossier().public
    assert public.population.expected == pytest.approx(
        weighted.dossier().inside.population.after.matches.expected
    )
    again = pickle.loads(pickle.dumps(weighted))  # noqa: S301 - our own
    assert again.dossier().public == public
    output = weighted.dossier().to_dict()["public"]["population"]
    assert set(output) == {
        "records", "population", "fraction", "basis", "expected", "interval", "mean", "assumption"
    }  # fmt: skip
    page = render(weighted, audience="public")
    assert "Risk in the population" in page
    for word in ("before", "SUDA", "singled out", "Pitman", "households"):
        assert word not in page.partition('id="population"')[2].partition("</section>")[0]


def test_the_report_says_what_is_assumed_and_where_the_fit_is_poor(weighted):
    result = weighted.dossier().inside.population
    page = render(weighted)
    section = page.partition('id="population"')[2].partition("</section>")[0]
    assert result.before.matches.assumption in section
    for unique in result.before.uniques:
        assert unique.assumption.replace("'", "&#39;") in section
        assert unique.warning.replace("'", "&#39;") in section
    for key in KEYS:
        assert f'<th scope="row">{key}</th>' in section


def test_the_long_parts_hear_a_cancel(weighted):
    stages = []

    def stop(step):
        stages.append(step.done)
        if step.done > 0.87:  # within the risk in the population
            ctx.cancel()

    ctx = Context(progress=stop)
    with pytest.raises(Cancelled):
        dossier(weighted, ctx)
    assert stages[-1] < 0.93
