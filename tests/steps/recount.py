"""Random tables and recipes, and what a steward signs counted again: by pandas and loops, no code of ours.

`table` and `recipe` draw; `recount` compares what a release says with what its rows say.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

ROW = "row"
CUTS = [30, 50, 70]


def table(rng: np.random.Generator) -> pd.DataFrame:
    """Draw a table about people: numbers, codes of one length and of several, categories, gaps."""
    n = int(rng.integers(60, 220))
    codes = [str(integer) for integer in rng.integers(1, 10 ** int(rng.integers(1, 4)), 40)]
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 18 + int(rng.integers(5, 70)), n),
            "region": rng.choice(codes, n),
            "zip": [
                f"{integer:05d}" for integer in rng.choice([8001, 8045, 8110, 9001, 10115, 10117, 21000], n)
            ],
            "sex": rng.choice(["f", "m"], n, p=(q := float(rng.uniform(0.05, 0.95)), 1 - q)),
            "ill": rng.choice(["a", "b", "c"], n),
            ROW: [f"r{i}" for i in range(n)],
        }
    )
    if rng.random() < 0.4:
        frame.loc[rng.random(n) < 0.05, "sex"] = None
    return frame


def recipe(rng: np.random.Generator) -> tuple[list[str], list[str], int, str]:
    """Draw keys, steps, k and a method."""
    keys = [str(item) for item in rng.permutation(["age", "region", "zip", "sex"])[: rng.integers(2, 5)]]
    choices = {
        "age": ["round age=10 how=down", "top age=60", "bottom age=25", "recode age cuts=30,50,70"],
        "region": ["recode region level=1", "suppress region rare=3"],
        "zip": ["recode zip level=2", "recode zip level=3", "recode zip values=08001,08045 to=08001"],
        "sex": ["pram sex=0.2"],
    }
    steps = [str(rng.choice(choices[key])) for key in rng.permutation(keys) if rng.random() < 0.7]
    if any("cuts" in step for step in steps):
        steps.sort(key=lambda step: "cuts" in step)  # a range can be neither rounded nor cut again
    method = str(rng.choice(["mdav", "auto", "local-suppression"]))
    return keys, steps, int(rng.integers(2, 7)), method


def done(frame: pd.DataFrame, step: str) -> pd.DataFrame | None:
    """Do a step as its words say; None where it draws at random."""
    out = frame.copy()
    if step.startswith("round age"):
        out["age"] = out.age // 10 * 10
    elif step.startswith("top age"):
        out["age"] = out.age.clip(upper=60)
    elif step.startswith("bottom age"):
        out["age"] = out.age.clip(lower=25)
    elif "cuts" in step:
        out["age"] = np.searchsorted(CUTS, out.age, side="right").astype(str)
    elif step.startswith("suppress region"):
        out["region"] = out.region.where(out.groupby("region").region.transform("size") >= 3)
    elif "values=" in step:
        out["zip"] = out.zip.replace({"08045": "08001"})
    elif "level=" in step:
        name, cut = step.split()[1], int(step.rsplit("=", 1)[1])
        out[name] = [
            code[: max(len(code) - cut, 0)] + "*" * min(cut, len(code)) if isinstance(code, str) else code
            for code in out[name]
        ]
    else:
        return None
    return out


def small(frame: pd.DataFrame, keys: list[str], k: int) -> tuple[int, int, int]:
    """Count records that are unique on the keys, in classes below 3, and below k."""
    size = frame.assign(one=1).groupby(keys, dropna=False).one.transform("size")
    return int((size < 2).sum()), int((size < 3).sum()), int((size < k).sum())


def holds(text: Any, value: Any) -> bool:
    """Whether a published value may stand for an original one."""
    if pd.isna(text):
        return True
    text = str(int(text)) if isinstance(text, float) and text == int(text) else str(text)
    value = str(value)
    if text == value or set(text) == {"*"}:
        return True
    if match := re.fullmatch(r"(\d+)–(\d+)", text):
        return int(match[1]) <= int(value) <= int(match[2])
    if match := re.fullmatch(r"(\d+) or (less|more)", text):
        return int(value) <= int(match[1]) if match[2] == "less" else int(value) >= int(match[1])
    if "*" in text:
        return re.fullmatch(text.replace("*", "."), value) is not None
    return False


def recount(frame: pd.DataFrame, made: Any, keys: list[str], steps: list[str], k: int) -> list[str]:
    """Return everything that a release says otherwise than its rows."""
    wrong: list[str] = []

    def same(what: str, message: Any, counted: Any) -> None:
        if message != counted:
            wrong.append(f"{what}: said {message}, counted {counted}")

    now: pd.DataFrame | None = frame
    for step, effect in zip(steps, made.effects, strict=True):
        after = None if now is None else done(now, step)
        if now is not None and effect.keys is not None:
            before = effect.keys[0]
            same(f"before {step}", (before.unique, before.below_3, before.below_k), small(now, keys, k))
        if after is not None and now is not None and effect.keys is not None:
            later = effect.keys[1]
            same(f"after {step}", (later.unique, later.below_3, later.below_k), small(after, keys, k))
            column = step.split("=")[0].split()[1]
            both = now[column].isna() & after[column].isna()
            new = (now[column].astype(str) != after[column].astype(str)) & ~both
            same(f"changed by {step}", round(effect.changed * len(frame)), int(new.sum()))
        now = after
    released = made.table
    first, last = made.exposed
    same("original", (first.unique, first.below_3, first.below_k), small(frame, keys, k))
    same("released", (last.unique, last.below_3, last.below_k), small(released, keys, k))
    both = released.merge(frame, on=ROW, suffixes=("", "_was"))
    for change in made.changes:
        new, old = both[change.key], both[f"{change.key}_was"]
        equal = new == old if pd.api.types.is_numeric_dtype(new) else new.astype(str) == old.astype(str)
        kept = equal | (new.isna() & old.isna())  # gaps make floats of whole numbers: 60.0 is 60
        same(f"kept {change.key}", change.kept, int(kept.sum()))
        same(f"gone {change.key}", change.gone, int((new.isna() & old.notna()).sum()))
        if change.moved:
            away = (new[~kept].astype(float) - old[~kept].astype(float)).abs().dropna()
            same(f"moved {change.key}", (change.moved, round(change.distance, 6), round(change.farthest, 6)),
                 (len(away), round(away.mean(), 6), round(away.max(), 6)))  # fmt: skip
    return wrong


def joined(frame: pd.DataFrame, keys: list[str]) -> list[str]:
    """Return the keys of each record as one text."""
    return [
        "|".join("gone" if pd.isna(item) else str(item) for item in row) for row in frame[keys].to_numpy()
    ]


def fitting(frame: pd.DataFrame, released: pd.DataFrame, keys: list[str]) -> float:
    """Return the share of people named rightly by claiming a record whose published keys hold theirs."""
    own = pd.Series(joined(released, keys), index=released[ROW])
    groups = released[keys].drop_duplicates()
    labels, published = joined(groups, keys), groups.to_dict("records")
    sizes = own.value_counts()
    right = 0.0
    for at in range(len(frame)):
        fits = [
            label
            for label, group in zip(labels, published, strict=True)
            if all(holds(group[key], frame[key].iloc[at]) for key in keys)
        ]
        if own[frame[ROW].iloc[at]] in fits:
            right += 1 / sum(int(sizes[label]) for label in fits)
    return right / len(frame)
