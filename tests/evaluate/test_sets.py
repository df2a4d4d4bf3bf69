"""Codes with stars, ranges and lists are sets of values: for linkage, utility and loss, whoever made them.

What is right is counted here by plain loops over texts, without code of the library.
"""

import re

import numpy as np
import pandas as pd
import pytest

import voronym as vr
from repeats import few
from voronym.core.percent import percent

CODES = [8001, 8045, 8110, 9001, 9450, 10115, 10117, 21000]


def people(n=600, seed=2):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "zip": [f"{item:05d}" for item in rng.choice(CODES, n)],
            "ill": rng.choice(["a", "b", "c"], n),
        }
    )


def holds(text, value):
    """Whether a published text may stand for a value, in the ways that this file writes them."""
    if text == "*" or str(value) == text:
        return True
    if match := re.fullmatch(r"\[(\d+), (\d+)\[", text):
        return int(match[1]) <= int(value) < int(match[2])
    if match := re.fullmatch(r"(\d+)[-–](\d+)", text):
        return int(match[1]) <= int(value) <= int(match[2])
    if "*" in text:
        return re.fullmatch(text.replace("*", "."), str(value)) is not None
    return False


def linked(before, after, keys):
    """Return the expected share of people whose own record is named, by claiming one that fits."""
    own = after[keys].astype(str).agg("|".join, axis=1)
    right = 0.0
    for at in range(len(before)):
        fits = np.ones(len(after), bool)
        for key in keys:
            value = before[key].iloc[at]
            there = {text: holds(str(text), value) for text in after[key].unique()}
            fits &= after[key].map(there).to_numpy(bool)
        right += (own.iloc[at] in set(own[fits])) / fits.sum()
    return right / len(before)


STYLES = {
    "ours": (lambda a: f"{a // 30 * 30}–{a // 30 * 30 + 29}", lambda z: z[:2] + "***"),
    "arx": (lambda a: f"[{a // 30 * 30}, {a // 30 * 30 + 30}[", lambda z: z[:2] + "***"),
    "hyphens": (lambda a: f"{a // 30 * 30}-{a // 30 * 30 + 29}", lambda z: z[:3] + "**"),
    "nothing left": (lambda _: "*", lambda z: z[:1] + "****"),
}


@pytest.mark.parametrize("style", few(STYLES, 2))
def test_linkage_is_that_of_plain_matching(style):
    before = people(150)
    age, code = STYLES[style]
    after = before.assign(age=before.age.map(age), zip=before.zip.map(code))
    keys = ["age", "sex", "zip"]
    result = vr.measure(after, keys=keys, confidential=["ill"], original=before, aligned=True)
    want = linked(before, after, keys)
    assert result.linkage.rate.value == pytest.approx(want)
    order = np.random.default_rng(0).permutation(len(after))
    mixed = after.iloc[order].reset_index(drop=True)
    blind = vr.measure(mixed, keys=keys, confidential=["ill"], original=before)
    classes = after.groupby(keys).ngroups
    assert blind.linkage.bound == pytest.approx(classes / len(after))
    assert blind.linkage.rate.value >= want - 1e-12
    assert f"at most {percent(classes / len(after))} by keys" in str(blind.linkage)
    attacked = vr.attack(
        after, keys=keys, original=before, aligned=True, attacks=["linkage", "linkage-exact"]
    )
    assert attacked["linkage"].success == pytest.approx(want)
    assert attacked["linkage-exact"].success == pytest.approx(want)


def test_a_bound_is_a_bound():
    """Wherever "at most" is printed, no matching of this file gets further."""
    rng = np.random.default_rng(6)
    for _ in range(5):
        before = people(60, seed=int(rng.integers(99)))
        signs = int(rng.integers(1, 5))
        after = before.assign(zip=[code[: 5 - signs] + "*" * signs for code in before.zip])
        after.loc[rng.random(60) < 0.2, "zip"] = "*"
        result = vr.measure(after.sample(frac=1, random_state=1), keys=["sex", "zip"], original=before)
        assert linked(before, after, ["sex", "zip"]) <= result.linkage.bound + 1e-12


def test_utility_reads_sets():
    before = people()
    after = before.assign(zip=[code[:2] + "***" for code in before.zip])
    result = vr.measure(after, keys=["age", "sex", "zip"], original=before, aligned=True)
    change = result.utility["zip"]
    assert change.categories_lost == 0
    assert change.categories_merged == before.zip.nunique() - 1  # 21*** is 21000
    shares = before.zip.value_counts(normalize=True)
    spread = {}
    for code, share in shares.items():
        mates = [other for other in shares.index if other[:2] == code[:2]]
        for mate in mates:
            spread[mate] = spread.get(mate, 0.0) + share / len(mates)
    want = sum(abs(shares[code] - spread[code]) for code in shares.index) / 2
    assert change.total_variation == pytest.approx(want)
    assert result.utility.pmse.ratio < 2.0
    assert 0.0 < result.utility.loss_by_key["zip"] < 100.0
    assert result.utility.loss_by_key["age"] == 0.0


@pytest.mark.parametrize("published", ["{f, m}", "f|m", "*", "f or m"])
def test_lists_of_values(published):
    before = people()
    after = before.assign(sex=published)
    result = vr.measure(after, keys=["sex", "zip"], original=before, aligned=True)
    classes = after.zip.nunique()
    assert result.linkage.rate.value == pytest.approx(classes / len(after))


def test_names_of_a_hierarchy_and_of_steps(tmp_path):
    before = people()
    tree = {code: ["south" if code < "1" else "north", "*"] for code in before.zip.unique()}
    after = before.assign(zip=["south" if code < "1" else "north" for code in before.zip])
    keys = ["sex", "zip"]
    result = vr.measure(after, keys=keys, original=before, aligned=True, hierarchies={"zip": tree})
    assert result.linkage.rate.value == pytest.approx(4 / len(before))
    made = vr.anonymize(
        before, keys=keys, confidential=["ill"], drop_undeclared=True, k=2, method="local-suppression",
        steps=["recode zip values=08001,08045,08110 to=08001"], kinds={"zip": "nominal"},
    )  # fmt: skip
    result = vr.attack(made, attacks=["linkage"])
    assert result["linkage"].success == pytest.approx(made.table.groupby(keys).ngroups / len(before))


def test_our_own_reports_link_recoded_releases():
    made = vr.anonymize(
        people(), keys=["age", "sex", "zip"], confidential=["ill"], k=3, method="local-suppression",
        steps=["recode age cuts=30,60", "recode zip level=3"], kinds={"zip": "nominal"},
    )  # fmt: skip
    inside = made.dossier().inside
    classes = made.table.fillna("gone").groupby(["age", "sex", "zip"]).ngroups
    assert inside.linkage.value <= classes / 600 + 1e-12
    assert inside.linkage.value > 0.5 * classes / 600
