"""Worked examples of the papers, and tables small enough to compute by hand."""

import math

import numpy as np
import polars as pl
import pytest

from voronym.privacy import DeltaDisclosure, LDiversity, MutualInformation, PSensitive, TCloseness
from voronym.table import Table

# Li, Li and Venkatasubramanian, ICDE 2007, table 3: nine patients in three classes of three.
PATIENTS = pl.DataFrame(
    {
        "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476*"] * 3,
        "age": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
        "salary": [3000, 4000, 5000, 6000, 11000, 8000, 7000, 9000, 10000],
        "disease": [
            "gastric ulcer",
            "gastritis",
            "stomach cancer",
            "gastritis",
            "flu",
            "bronchitis",
            "bronchitis",
            "pneumonia",
            "stomach cancer",
        ],
    }
)
# Figure 1 of that paper: a taxonomy of diseases of height 3.
TREE = {
    "flu": ("respiratory infection", "respiratory", "any"),
    "pneumonia": ("respiratory infection", "respiratory", "any"),
    "bronchitis": ("respiratory infection", "respiratory", "any"),
    "pulmonary edema": ("vascular lung disease", "respiratory", "any"),
    "pulmonary embolism": ("vascular lung disease", "respiratory", "any"),
    "gastric ulcer": ("stomach disease", "digestive", "any"),
    "stomach cancer": ("stomach disease", "digestive", "any"),
    "gastritis": ("stomach disease", "digestive", "any"),
    "colitis": ("colon disease", "digestive", "any"),
    "colon cancer": ("colon disease", "digestive", "any"),
}


def look(model, native, keys=("zip", "age"), confidential=("salary",)):
    table = Table.build(native, keys=keys, confidential=confidential, drop_undeclared=True)
    return model.measure(table)


def judge(model, native, column):
    table = Table.build(native, keys=["zip"], confidential=[column], drop_undeclared=True)
    return model.judges(table)[0]


def test_salaries_of_the_t_closeness_paper():
    """Q = {3k, ..., 11k}; P1 = {3k, 4k, 5k} is 0.375 away, P2 = {6k, 8k, 11k} 0.167."""
    single = judge(TCloseness(0.2), PATIENTS, "salary")
    levels = {value: code for code, value in enumerate(single.levels.values)}

    def emd(*thousands):
        return single.value(np.array([levels[1000 * t] for t in thousands]))

    assert emd(3, 4, 5) == 0.375
    assert emd(6, 8, 11) == pytest.approx(1 / 6, abs=1e-15)
    result = look(TCloseness(0.375), PATIENTS)
    assert (result.value, result.holds) == (0.375, True)
    assert not look(TCloseness(0.374), PATIENTS).holds


def test_distances_of_the_taxonomy_in_the_t_closeness_paper():
    """Flu and bronchitis are 1/3 apart, flu and pulmonary embolism 2/3, flu and stomach cancer 1."""
    # A class of one person against a table of two: half of the mass travels.
    for other, far in (("bronchitis", 1 / 3), ("pulmonary embolism", 2 / 3), ("stomach cancer", 1.0)):
        pair = pl.DataFrame({"zip": ["a", "b"], "disease": ["flu", other]})
        first = judge(TCloseness(taxonomy=TREE), pair, "disease")
        assert first.value(np.array([0])) == pytest.approx(far / 2, abs=1e-15)


def test_hierarchical_distance_by_hand():
    # Of nine: stomach 5 (ulcer 1, cancer 2, gastritis 2), respiratory 4 (flu 1, bronchitis 2, pneumonia 1).
    # First class: ulcer, gastritis, cancer. Leaves: surplus 3/9-1/9 + 3/9-2/9 + 3/9-2/9 = 4/9; the same at
    # both heights above: 1 - 5/9 = 4/9. Mean over three heights: 4/9.
    result = look(TCloseness(taxonomy=TREE), PATIENTS, confidential=("disease",))
    assert result.value == pytest.approx(4 / 9, abs=1e-15)
    assert result.detail["columns"]["disease"]["distance"] == "hierarchical"
    # Second: gastritis, flu, bronchitis: leaves 1/9 + 2/9 + 1/9 = 4/9, above: 6/9 - 4/9 = 2/9 twice: 8/27.
    single = judge(TCloseness(taxonomy=TREE), PATIENTS, "disease")
    assert single.value(single.levels.codes[3:6]) == pytest.approx(8 / 27, abs=1e-15)


def test_total_variation_by_hand():
    # Shares of the first class: a third each on values of 1/9, 2/9, 2/9: (2 + 1 + 1) / 9.
    result = look(TCloseness(), PATIENTS, confidential=("disease",))
    assert result.value == pytest.approx(4 / 9, abs=1e-15)
    assert result.about == "disease, equal distance"


# Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam: the 4-anonymous and the 3-diverse inpatients.
HOMOGENEOUS = pl.DataFrame(
    {
        "zip": ["1485*"] * 4 + ["130** <30"] * 4 + ["130** 3*"] * 4,
        "ill": ["cancer", "heart", "viral", "viral", "heart", "heart", "viral", "viral", *["cancer"] * 4],
    }
)
DIVERSE = pl.DataFrame(
    {
        "zip": ["1305*"] * 4 + ["1485*"] * 4 + ["1306*"] * 4,
        "ill": [
            *("heart", "viral", "cancer", "cancer"),
            *("cancer", "heart", "viral", "viral"),
            *("heart", "viral", "cancer", "cancer"),
        ],
    }
)


def test_inpatients_of_the_l_diversity_paper():
    given = {"keys": ("zip",), "confidential": ("ill",)}
    result = look(LDiversity(2), HOMOGENEOUS, **given)
    assert (result.value, result.holds) == (1.0, False)  # the class where everybody has cancer
    assert result.worst == ({"column": "ill", "size": 4, "value": 1.0},)
    result = look(LDiversity(3), DIVERSE, **given)
    assert (result.value, result.holds) == (3.0, True)
    assert not look(PSensitive(4), DIVERSE, **given).holds
    # Each class has shares 1/2, 1/4, 1/4: exp(1.5 ln 2) = 2.83.
    result = look(LDiversity(2.8, "entropy"), DIVERSE, **given)
    assert result.value == pytest.approx(2**1.5)
    assert result.holds
    # r_1 = 2 < c (r_2 + r_3) = 2c: holds for c above 1, not for 1; and r_3 = 1: c above 2.
    assert not look(LDiversity(2, "recursive", c=1), DIVERSE, **given).holds
    assert look(LDiversity(2, "recursive", c=1.01), DIVERSE, **given).holds
    assert not look(LDiversity(3, "recursive", c=2), DIVERSE, **given).holds
    assert look(LDiversity(3, "recursive", c=2.01), DIVERSE, **given).holds
    assert look(LDiversity(4, "recursive", c=1e9), DIVERSE, **given).value == math.inf


def test_disclosure_and_information_by_hand():
    table = pl.DataFrame({"zip": [1] * 4 + [2] * 4, "ill": list("aaab") + list("abbb")})
    given = {"keys": ("zip",), "confidential": ("ill",)}
    # Shares 3/4 and 1/4 against 1/2: |ln 3/2| = .41, |ln 1/2| = .69.
    result = look(DeltaDisclosure(math.log(2)), table, **given)
    assert result.value == pytest.approx(math.log(2), abs=1e-15)
    assert result.holds  # met exactly
    assert not look(DeltaDisclosure(0.69), table, **given).holds
    # I = ln 2 - H(1/4) = 1 - 0.8113 bits
    result = look(MutualInformation(unit="bits"), table, **given)
    assert result.value == pytest.approx(1 - (2 - 0.75 * math.log2(3)), abs=1e-15)
    figures = result.detail["columns"]["ill"]
    assert figures["nats"] == pytest.approx(result.value * math.log(2))
    # Miller and Madow: 4 pairs - 2 values - 2 classes + 1 = 1, over 2 * 8.
    assert figures["corrected"] == pytest.approx(figures["nats"] - 1 / 16)
    # By chance: 8 over 4 = 70 deals; 0, 1, 2, 3, 4 of the a's in the first class: 1, 16, 36, 16, 1 of them.
    deals = {4: (2, math.log(2)), 3: (32, figures["nats"]), 2: (36, 0.0)}
    assert figures["chance"] == pytest.approx(sum(w * i for w, i in deals.values()) / 70)
    single = look(MutualInformation(), table.head(4), **given)
    assert single.value == 0.0


def test_a_value_that_a_class_lacks_is_infinite_disclosure_and_none_in_json():
    table = pl.DataFrame({"zip": [1, 1, 2, 2], "ill": list("abaa")})
    result = look(DeltaDisclosure(5), table, keys=("zip",), confidential=("ill",))
    assert result.value == math.inf
    assert not result.holds
    assert str(result) == "delta-disclosure: infinite (ill), required 5: does not hold"
    assert result.to_dict()["value"] is None
    assert result.detail["columns"]["ill"]["classes_without_some_value"] == 1
