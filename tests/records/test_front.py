from __future__ import annotations

import json
from collections import Counter
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import voronym as vr
from records.checks import assert_more_than, table_1
from records.mixtures import mixtures
from repeats import rounds
from voronym import datasets
from voronym.core.context import FinishEarly
from voronym.errors import GuaranteeError, InputError, SchemaError, Unfinished
from voronym.records import Function, Taxonomy, anonymize_records
from voronym.records import cluster as module
from voronym.records.attack import credits_of
from voronym.records.stages import intact, total_variation
from voronym.result import Masked
from voronym.table import Schema

KEYS = ["age", "sex", "zip", "nationality", "admitted", "weight"]
CONFIDENTIAL = ["diagnosis", "days", "cost"]


def hospital(n, outliers, seed=1):
    table = datasets.hospital(n, outliers=outliers, seed=seed)
    schema = Schema.build(table, keys=KEYS, confidential=CONFIDENTIAL, identifiers=["name", "patient_id"])
    return table, schema, datasets.hospital_outliers(n, outliers=outliers, seed=seed)


@pytest.fixture(scope="module")
def stirred():
    table, schema, planted = hospital(1500, 12)
    return table, schema, planted, anonymize_records(table, schema, m=4, seed=0)


def test_all_planted_outliers_are_found(stirred):
    _, _, planted, made = stirred
    assert set(planted) <= set(made.moved)
    sizes = made.before.partition.sizes[made.before.partition.labels[planted]]
    assert (sizes <= 4).all()


def test_no_cluster_is_small_afterwards(stirred):
    _, _, _, made = stirred
    assert_more_than(made.after.partition.labels.tolist(), 4)


def test_linkage_succeeds_no_better_than_one_in_m_plus_one(stirred):
    *_, made = stirred
    before, after = made.figures.linkage.before, made.figures.linkage.after
    assert before.value > 0.9
    assert after.value <= 1 / 5
    assert after.high < 1 / 5


def test_every_single_outlier_is_safe_over_many_seeds():
    table, schema, planted = hospital(300, 5, seed=3)
    runs = len(rounds(20, 40))
    won = np.zeros(len(planted))
    for seed in range(runs):
        made = anonymize_records(table, schema, m=4, seed=seed, epsilon=0.6, targets=1)
        won += credits_of(made.space, made.space.codes, made.codes, planted)
    # Hoeffding for one person, with a union over five: the rate is at most 1/5 with 99 % confidence.
    assert (won / runs <= 1 / 5 + np.sqrt(np.log(5 / 0.01) / (2 * runs))).all()
    assert won.sum() / (runs * len(planted)) <= 1 / 5 + np.sqrt(np.log(1 / 0.01) / (2 * runs * len(planted)))


@pytest.mark.parametrize("flat", [[], ["sex", "weight"]])
def test_even_combinations_that_stay_together_are_dealt_to_others(flat):
    # The bound 0 leaves little to shuffle; who gets which combination is drawn all the same.
    table, schema, _ = hospital(400, 0)
    made = anonymize_records(table, schema, m=4, epsilon=0.7, bound=0.0, flatten=flat)
    assert made.figures.divergence.largest == 0.0
    assert made.figures.linkage.after.high < 1 / 5


@pytest.mark.slow
def test_marginals_keep_their_shape(stirred):
    table, _, _, made = stirred
    for name in KEYS:
        a, b = (Counter(frame[name].to_list()) for frame in (table, made.frame))
        off = sum(abs(a[value] - b[value]) for value in a | b) / (2 * len(table))
        assert off <= 0.05
        assert off == pytest.approx(made.figures.columns[name].total_variation)


def test_cluster_statistics_stay_within_epsilon(stirred):
    *_, made = stirred
    for k, field in enumerate(made.space.fields):
        assert made.figures.centroid_shift[field.name] <= min(made.before.epsilon[k], 1e300)
        np.testing.assert_array_equal(  # shuffling moves no centroid and no radius
            made.after.radii[:, k], _radii(made, k)
        )
    assert made.figures.divergence.largest <= 0.1


def _radii(made, k):
    field, out = made.space.fields[k], []
    for cell, rows in enumerate(made.after.partition.cells()):
        out.append(
            field.distance(made.codes[rows, k], np.full(len(rows), made.after.centroids[cell, k])).max()
        )
    return np.array(out)


def test_confidential_values_stay_with_their_rows_and_names_are_gone(stirred):
    table, _, _, made = stirred
    out = made.frame.to_native()
    assert out.columns == [*KEYS, *CONFIDENTIAL]
    assert out.select(CONFIDENTIAL).equals(table.select(CONFIDENTIAL))
    assert out.schema == table.select(out.columns).schema
    for name in KEYS:
        assert set(out[name].to_list()) <= set(table[name].to_list())
    assert json.loads(json.dumps(made.figures.to_dict())) == made.figures.to_dict()
    assert isinstance(made, Masked)


def test_what_did_not_help_is_said(stirred):
    _, _, _, made = stirred
    assert any("occur at most 4 times" in note for note in made.notes)
    table, schema, _ = hospital(400, 0)
    made = anonymize_records(table, schema, m=3, flatten=["sex"], shuffle=["age"], epsilon=0.5)
    notes = " ".join(made.notes)
    assert "'sex' has a single value in" in notes  # a flat cluster is not protected
    assert "neither shuffled nor flattened" in notes
    same = table.with_columns(diagnosis=pl.lit("flu"))
    made = anonymize_records(same, schema, m=3)
    assert any("confidential 'diagnosis' has a single value in" in note for note in made.notes)


def test_flattening_all_keys_is_k_anonymous():
    table, schema, _ = hospital(500, 3)
    made = anonymize_records(table, schema, m=5, flatten=KEYS)
    counts = Counter(made.frame.select(*KEYS).iter_rows())
    assert min(counts.values()) > 5


def test_confidential_columns_can_be_stirred_too():
    table, schema, _ = hospital(400, 2)
    made = anonymize_records(table, schema, m=4, flatten=["diagnosis"], shuffle=[*KEYS, "cost"])
    out = made.frame.to_native().with_columns(cluster=made.after.partition.labels)
    for _, part in out.group_by("cluster"):
        assert part["diagnosis"].n_unique() == 1
    both = table.select("cost").with_columns(new=out["cost"], cluster=out["cluster"])
    for _, part in both.group_by("cluster"):
        assert sorted(part["cost"]) == sorted(part["new"])
    assert (both["cost"] != both["new"]).mean() > 0.7
    assert made.figures.columns["cost"].total_variation == 0.0


def test_the_same_seed_gives_the_same_table():
    table, schema, _ = hospital(200, 2)
    first, second = (anonymize_records(table, schema, m=3, seed=7).frame.to_native() for _ in range(2))
    assert first.equals(second)
    assert not first.equals(anonymize_records(table, schema, m=3, seed=8).frame.to_native())


def test_the_order_of_rows_does_not_choose_the_clusters():
    table, schema, _ = hospital(1200, 4)
    order = np.random.default_rng(0).permutation(1200)
    first = anonymize_records(table, schema, m=4, epsilon=0.6).before.partition
    second = anonymize_records(table[order], schema, m=4, epsilon=0.6).before.partition
    assert abs(first.n_cells - second.n_cells) <= 0.1 * first.n_cells  # joining depends on it a little


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_other_libraries_get_the_same_table(library):
    pytest.importorskip(library)
    table, schema, _ = hospital(150, 2)
    native = table.to_pandas() if library == "pandas" else table.to_arrow()
    first = anonymize_records(table, schema, m=3, seed=0).frame.to_native()
    second = anonymize_records(native, schema, m=3, seed=0).frame
    for name in first.columns:
        ours = first[name].to_list()
        theirs = second[name].to_list()
        assert [None if x != x else x for x in theirs] == ours or [str(x)[:10] for x in theirs] == [
            str(x) for x in ours
        ]


def test_the_papers_table_from_end_to_end():
    table = table_1()
    schema = Schema.build(table, keys=["zip", "age", "nationality"], confidential=["condition"])
    made = anonymize_records(table, schema, m=1, epsilon={"zip": 20, "age": 8}, blend="centroid")
    assert made.moved.tolist() == [4]
    out = made.frame.to_native()
    assert sorted(out["zip"]) == [13053, 13053, 13053, 13068, 13068]
    assert sorted(out["age"]) == [21, 23, 23, 28, 29]
    assert sorted(out["nationality"]) == sorted(table["nationality"])
    assert out["condition"].equals(table["condition"])
    flat = anonymize_records(table, schema, m=1, epsilon={"zip": 20, "age": 8}, flatten=["condition"])
    assert flat.frame["condition"].n_unique() == 1


@given(
    mixtures(16),
    st.one_of(st.none(), st.floats(0, 1), st.just(0.0)),
    st.integers(1, 20),
    st.sampled_from(["element", "centroid", "noise"]),
    st.sampled_from(["kl", "emd"]),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from([0, 1000]),
    st.booleans(),
)
def test_any_mixture_gives_a_correct_result_or_a_sentence(
    drawn, epsilon, m, blend, divergence, bound, exact, flat
):
    table, schema, metrics, _ = drawn
    options = {"flatten": schema.keys[:1]} if flat else {}
    with mock.patch.object(module, "EXACT", exact):
        try:
            made = anonymize_records(
                table, schema, m=m, epsilon=epsilon, blend=blend, divergence=divergence, bound=bound,
                metrics=metrics, seed=1, **options,
            )  # fmt: skip
        except (InputError, GuaranteeError) as error:
            if not (m >= len(table) and "take a smaller m" in str(error)) and "raise the bound" not in str(
                error
            ):
                raise
            return
    assert m < len(table)
    assert_more_than(made.after.partition.labels.tolist(), m)
    out = made.frame.to_native()
    assert out.schema == table.schema
    assert out["secret"].equals(table["secret"])
    for name in schema.keys:
        assert set(out[name].to_list()) <= set(table[name].to_list())
    assert made.figures.divergence.largest <= bound
    if epsilon is None and not flat:
        for column in made.figures.columns.values():
            assert column.total_variation <= 0.05
    assert json.dumps(made.figures.to_dict(), allow_nan=False)


def test_values_that_a_taxonomy_lacks_are_a_sentence_or_a_note():
    table = pl.DataFrame({"d": ["flu", "gout", "flu", "gout", "flu"]})
    schema = Schema.build(table, keys=["d"])
    tree = {"flu": ("lung", "*")}
    with pytest.raises(InputError, match="1 of 2 distinct values of column 'd'"):
        anonymize_records(table, schema, m=1, metrics={"d": Taxonomy(tree)})
    made = anonymize_records(table, schema, m=1, metrics={"d": Taxonomy(tree, unseen="root")})
    assert any("hang below the root" in note for note in made.notes)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"m": 0}, "m must be a whole number"),
        ({"m": 60}, "m=60, but there are 60 records"),
        ({"m": 2.5}, "m must be"),
        ({"flatten": 3}, "must be a list"),
        ({"flatten": ["x"]}, "neither keys nor confidential"),
        ({"flatten": ["age"], "shuffle": ["age"]}, "not both"),
        ({"blend": "mean"}, "'element'"),
        ({"divergence": "js"}, "'kl' or 'emd'"),
        ({"bound": -1}, "bound"),
        ({"seed": -1}, "seed"),
        ({"metrics": {"x": "nominal"}}, "not used"),
        ({"metrics": {"age": "fuzzy"}}, "no metric is called 'fuzzy'"),
        ({"metrics": {"age": "circular"}}, "period"),
        ({"metrics": {"sex": "taxonomy"}}, "needs more than its name"),
        ({"metrics": {"age": 3}}, "must be a name, a metric"),
        ({"metrics": {"sex": "absolute"}}, "needs numbers"),
        ({"metrics": {"sex": lambda a, b: float(a > b)}}, "not symmetric"),
        ({"importance": {"x": 1}}, "weights name"),
        ({"epsilon": 3}, "epsilon"),
    ],
)
def test_wrong_words_get_a_sentence(options, sentence):
    table, schema, _ = hospital(60, 0)
    with pytest.raises(InputError, match=sentence):
        anonymize_records(table, schema, **options)


def test_a_text_is_a_list_with_one_column():
    table, schema, _ = hospital(60, 0)
    made, wanted = (anonymize_records(table, schema, flatten=given, seed=1) for given in ("age", ["age"]))
    assert made.frame.to_native().equals(wanted.frame.to_native())
    assert made.figures.columns.keys() == wanted.figures.columns.keys()


def test_a_table_that_lacks_a_column():
    table, schema, _ = hospital(60, 0)
    with pytest.raises((InputError, SchemaError), match="'age'"):
        anonymize_records(table.drop("age"), schema)


def test_metrics_of_the_user_are_used():
    table = pl.DataFrame({"word": ["aa", "ab", "ac", "zzzzzz", "aa"], "code": ["x", "y", "x", "y", "x"]})
    schema = Schema.build(table, keys=["word", "code"])
    made = anonymize_records(
        table,
        schema,
        m=1,
        epsilon={"word": 1},
        metrics={"word": Function(lambda a, b: abs(len(a) - len(b))), "code": (["x", "y"], [[0, 2], [2, 0]])},
    )
    assert made.moved.tolist() == [3]
    assert "zzzzzz" not in made.frame["word"].to_list()
    by_edit = anonymize_records(table, schema, m=1, epsilon={"word": 1}, metrics={"word": "edit"})
    assert by_edit.moved.tolist() == [3]


def test_small_counts_by_hand():
    assert total_variation(np.array([0, 0, 1]), np.array([2, 0, 1]), 3) == pytest.approx(1 / 3)
    labels = np.array([0, 0, 1])
    assert intact(labels, np.array([[1, 2], [3, 4], [5, 6]]), np.array([[3, 4], [1, 4], [5, 6]])) == 2


def test_weights_steer_where_an_outlier_goes():
    rows = {"a": [0, 0, 0, 10, 10, 10, 1], "b": [0, 0, 0, 10, 10, 10, 9]}
    table = pl.DataFrame(rows)
    schema = Schema.build(table, keys=["a", "b"])
    went = []
    for weights in ({"a": 10.0}, {"b": 10.0}):
        made = anonymize_records(table, schema, m=1, epsilon={"a": 0.5, "b": 0.5}, importance=weights)
        labels = made.after.partition.labels
        went.append(labels[6] == labels[0])
    assert went == [True, False]


@pytest.mark.parametrize("stage", ["grouping", "measuring"])
def test_whoever_wishes_to_finish_gets_a_table_once_there_is_one(stage):
    def stop(step):
        if step.stage == stage:
            raise FinishEarly

    table, schema, _ = hospital(1200, 4)
    if stage == "grouping":
        with pytest.raises(Unfinished):
            anonymize_records(table, schema, progress=stop)
        return
    made = anonymize_records(table, schema, progress=stop)
    assert_more_than(made.after.partition.labels.tolist(), 4)
    assert made.figures.linkage.after.n > 0


def test_mdav_is_judged_on_all_records_of_a_large_table(monkeypatch):
    """Of a sample it would lose more, and what loses too much would be released."""
    from voronym import keyspaces
    from voronym.core.context import Context
    from voronym.records import alternative
    from voronym.table import Table

    rng = np.random.default_rng(0)
    n = 6_000
    frame = pl.DataFrame({"age": rng.normal(50.0, 15.0, n), "cost": rng.lognormal(7.0, 1.0, n)})
    table = Table.build(frame, keys=["age", "cost"])
    X = keyspaces.Coordinates.of(table).X
    part = vr.microaggregate(X, 5, method="mdav")
    own = alternative.alternative(table, table.frame, 4, Context())
    assert own.mdav == pytest.approx(vr.information_loss(X, part), rel=1e-6)
    monkeypatch.setattr(alternative, "_WHOLE", 5_000)
    parted = alternative.alternative(table, table.frame, 4, Context())
    assert parted.mdav == pytest.approx(own.mdav, rel=0.1)
