"""Several methods in one run: k over all keys, counted in the written file by pandas, which knows nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import voronym as vr
from voronym.errors import InputError
from voronym.methods.blocks import Block
from voronym.request.recipe import Recipe

HOUSE, MONEY = ["roof", "walls", "sex"], ["income", "expend"]
KEYS = [*HOUSE, *MONEY]
PARTS = ["roof,walls,sex: local-suppression", "income,expend: mdav"]


def survey(n=400, seed=1):
    rng = np.random.default_rng(seed)
    home = np.sort(rng.integers(0, n // 3, n))
    rich = rng.normal(size=n // 3)[home]
    return pd.DataFrame(
        {
            "hid": home,
            "region": np.where(home % 3 == 0, "north", "south"),
            "roof": np.searchsorted([-1, 0.5, 1.6], rich).astype(str),
            "walls": rng.choice(["brick", "wood", "mud"], n // 3, p=[0.6, 0.35, 0.05])[home],
            "sex": rng.choice(["f", "m"], n),
            "income": np.round(np.exp(8 + rich + 0.3 * rng.normal(size=n))),
            "expend": np.round(np.exp(7 + 0.8 * rich + 0.4 * rng.normal(size=n))),
            "ill": rng.choice(["flu", "ulcer", "none"], n, p=[0.2, 0.1, 0.7]),
            "weight": rng.integers(10, 50, n).astype(float),
            "mark": [f"m{i}" for i in range(n)],
        }
    )


def released(table, folder, **more):
    """Release it, and return what is in the file."""
    given = {"keys": KEYS, "confidential": ["ill"], "other": ["mark"], "drop_undeclared": True, "k": 3,
             "blocks": PARTS, **more}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = vr.anonymize(table, **given)
    release.write(folder / "out.csv", overwrite=True)
    return release, pd.read_csv(folder / "out.csv", dtype={"roof": str})


def smallest(out, keys=KEYS, what="mark"):
    return int(out.groupby(keys, dropna=False)[what].nunique().min())


def test_k_holds_over_all_keys_and_each_part_did_its_own(tmp_path):
    table = survey()
    release, out = released(table, tmp_path)
    assert smallest(out) >= 3
    assert smallest(table) == 1
    both = out.merge(table, on="mark", suffixes=("", " true"))
    for name in HOUSE:  # true, or missing
        gone = both[name].isna()
        assert (both[name][~gone] == both[f"{name} true"][~gone]).all()
    groups = both.groupby(KEYS, dropna=False)
    for name in MONEY:  # the mean of a group, and of nobody else
        assert (groups[f"{name} true"].transform("mean").round() - both[name]).abs().max() <= 1
        assert abs(out[name].mean() / table[name].mean() - 1) < 0.01
    first, second = release.figures.parts
    assert first.gaps == int(out[HOUSE].isna().sum().sum()) > 0
    assert second.gaps == 0
    assert second.groups == len(groups)
    assert any("share the keys of all parts together" in line for line in release.log)


def test_parts_made_apart_would_leave_people_alone(tmp_path):
    """The attack: categories and numbers that are k-anonymous each by itself are not together."""
    table = survey()
    keep = {"other": ["mark"], "drop_undeclared": True, "blocks": ()}
    single, two = tmp_path / "1", tmp_path / "2"
    single.mkdir()
    two.mkdir()
    _, first = released(table, single, keys=HOUSE, method="local-suppression", **keep)
    _, second = released(table, two, keys=MONEY, method="mdav", **keep)
    assert smallest(first, HOUSE) >= 3
    assert smallest(second, MONEY) >= 3
    assert smallest(first.merge(second, on="mark")) == 1


def test_households_weights_strata_and_leaving_out(tmp_path):
    table = survey()
    keys = ["region", *KEYS]
    _, out = released(
        table, tmp_path, keys=keys, strata=["region"], household="hid", weights="weight", suppress="2%",
        other=["mark", "weight"],
    )  # fmt: skip
    assert len(table) * 0.98 <= len(out) <= len(table)
    both = out.merge(table[["mark", "hid", "region"]], on="mark", suffixes=("", " true"))
    assert int(both.groupby(keys, dropna=False)["hid"].nunique().min()) >= 3
    assert (both["region"] == both["region true"]).all()


def test_models_hold_in_what_is_left_whole(tmp_path):
    release, out = released(survey(), tmp_path, models=["p-sensitive=2"])
    assert int(out.groupby(KEYS, dropna=False)["ill"].nunique().min()) >= 2
    assert smallest(out) >= 3
    plain, other = released(survey(), tmp_path)
    assert int(other.groupby(KEYS, dropna=False)["ill"].nunique().min()) == 1
    assert release.figures.parts[1].groups < plain.figures.parts[1].groups


@pytest.mark.parametrize("parts", [PARTS, ["income,expend: mdav", "roof,walls,sex: mdav"]])
def test_models_are_enforced_in_the_way_that_is_asked_for(parts, tmp_path):
    lost = {}
    for way in ("merge", "swap"):
        release, out = released(
            survey(), tmp_path, blocks=parts, models=["t-closeness=0.35"], enforce=way, allow_loss=KEYS
        )
        own = out.groupby(KEYS, dropna=False)["ill"].value_counts(normalize=True).unstack(fill_value=0.0)
        away = 0.5 * (own - out["ill"].value_counts(normalize=True)).abs().sum(axis=1)
        assert away.max() <= 0.35 + 1e-9
        assert smallest(out) >= 3
        lost[way] = sum(part.loss or 0.0 for part in release.figures.parts)
    assert lost["swap"] < lost["merge"]


@pytest.mark.parametrize(
    "parts",
    [
        ["income,expend: mdav", "roof,walls,sex: local-suppression"],
        ["roof,walls: local-suppression", "sex: local-suppression", "income,expend: auto"],
        ["roof: mdav", "walls,sex: auto", "income: mdav", "expend: mdav"],
    ],
)
def test_any_order_and_number_of_parts(parts, tmp_path):
    _, out = released(survey(), tmp_path, blocks=parts, allow_loss=KEYS)
    assert smallest(out) >= 3


def test_people_with_several_rows_are_in_one_group(tmp_path):
    table = survey()
    table["pid"] = np.random.default_rng(2).integers(0, 150, len(table))
    _, out = released(table, tmp_path, person="pid", allow_loss=KEYS)
    both = out.merge(table[["mark", "pid"]], on="mark")
    assert int(both.groupby(KEYS, dropna=False)["pid"].nunique().min()) >= 3
    assert int(both.drop_duplicates(["pid", *KEYS]).groupby("pid").size().max()) == 1


def test_several_files_and_a_recipe(tmp_path):
    table = survey()
    folder = tmp_path / "in"
    folder.mkdir()
    table[:200].to_csv(folder / "a.csv", index=False)
    table[200:].to_csv(folder / "b.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = vr.anonymize(
            folder, keys=KEYS, confidential=["ill"], other=["mark"], drop_undeclared=True, k=3,
            blocks=PARTS, kinds={"roof": "nominal"}, output=tmp_path / "out",
        )  # fmt: skip
    out = pd.concat(pd.read_csv(file) for file in (tmp_path / "out").glob("*.csv"))
    assert smallest(out) >= 3
    assert len(out) == len(table)
    again = Recipe.from_toml(release.recipe.to_toml())
    assert again == release.recipe
    assert again.blocks == tuple(PARTS)


def test_refusals(tmp_path):
    for parts, text in (
        ([*PARTS, "sex: mdav"], "'sex' is in two parts"),
        ([*PARTS, "ill: mdav"], "'ill' is no key"),
        (["roof: channel"], "makes no groups"),
        (["roof"], "COLUMNS: METHOD"),
        (["roof: mdav speed=3"], "has no option"),
    ):
        with pytest.raises(InputError, match=text):
            released(survey(60), tmp_path, blocks=parts)
    with pytest.raises(InputError, match="leave out the method"):
        released(survey(60), tmp_path, method="mdav")
    alone, asked = ["roof,walls,sex,income,expend: lattice"], {"models": ["p-sensitive=2"]}
    with pytest.raises(InputError, match="leave out enforce"):
        released(survey(60), tmp_path, blocks=alone, enforce="swap", **asked)
    with pytest.raises(InputError, match="needs the parts"):
        released(survey(60), tmp_path, method="blocks", blocks=())


def test_keys_that_no_part_names_are_the_last_part(tmp_path):
    table = survey(60)
    release, out = released(table, tmp_path, blocks=["roof,walls: local-suppression"], method="mdav")
    assert release.recipe.blocks == ("roof,walls: local-suppression", "sex,income,expend: mdav")
    assert smallest(out) >= 3
    assert Recipe.from_toml(release.recipe.to_toml()) == release.recipe
    release, _ = released(table, tmp_path, blocks=["roof,sex: local-suppression"], strata=["sex"])
    assert release.recipe.blocks == ("roof: local-suppression", "walls,income,expend: auto")


def test_names_with_signs_come_back():
    block = Block.parse('"a,b", c d: mdav')
    assert block.columns == ("a,b", "c d")
    assert Block.parse(str(block)) == block
