"""Random masking draws from the system. A seed that is given is warned of, and is in nothing public."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.channel import GaussianSource, gaussian_channel, mask_keys, pram, privacy_distortion
from voronym.records import anonymize_records

SEED = 918_273_645
WARNED = "drawn from the given seed"


def people(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    age = rng.integers(18, 90, n)
    ill = np.where(rng.random(n) < age / 100, "yes", "no")
    return pl.DataFrame({"age": age, "sex": rng.choice(["f", "m"], n), "ill": ill})


def schema(frame: pl.DataFrame) -> vr.Schema:
    return vr.Schema.build(frame, keys=["age", "sex"], confidential=["ill"])


def _mask(**seed: Any) -> Any:
    frame = people()
    return mask_keys(frame, schema(frame), max_distortion=0.3, **seed).frame["age"].to_list()


def _pram(**seed: Any) -> Any:
    frame = people()
    codes, about = (frame[name].cast(pl.Categorical).to_physical().to_numpy() for name in ("sex", "ill"))
    return pram(codes.astype(int), about.astype(int), max_distortion=0.3, **seed).codes.tolist()


def _finite(**seed: Any) -> Any:
    rule = privacy_distortion(np.array([[0.3, 0.1], [0.2, 0.4]]), 1.0 - np.eye(2), max_distortion=0.3)
    return rule.apply(np.arange(500) % 2, **seed).tolist()


def _gaussian(**seed: Any) -> Any:
    X = np.random.default_rng(0).standard_normal((300, 3))
    rule = gaussian_channel(GaussianSource.estimate(X[:, :2], X[:, 2:]), max_distortion=0.3)
    return rule.apply(X[:, :2], **seed).tolist()


def _records(**seed: Any) -> Any:
    frame = people()
    return anonymize_records(frame, schema(frame), m=4, **seed).frame["age"].to_list()


def _door(method: str) -> Callable[..., Any]:
    def made(**seed: Any) -> Any:
        more = {"max_distortion": 0.3} if method == "channel" else {"m": 4, "despite_loss": True}
        roles = {"keys": ["age", "sex"], "confidential": ["ill"], "method": method}
        release = vr.anonymize(people(), **roles, options=more, **seed)
        return sorted(release.table.rows())

    return made


WAYS = {
    "mask_keys": _mask,
    "pram": _pram,
    "FiniteChannel.apply": _finite,
    "GaussianChannel.apply": _gaussian,
    "anonymize_records": _records,
    "method channel": _door("channel"),
    "method records": _door("records"),
}


@pytest.mark.parametrize("way", WAYS)
def test_two_calls_draw_differently_and_say_nothing(way: str) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        first, second = WAYS[way](), WAYS[way]()
    assert first != second
    assert not [item for item in heard if WARNED in str(item.message)]


@pytest.mark.filterwarnings("ignore:.* has a single value")
@pytest.mark.filterwarnings("ignore:.* masked records have a combination of keys")
@pytest.mark.parametrize("way", WAYS)
def test_a_seed_is_kept_and_warned_of(way: str) -> None:
    with pytest.warns(UserWarning, match=WARNED):
        first = WAYS[way](seed=SEED)
    with pytest.warns(UserWarning, match=WARNED):
        assert WAYS[way](seed=SEED) == first


def test_what_the_seed_of_the_past_undoes() -> None:
    """The old default was 0: an intruder who draws with it and subtracts would have the ages."""
    frame = people()
    for tried in (0, 1):
        made = mask_keys(frame, schema(frame), max_distortion=0.3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            guess = mask_keys(frame, schema(frame), max_distortion=0.3, seed=tried)
        same = np.abs(made.frame["age"].to_numpy() - guess.frame["age"].to_numpy()) <= 0.5
        assert same.mean() < 0.5, tried


@pytest.mark.parametrize("step", ["noise age=0.5", "pram sex=0.5", "rank-swap age=20", "shuffle age"])
def test_steps_never_draw_from_the_seed(step: str) -> None:
    roles = {"keys": ["sex"], "confidential": ["ill"], "other": ["age"], "k": 3, "seed": SEED}
    if step.startswith("pram"):
        roles = {**roles, "keys": ["age"], "other": ["sex"]}
    made = [sorted(vr.anonymize(people(), **roles, steps=[step]).table.rows()) for _ in range(2)]
    assert made[0] != made[1]


@pytest.mark.parametrize("method", ["channel", "records"])
@pytest.mark.filterwarnings("ignore")
def test_the_seed_is_in_nothing_public(tmp_path: Path, method: str) -> None:
    more = {"max_distortion": 0.3} if method == "channel" else {"m": 4, "despite_loss": True}
    roles = {"keys": ["age", "sex"], "confidential": ["ill"], "method": method}
    release = vr.anonymize(people(), **roles, options=more, seed=SEED)
    release.report(tmp_path / "public.html", audience="public")
    assert str(SEED) not in (tmp_path / "public.html").read_text()
    assert str(SEED) not in json.dumps(release.dossier().to_dict()["public"], default=str)
    release.report(tmp_path / "inside.html")
    assert WARNED in " ".join((tmp_path / "inside.html").read_text().split())


@pytest.mark.parametrize("leaf", [None, 100])
def test_over_parts(tmp_path: Path, leaf: int | None) -> None:
    (tmp_path / "src").mkdir()
    people().write_parquet(tmp_path / "src" / "0.parquet")
    people().reverse().write_parquet(tmp_path / "src" / "1.parquet")
    roles = {"keys": ["age", "sex"], "confidential": ["ill"], "method": "channel", "workers": 1, "leaf": leaf}

    def made(**seed: Any) -> Any:
        where = {"output": tmp_path / "out", "overwrite": True}
        vr.anonymize(tmp_path / "src", **where, options={"max_distortion": 0.3}, **roles, **seed)
        return sorted(pl.read_parquet(tmp_path / "out" / "*.parquet").rows())

    assert made() != made()
    with pytest.warns(UserWarning, match=WARNED):
        assert made(seed=SEED) == made(seed=SEED)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", ["noise income=0.3", "rank-swap income=10"])
def test_what_is_drawn_again_for_the_same_people_is_said(step, tmp_path):
    """The mean of two releases is nearer to the truth than each of them: who insists is told so."""
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {"id": [f"P{i}" for i in range(120)], "size": rng.integers(1, 4, 120), "income": rng.normal(size=120)}
    )
    warned = []
    for month in range(2):
        release = vr.anonymize(
            table, keys=["size"], identifiers=["id"], other=["income"], k=5, method="lattice", steps=[step],
            ledger=tmp_path / "a.ledger", changed="publish",
        )  # fmt: skip
        release.write(tmp_path / f"{month}.csv")
        warned.append(any("the mean of all 2 releases" in note for note in release.warnings))
    assert warned == [False, True]
