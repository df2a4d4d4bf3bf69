from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.comparison import compare_methods
from voronym.method import Method
from voronym.partitioners.mdav import mdav
from voronym.table import Table


def table(n=60):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {"a": rng.standard_normal(n), "b": rng.standard_normal(n), "c": ["x", "y"] * (n // 2)}
    )


def test_every_method_and_k_once_with_loss_and_linkage():
    result = vr.compare(table(), keys=["a", "b"], k=[3, 5])
    methods = {name for name, method in vr.algorithms().items() if name != "auto" and not method.univariate}
    assert {(row.method, row.k) for row in result.rows} == {(m, k) for m in methods for k in (3, 5)}
    assert all(
        0 < row.loss < 100 and row.linkage_low <= row.linkage <= row.linkage_high for row in result.rows
    )
    assert all(row.linkage <= 1 / row.k + 1e-12 for row in result.rows)
    assert result.best(3).loss == min(row.loss for row in result.rows if row.k == 3)


def test_one_column_has_the_exact_method_and_none_beats_it():
    result = vr.compare(table(), keys=["a"], k=4)
    assert result.best(4).loss == pytest.approx(
        min(row.loss for row in result.rows if row.method == "univariate")
    )


def test_methods_that_take_long_are_left_out_unless_named(monkeypatch):
    # Which methods run is the question, not what they do.
    monkeypatch.setattr(Method, "run", lambda _, problem, ctx, *__: mdav(problem, ctx))
    some = {name: vr.algorithms()[name] for name in ("icsm", "md", "mdav")}
    monkeypatch.setattr("voronym.comparison.algorithms", lambda: some)
    result = vr.compare(table(6000), keys=["a", "b"], k=50, methods=None)
    assert "icsm" in result.skipped
    assert "icsm" not in {row.method for row in result.rows}


def test_a_figure_is_that_of_the_partition():
    result = vr.compare(table(), keys=["a", "b"], k=3, methods=["mdav"])
    X = vr.standardize(table().select("a", "b").to_numpy())
    part = vr.microaggregate(X, 3, method="mdav")
    assert result.rows[0].loss == pytest.approx(vr.information_loss(X, part))
    assert result.rows[0].groups == part.n_cells


def test_wrong_uses():
    with pytest.raises(vr.InputError, match="at least one key"):
        vr.compare(table(), keys=[])
    with pytest.raises(vr.InputError, match="no method"):
        vr.compare(table(), keys=["a"], methods=["magic"])
    with pytest.raises(vr.InputError, match="more than the 60 records"):
        vr.compare(table(), keys=["a"], k=61)


def messages_of(**options):
    rng = np.random.default_rng(1)
    frame = table(120).with_columns(w=pl.col("a") + rng.standard_normal(120))
    given = {"keys": ["a", "b"], "k": [3, 20], "methods": ["mdav", "md"], **options}
    return frame, vr.compare(frame, risk="mutual-information", confidential=["w"], **given)


def test_mutual_information_is_that_of_the_cells():
    frame, result = messages_of()
    X = vr.standardize(frame.select("a", "b").to_numpy())
    for row in result.rows:
        part = vr.microaggregate(X, row.k, method=row.method)
        released = pl.DataFrame({"cell": part.labels, "w": frame["w"]})
        measured = vr.measure(released, keys=["cell"], confidential=["w"])
        finding = next(item for item in measured.findings if item.model == "mutual-information")
        assert row.information.plug_in == pytest.approx(finding.detail["columns"]["w"]["nats"])
        assert row.limits["floor"] <= row.information.plug_in
        assert row.limits["reached"] <= row.information.plug_in + 1e-12
        assert row.limits["by_lot"] == pytest.approx((1 - row.loss / 100) * result.plane.unchanged.plug_in)
    small, large = ([r.information.plug_in for r in result.rows if r.k == k] for k in (3, 20))
    assert max(large) < min(small)


def test_plain_data_has_points_and_curves_only_where_they_were_asked_for():
    plain = json.loads(json.dumps(messages_of()[1].to_dict()))
    assert {curve["kind"] for curve in plain["plane"]["curves"]} == {"floor", "reached", "normal"}
    assert all({"information", "limits"} <= set(row) for row in plain["rows"])
    without = vr.compare(table(), keys=["a"], k=3, methods=["mdav"])
    assert "plane" not in without.to_dict()
    assert "information" not in without.to_dict()["rows"][0]
    assert without.plane is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"risk": "magic"}, "no risk is called 'magic'"),
        ({"confidential": ["b"]}, "only the risk 'mutual-information'"),
        ({"risk": "mutual-information"}, "one confidential column at a time; name one$"),
        ({"risk": "mutual-information", "confidential": ["b", "c"]}, "name one of 'b', 'c'"),
        ({"risk": "mutual-information", "confidential": ["z"]}, "z"),
        ({"risk": "mutual-information", "confidential": ["a"]}, "a"),
    ],
)
def test_wrong_uses_of_risk(options, message):
    with pytest.raises(vr.VoronymError, match=message):
        vr.compare(table(), keys=["a"], k=3, methods=["mdav"], **options)


def test_a_frame_has_a_row_for_each_and_a_column_for_each_figure():
    result = messages_of()[1]
    frame = result.to_frame()
    assert frame.height == len(result.rows)
    assert frame["loss"].to_list() == [row.loss for row in result.rows]
    assert frame["information_plug_in"].to_list() == [row.information.plug_in for row in result.rows]
    assert frame["limits_floor"].to_list() == [row.limits["floor"] for row in result.rows]
    plain = vr.compare(table(), keys=["a"], k=3, methods=["mdav"]).to_frame()
    assert plain.columns == [
        "method", "k", "loss", "linkage", "linkage_low", "linkage_high", "groups", "largest", "seconds",
        "published",
    ]  # fmt: skip


def test_it_reads_as_a_table():
    result = vr.compare(table(), keys=["a", "b"], k=[3, 5], methods=["mdav", "univariate"])
    assert repr(result) == "Comparison(mdav at k=3, 5 on 60 records, keys a, b)"
    lines = str(result).splitlines()
    heads = "k method loss % published % linked % groups largest seconds"
    assert lines[1].split() == heads.split()
    assert lines[2].split()[:2] == ["3", "mdav"]
    assert lines[-1].startswith("left out: univariate, k=5: method 'univariate' takes one column")


def test_options_go_to_their_method():
    given = {"keys": ["a", "b"], "k": 3, "methods": ["mdav", "vmdav"]}
    result = vr.compare(table(), options={"vmdav": {"gamma": 1.0}}, **given)
    X = vr.standardize(table().select("a", "b").to_numpy())
    losses = {row.method: row.loss for row in result.rows}
    part = vr.microaggregate(X, 3, method="vmdav", gamma=1.0)
    assert losses["vmdav"] == pytest.approx(vr.information_loss(X, part))
    assert losses["vmdav"] != {row.method: row.loss for row in vr.compare(table(), **given).rows}["vmdav"]
    with pytest.raises(vr.InputError, match="method 'mdav' has no option 'gamma'"):
        vr.compare(table(), options={"mdav": {"gamma": 1.0}}, **given)
    with pytest.raises(vr.InputError, match="for 'md', which is not compared; compared are: mdav, vmdav"):
        vr.compare(table(), options={"md": {}}, **given)


def watch(until, wish):
    """Return a callback that makes a wish once a stage begins, and what it heard."""
    heard = []

    def progress(step):
        heard.append(step)
        if step.stage.startswith(until):
            wish()

    return progress, heard


def test_progress_never_goes_back_and_names_method_and_k():
    heard = []
    vr.compare(table(), keys=["a", "b"], k=[3, 5], methods=["mdav", "md"], progress=heard.append)
    shares = [step.done for step in heard]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert {f"grouping by {m}, k={k}" for m in ("mdav", "md") for k in (3, 5)} <= {s.stage for s in heard}


def test_finishing_returns_the_rows_so_far():
    def stop():
        raise vr.FinishEarly

    progress, heard = watch("grouping by md, k=5", stop)
    result = vr.compare(table(), keys=["a", "b"], k=[3, 5], methods=["mdav", "md"], progress=progress)
    assert [(row.method, row.k) for row in result.rows] == [("mdav", 3), ("md", 3), ("mdav", 5)]
    assert result.skipped == {"md, k=5": "the comparison was finished before its turn"}
    assert heard[-1].done == 1.0


def test_finishing_before_the_first_row_and_cancelling():
    whole = Table.build(table(), keys=["a", "b"], drop_undeclared=True)
    ctx = vr.Context()
    ctx.finish()
    with pytest.raises(vr.Unfinished, match="nothing to compare"):
        compare_methods(whole, ctx, sizes=[3], methods=["mdav"])
    ctx = vr.Context(progress=lambda step: ctx.cancel() if "md, k" in step.stage else None)
    with pytest.raises(vr.Cancelled):
        compare_methods(whole, ctx, sizes=[3], methods=["mdav", "md"])


def test_the_best_at_a_k_that_was_not_compared():
    result = vr.compare(table(), keys=["a"], k=3, methods=["mdav"])
    with pytest.raises(vr.InputError, match="no method was compared at k=4; there is: 3"):
        result.best(4)
