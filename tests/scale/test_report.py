"""The report of a release in a folder: its figures, and nothing of the originals on the public page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import voronym as vr
from scale.conftest import KEYS, ROLES, people, rows, write
from voronym.evaluate.disclosed import disclosed
from voronym.report import render
from voronym.table.table import Table

N = 2400
SECRETS = ("SECRETTOWN", "SECRETLEVEL", "SECRETNAME", "SECRETILL", "9876543")


def marked() -> pl.DataFrame:
    """Return people, some of whom have values that nobody else has."""
    at = pl.int_range(pl.len())
    return people(N).with_columns(
        name=pl.format("SECRETNAME{}", at),
        income=pl.when(at == 7).then(9_876_543.0).otherwise("income"),
        town=pl.when(at == 9).then(pl.lit("SECRETTOWN")).otherwise("town"),
        grade=pl.when(at == 11).then(pl.lit("SECRETLEVEL")).otherwise("grade"),
        born=pl.when(at == 13).then(pl.date(1931, 2, 3)).otherwise("born"),
        ill=pl.when(at == 15).then(pl.lit("SECRETILL")).otherwise("ill"),
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> vr.Release:
    """A release of some leaves, with its figures."""
    folder = tmp_path_factory.mktemp("report")
    write(marked(), folder / "data", 3)
    asked: dict[str, Any] = {**ROLES, "orders": {"grade": ["low", "mid", "high", "SECRETLEVEL"]}, "k": 4}
    asked |= {"models": ["t-closeness=0.6"], "leaf": 800, "workers": 1, "report": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("voronym.run.parts.engine.FILE", 700)
        patch.setattr("voronym.run.parts.portrait.BESIDE", N - 1)
        return vr.anonymize(folder / "data", output=folder / "out", **asked)


def test_figures_are_counted_over_all_rows(made: vr.Release) -> None:
    public, inside = made.dossier().public, made.dossier().inside
    out, before = rows(made.folder.path), marked()
    sizes = out.group_by(KEYS).len()["len"].value_counts()
    assert public.risk.histogram == dict(sorted(sizes.iter_rows()))
    assert inside.risk == vr.measure(before, keys=KEYS).risk
    assert [item.model for item in public.findings] == ["k-anonymity", "t-closeness"]
    assert (public.records, public.information_loss) == (N, made.information_loss)
    assert {item.key: item.published for item in inside.losses} == dict(made.folder.key_losses)
    for result, source in ((public.distributions, None), (inside.distributions, before)):
        for item in result:
            assert sum(item.after) + item.missing_after == N
            assert source is None or sum(item.before) + (item.missing_before or 0) == N
    town = next(item for item in public.distributions if item.column == "town")
    counts = dict(out["town"].fill_null("(missing)").value_counts().iter_rows())
    assert dict(zip(town.names, town.after, strict=True)) == counts
    age = next(item for item in inside.distributions if item.column == "age")
    for values, bars in ((out["age"], age.after), (before["age"], age.before)):
        clipped = np.clip(values.to_numpy(), age.edges[0], age.edges[-1] - 1e-9)
        assert np.histogram(clipped, age.edges)[0].tolist() == bars


def test_who_is_certain_is_counted_as_in_memory(made: vr.Release) -> None:
    schema = made.recipe.schema
    out = rows(made.folder.path)
    table = Table.of(out, schema, only=out.columns)
    want = disclosed(table, Table.of(marked(), schema))
    (result,), (held,) = made.dossier().inside.disclosed, want
    assert (result.column, result.groups, result.people) == (held.column, held.groups, held.people)
    for name in ("share", "chance", "usual", "before"):
        assert getattr(result, name) == pytest.approx(getattr(held, name))


def test_nothing_of_the_originals_is_on_the_public_page(made: vr.Release, tmp_path: Path) -> None:
    assert not any(secret in str(rows(made.folder.path).drop("ill").rows()) for secret in SECRETS)
    inside = made.report(tmp_path / "inside.html").read_text()
    outside = made.report(tmp_path / "public.html", audience="public").read_text()
    for secret in ("SECRETTOWN", "SECRETLEVEL"):
        assert secret in inside  # the test can fail: the page of the data holder does show them
    digits = re.sub(r"[\s,._\u202f]", "", outside)
    for secret in SECRETS:
        assert secret not in outside
        assert secret not in digits
    early = re.compile(r"\b19[34]\d-\d\d")  # the limits of bars would tell when the oldest was born
    assert early.search(inside)
    assert not early.search(outside)
    assert "SECRETNAME" not in inside
    assert made.dossier().outside().inside is None
    plain = str(made.dossier().outside().to_dict())
    assert not any(secret in plain for secret in SECRETS)


def test_what_was_sampled_is_said(made: vr.Release) -> None:
    page, outside = render(made.dossier()), render(made.dossier(), audience="public")
    assert "What was sampled" in page
    assert "Where bars begin and end: 2,399 of 2,400 records" in outside
    assert re.search(r"Estimated on random samples, \d[\d,]* and \d[\d,]* of 2,400 records", page)
    assert "vr.anonymize(&#34;INPUT&#34;, output=&#34;OUTPUT&#34;, recipe=recipe)" in page
    assert "--ledger" not in page  # which many files do not have
    assert "Sizes of groups" in outside


def test_one_leaf_has_the_report_of_a_table(tmp_path: Path) -> None:
    write(people(400), tmp_path / "data", 2)
    asked = {**ROLES, "k": 4, "method": "mdav"}
    made = vr.anonymize(tmp_path / "data", output=tmp_path / "out", **asked, workers=1, report=True)
    held = vr.anonymize(people(400), **asked).dossier()
    assert made.dossier().public.risk == held.public.risk
    assert made.dossier().public.distributions == held.public.distributions
    assert {loss.key: loss.published for loss in made.dossier().inside.losses} == pytest.approx(
        {loss.key: loss.published for loss in held.inside.losses}
    )
    with pytest.raises(vr.InputError, match="report=True"):
        vr.anonymize(tmp_path / "data", output=tmp_path / "two", **asked, workers=1).report("x.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out", "two"]
