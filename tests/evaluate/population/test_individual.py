"""Individual risk against numerical integration, and what follows from it."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.stats import nbinom

import voronym as vr
from voronym.errors import InputError
from voronym.privacy.individual import household_risk, match_probability


@pytest.mark.parametrize("f", [1, 2, 3, 7, 30, 59, 60, 200])
@pytest.mark.parametrize("p", [0.002, 0.05, 0.3, 0.499, 0.5, 0.75, 0.999])
def test_equals_the_integral_over_the_posterior(f, p):
    """E[1/F] = sum over F of 1/F NegBin(F; f, p) = integral of E[t^F] / t, integrated by adaptive steps."""
    # The mass of t^(f-1) (p / (1 - (1-p) t))^f lies near 1, so the interval is cut there.
    cut = [1 - p, 1 - p / f] if p < 0.1 else None
    moment = lambda t: t ** (f - 1) * (p / (1 - (1 - p) * t)) ** f  # noqa: E731 - E[t^F] / t
    generating = quad(moment, 0, 1, epsabs=0, epsrel=1e-10, limit=500, points=cut)
    outside = np.arange(int((f + 60 * f**0.5) / p) + 5000)
    summed = (nbinom.pmf(outside, f, p) / (outside + f)).sum()
    result = match_probability([f], [p])[0]
    assert result == pytest.approx(generating[0], rel=1e-8)
    assert result == pytest.approx(summed, rel=1e-10)


def test_limits():
    assert match_probability([1, 4], [1.0, 1.0]).tolist() == [1.0, 0.25]  # everybody is in the sample
    assert match_probability([3], [7.0]) == pytest.approx(1 / 3)  # weights below 1
    rates = np.linspace(0.001, 1, 400)
    for f in (1, 5, 70):
        risks = match_probability(np.full(400, f), rates)
        assert np.all(np.diff(risks) > 0)
        assert np.all((risks > 0) & (risks <= 1 / f + 1e-15))
        assert np.all(risks >= 1 / (f / rates) - 1e-15)  # Jensen: at least 1 / E[F]


def test_each_record_has_the_risk_of_its_class():
    rng = np.random.default_rng(1)
    survey = pl.DataFrame(
        {
            "a": rng.integers(0, 6, 300),
            "b": rng.integers(0, 9, 300),
            "w": rng.uniform(2, 40, 300),
            "h": rng.integers(0, 99, 300),
        }
    )
    result = vr.population_risk(survey, keys=["a", "b"], weights="w", household="h", threshold=0.05)
    sizes, sums = Counter(), Counter()
    for a, b, w, _ in survey.rows():
        sizes[a, b] += 1
        sums[a, b] += w
    wanted = []
    for a, b, _, _ in survey.rows():
        f = sizes[a, b]
        p = f / sums[a, b]
        outside = np.arange(20_000)
        wanted.append((nbinom.pmf(outside, f, p) / (outside + f)).sum())
    assert result.risks == pytest.approx(wanted)
    assert result.matches.expected == pytest.approx(sum(wanted))
    assert result.matches.at_risk == sum(r > 0.05 for r in wanted)
    assert result.population == pytest.approx(survey["w"].sum())
    kept = {}
    for home, r in zip(survey["h"].to_list(), wanted, strict=True):
        kept[home] = kept.get(home, 1.0) * (1 - r)
    assert result.households.number == len(kept)
    assert result.households.expected == pytest.approx(sum(1 - q for q in kept.values()))
    assert result.households.greatest == pytest.approx(max(1 - q for q in kept.values()))
    low, high = result.matches.interval
    assert low < result.matches.expected < high


def test_a_household_with_somebody_certain_is_certain():
    assert household_risk(np.array([1.0, 0.2, 0.0]), np.array([0, 0, 1])).tolist() == [1.0, 0.0]


def test_a_fraction_is_equal_weights():
    rng = np.random.default_rng(2)
    survey = pl.DataFrame({"a": rng.integers(0, 80, 200), "w": np.full(200, 25.0)})
    first = vr.population_risk(survey, keys=["a"], weights="w").to_dict()
    second = vr.population_risk(survey, keys=["a"], sampling_fraction=0.04).to_dict()
    assert first.pop("basis") == "weights"
    assert second.pop("basis") == "sampling fraction"
    for name in ("matches", "uniques", "rule"):
        assert str(first[name]) == str(second[name])


def test_a_known_population_is_counted():
    rng = np.random.default_rng(5)
    everybody = pl.DataFrame({"a": rng.integers(0, 40, 3000), "b": rng.integers(0, 40, 3000)})
    survey = everybody[rng.choice(3000, 400, replace=False).tolist()]
    result = vr.population_risk(survey, keys=["a", "b"], population=everybody)
    here, there = Counter(survey.rows()), Counter(everybody.rows())
    assert result.risks == pytest.approx([1 / there[row] for row in survey.rows()])
    alone = [row for row in survey.rows() if here[row] == 1]
    assert result.known == {
        "sample_uniques": len(alone),
        "population_uniques": sum(there[row] == 1 for row in alone),
        "absent": 0,
    }
    assert result.uniques == ()
    strangers = vr.population_risk(survey, keys=["a", "b"], population=everybody.filter(pl.col("a") > 0))
    assert strangers.known["absent"] == sum(a == 0 for a, _ in survey.rows())
    assert "coded otherwise" in str(strangers)


def test_what_cannot_be_is_refused():
    survey = pl.DataFrame({"a": [1, 2], "w": [3.0, None], "zero": [1.0, 0.0], "text": ["x", "y"]})
    for wrong, words in (
        ({}, "none is given"),
        ({"weights": "w", "sampling_fraction": 0.1}, "more than one are given"),
        ({"weights": "w"}, "missing in 1 of 2 rows"),
        ({"weights": "zero"}, "not above 0 in 1 of 2 rows"),
        ({"weights": "text"}, "are no numbers"),
        ({"weights": "a"}, "named as key and as weights"),
        ({"weights": "b"}, "no column 'b'"),
        ({"sampling_fraction": 0.1, "household": "w"}, "missing in 1 of 2 rows"),
        ({"sampling_fraction": 0.1, "threshold": 2.0}, "from 0 to 1"),
        ({"sampling_fraction": 0.0}, "above 0 and at most 1"),
        ({"population": survey.drop("a")}, "no column 'a'"),
    ):
        with pytest.raises(InputError, match=words):
            vr.population_risk(survey, keys=["a"], **wrong)


def test_weights_below_one_count_as_one_and_nothing_personal_is_told():
    survey = pl.DataFrame({"town": ["secret", "b", "b"], "w": [0.5, 4.0, 4.0]})
    result = vr.population_risk(survey, keys=["town"], weights="w")
    assert result.matches.greatest == 1.0
    assert "1 of 3 weights are below 1" in str(result)
    assert "secret" not in str(result) + repr(result) + str(result.to_dict())
    assert "risks" not in result.to_dict()


def test_weights_below_one_count_as_one_in_the_sums():
    survey = pl.DataFrame({"town": ["a", "a", "b"], "w": [0.25, 3.0, 9.0]})
    result = vr.population_risk(survey, keys=["town"], weights="w")
    whole = vr.population_risk(survey.with_columns(w=pl.Series([1.0, 3.0, 9.0])), keys=["town"], weights="w")
    assert result.population == whole.population == 13.0
    assert result.risks.tolist() == whole.risks.tolist()


def test_a_person_has_the_greatest_risk_of_their_rows():
    """In a class of three, of one and of two people of the population: whichever row comes first."""
    people = pl.DataFrame({"town": list("aaabcc")})
    for towns in ("abc", "bac", "acb"):
        rows = pl.DataFrame({"town": list(towns), "who": ["one"] * 3})
        result = vr.population_risk(rows, keys=["town"], population=people, person="who")
        assert result.risks.tolist() == [1.0]


def test_whom_the_population_lacks_hides_among_the_records():
    survey = pl.DataFrame({"town": list("abbb")})
    result = vr.population_risk(survey, keys=["town"], population=pl.DataFrame({"town": list("aac")}))
    assert result.risks == pytest.approx([1 / 2, 1 / 3, 1 / 3, 1 / 3])
    assert result.known["absent"] == 3


@pytest.mark.parametrize(
    ("weights", "warned"), [([10.0, 11.0, 12.0, 9.0], False), ([2.0, 2.0, 2.0, 90.0], True)]
)
def test_weights_that_differ_much_are_warned_of(weights, warned):
    survey = pl.DataFrame({"town": list("aabb"), "w": weights})
    result = vr.population_risk(survey, keys=["town"], weights="w")
    assert any("weights differ much" in note for note in result.notes) == warned
