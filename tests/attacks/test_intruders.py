"""Each intruder finds what is there to be found, and nothing where it was mended."""

from __future__ import annotations

import json
import warnings

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import voronym as vr
from voronym.attacks import ATTACKS, KNOWLEDGE, Scene, assault, attacks
from voronym.cli import app
from voronym.core.context import Context
from voronym.errors import Cancelled, InputError
from voronym.table.schema import Schema

KEYS = ["age", "sex", "zip", "admitted"]
pytestmark = pytest.mark.filterwarnings("ignore:.*distinct values:UserWarning")  # that is what is attacked


def invoices(n: int, seed: int) -> pl.DataFrame:
    """Return patients whose invoice numbers are in order of their dates; rows in no order."""
    rng = np.random.default_rng(seed)
    day = np.sort(rng.integers(0, 365, n))
    made = pl.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "zip": rng.choice(["08001", "08002", "08003", "08004"], n),
            "admitted": pl.Series(np.datetime64("2025-01-01") + day).cast(pl.Date),
            "invoice": 1000 + np.cumsum(rng.integers(1, 4, n)),
            "diagnosis": rng.choice(["flu", "HIV", "ulcer", "stroke", "asthma", "cancer"], n),
        }
    )
    return made[rng.permutation(n).tolist()]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return invoices(1000, 3)


@pytest.fixture(scope="module")
def release(people) -> vr.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return vr.anonymize(people, keys=KEYS, confidential=["invoice", "diagnosis"], k=5, method="mdav")


def test_an_invoice_number_is_a_date(people, release):
    answer = vr.attack(release, attacks=["linkage", "linkage-columns"])
    messages = answer["linkage-columns"]
    assert messages.success >= 0.8
    assert messages.details["columns"][0] == "invoice"
    assert "'invoice' → 'admitted'" in messages.says
    assert answer["linkage"].success <= 1 / 5
    mended = vr.anonymize(people, keys=[*KEYS, "invoice"], confidential=["diagnosis"], k=5, method="mdav")
    left = vr.attack(mended, attacks=["linkage-columns"])["linkage-columns"]
    assert left.success - (left.excess - left.interval[0]) <= 1 / 5
    assert "invoice" not in left.says


def test_the_file_of_another_tool_is_attacked_without_knowing_whose_rows_are_whose(people, release, tmp_path):
    """Rows are matched by what was published unchanged; the figures are those of the release itself."""
    path = tmp_path / "release.csv"
    release.write(path)
    roles = {"keys": KEYS, "confidential": ["invoice", "diagnosis"]}
    outcome = vr.attack(path, original=people, attacks=["linkage", "linkage-columns", "leftovers"], **roles)
    ours = vr.attack(release, attacks=["linkage"])
    assert outcome["linkage"].kind == "measured"
    assert outcome["linkage"].success == pytest.approx(ours["linkage"].success)
    assert outcome["linkage-columns"].success >= 0.8
    assert not outcome["leftovers"].claims
    bare = vr.attack(release.table.drop("invoice"), original=people, keys=KEYS, attacks=["linkage"])
    assert bare["linkage"].kind == "at most"
    assert ours["linkage"].success <= bare["linkage"].success <= 1 / 5


@pytest.mark.filterwarnings("ignore:confidential column '(invoice|receipt)' is kept as it is and reveals")
def test_columns_that_tell_the_same_are_both_named(people):
    twice = people.with_columns(receipt=pl.col("invoice") * 3 + 1)
    made = vr.anonymize(
        twice, keys=KEYS, confidential=["invoice", "receipt"], drop_undeclared=True, k=5, method="mdav"
    )
    outcome = vr.attack(made, attacks=["linkage-columns"])["linkage-columns"]
    assert set(outcome.details["columns"]) == {"invoice", "receipt"}


def test_a_column_of_one_value_betrays_nobody(people):
    """The mean of all others is low where one's own key is high; that is no knowledge."""
    few = people.head(120).with_columns(ward=pl.lit("x")).sample(fraction=1.0, shuffle=True, seed=1)
    outcome = vr.attack(
        few.select(*KEYS, "ward"), original=few, keys=KEYS, attacks=["linkage-columns"], aligned=True
    )
    assert outcome["linkage-columns"].details["columns"] == []


def scene(released: pl.DataFrame, original: pl.DataFrame, keys: list[str], **beside) -> Scene:
    rest = [name for name in original.columns if name not in keys and name in released.columns]
    hidden = [name for name in original.columns if name not in released.columns]
    schema = Schema.build(original, keys=keys, confidential=rest, identifiers=hidden)
    return Scene.of(released, schema, original=original, **beside)


def run(name: str, there: Scene, seed: int = 0):
    return ATTACKS[name].run(there, Context(seed=seed))


def groups(n: int, size: int, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return people of one age each, and groups of neighbours with exact means."""
    rng = np.random.default_rng(seed)
    age = np.sort(rng.uniform(0, 100, n)).round(3)
    ill = rng.choice(["a", "b", "c"], n)
    original = pl.DataFrame({"age": age, "ill": ill})
    mean = age.reshape(-1, size).mean(axis=1).repeat(size)
    return original, pl.DataFrame({"age": mean, "ill": ill})


def test_linkage_of_groups_side_by_side():
    """Everybody's own group is the nearest but for those near an edge; one of the group is right."""
    original, released = groups(120, 4)
    there = scene(released, original, ["age"], own=np.arange(120))
    mean = released["age"].to_numpy()
    nearest = np.abs(original["age"].to_numpy()[:, None] - np.unique(mean)[None, :]).argmin(axis=1)
    own = np.unique(mean, return_inverse=True)[1]
    assert run("linkage", there).success == pytest.approx((nearest == own).mean() / 4)
    assert run("linkage-assignment", there).success == pytest.approx(1 / 4)  # in order: nobody is misplaced
    assert run("linkage-exact", scene(original, original, ["age"], own=np.arange(120))).success == 1.0


def test_homogeneous_groups_are_counted():
    original, released = groups(120, 4)
    same = released.with_columns(ill=pl.Series(["a", "b", "c"] * 10).cast(pl.String).to_numpy().repeat(4))
    result = run("homogeneous-groups", Scene.of(same, scene(released, original, ["age"]).schema))
    assert result.success == 1.0
    assert result.details["people"] == 120
    assert result.claims
    by_hand = sum(4 for _, g in released.group_by("age") if g["ill"].n_unique() == 1)
    assert run("homogeneous-groups", scene(released, original, ["age"])).details["people"] == by_hand
    masked = run("homogeneous-groups", scene(same, original, ["age"], own=np.arange(120)))
    assert masked.success == (same["ill"] == original["ill"]).mean()  # what is no secret is not found
    assert not masked.claims


def test_the_order_of_rows_decides_nothing_but_the_attack_about_it():
    original, released = groups(120, 4)
    outcomes = []
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(120)
        there = scene(released[order.tolist()], original, ["age"], own=np.argsort(order))
        made = assault(there, ["group-guess", "learned-guess", "linkage-assignment", "linkage"])
        outcomes.append([(item.attack, item.success, item.interval) for item in made.outcomes])
    assert outcomes[0] == outcomes[1]


def test_assignments_at_the_same_sum_do_not_depend_on_the_order_of_rows():
    """People of few ages between groups as near: many assignments have the least sum."""
    rng = np.random.default_rng(4)
    original = pl.DataFrame({"age": rng.integers(0, 8, 90) * 2.0, "sex": rng.choice(["f", "m"], 90)})
    group = rng.permutation(90) // 5
    released = original.with_columns(age=pl.col("age").mean().over(pl.Series(group)).round(0))
    successes = set()
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(90)
        there = scene(released[order.tolist()], original, ["age", "sex"], own=np.argsort(order))
        successes.add(run("linkage-assignment", there).success)
    assert len(successes) == 1


def test_means_are_solved_for_the_last_one():
    original, released = groups(120, 4)
    assert run("means", scene(released, original, ["age"], own=np.arange(120))).success == 1.0
    far = pl.col("age") + 7_000_000  # as a date in seconds is: means differ from it by little
    moved = scene(released.with_columns(far), original.with_columns(far), ["age"], own=np.arange(120))
    assert run("means", moved).success == 1.0
    coarse = released.with_columns(age=(pl.col("age") / 20).round() * 20)  # rounding hides
    assert run("means", scene(coarse, original, ["age"], own=np.arange(120))).success < 0.2


def test_extremes_are_published_with_their_row():
    original, released = groups(120, 4)
    pay = np.random.default_rng(1).permutation(120) * 1.5
    there = scene(released.with_columns(pay=pay), original.with_columns(pay=pay), ["age"], own=np.arange(120))
    outcome = run("extremes", there)
    assert outcome.details["columns"]["pay"] == 1.0
    assert outcome.details["columns"]["age"] == pytest.approx(0.25)  # masked: one of four
    assert "'pay'" in outcome.says


@pytest.mark.parametrize("turned", [False, True])
def test_rows_that_were_not_shuffled(turned):
    original, released = groups(120, 4)
    own = np.arange(120)[::-1].copy() if turned else np.arange(120)
    outcome = run("row-order", scene(released[own.tolist()], original, ["age"], own=own))
    assert outcome.success == 1.0
    own = np.random.default_rng(2).permutation(120)
    assert not run("row-order", scene(released[np.argsort(own).tolist()], original, ["age"], own=own)).claims


def test_new_records_belong_to_new_people():
    original, released = groups(120, 4)
    number = np.random.default_rng(3).permutation(120)
    now = released.with_columns(number=number)
    before = now[:100].with_columns(age=pl.col("age") // 20)
    there = scene(now, original.with_columns(number=number), ["age"], own=np.arange(120), earlier=(before,))
    outcome = run("differencing", there)
    assert outcome.details["new_records"] == 20
    assert outcome.people == 20
    assert outcome.success >= 0.2
    single = scene(
        now, original.with_columns(number=number), ["age"], own=np.arange(120), earlier=(now[:119],)
    )
    assert run("differencing", single).success == 1.0  # the one who is new has the one record that is


def test_two_releases_leave_fewer():
    """Groups by age and groups by height share one person each."""
    rng = np.random.default_rng(4)
    side = np.arange(144)
    original = pl.DataFrame(
        {
            "age": (side // 12) * 10.0,
            "height": (side % 12) * 10.0,
            "ill": [f"ill{i}" for i in rng.permutation(144)],
        }
    )
    by_age, by_height = original.with_columns(height=pl.lit(55.0)), original.with_columns(age=pl.lit(55.0))
    there = scene(by_age, original, ["age", "height"], earlier=(by_height,))
    outcome = run("intersection", there)
    assert outcome.success == 1.0
    assert outcome.control < 0.2
    assert outcome.details["one_left"] == 144


def test_leftovers_in_the_bytes(tmp_path):
    original, released = groups(120, 4)
    names = [f"Person{i:05d}" for i in np.random.default_rng(5).choice(99_999, 120, replace=False)]
    original = original.with_columns(name=pl.Series(names))
    path = tmp_path / "r.csv"
    path.write_text(released.write_csv() + "#" + ";".join(names[:30]))
    outcome = run("leftovers", scene(released, original, ["age"], file=path))
    assert outcome.success == pytest.approx(0.25)
    assert outcome.details["columns"] == {"name": 30}
    assert names[0] not in str(outcome.to_dict())


def test_categories_that_no_row_has_are_found_in_parquet(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    original, released = groups(120, 4)
    town = [f"village-of-{i}" for i in range(120)]
    path = tmp_path / "r.parquet"
    frame = pd.DataFrame(
        {"age": released["age"].to_numpy(), "town": pd.Categorical(["x"] * 120, ["x", *town])}
    )
    frame.to_parquet(path)
    shown = pl.DataFrame({"age": released["age"], "town": ["x"] * 120})
    there = scene(shown, original.with_columns(town=pl.Series(town)), ["age", "town"], file=path)
    assert run("leftovers", there).details["columns"] == {"town": 120}


def test_a_learned_guess_is_compared_with_people_who_are_not_in_the_table():
    rng = np.random.default_rng(6)
    age, other = rng.uniform(0, 100, 300), rng.uniform(0, 100, 300)
    ill, theirs = (np.where(rng.random(300) < 0.9, x < 50, x >= 50).astype(str) for x in (age, other))
    original = pl.DataFrame({"age": age, "ill": ill})
    strangers = pl.DataFrame({"age": other, "ill": theirs})
    outcome = run("learned-guess", scene(original, original, ["age"], own=np.arange(300), control=strangers))
    assert outcome.success > 0.97  # everybody's own row is there to be remembered
    assert 0.75 < outcome.control < 0.93  # what is true of people in general
    crossed = run("learned-guess", scene(original, original, ["age"], own=np.arange(300)))
    assert crossed.control == pytest.approx(outcome.control, abs=0.1)


def test_a_matrix_is_turned_around():
    rng = np.random.default_rng(7)
    town = rng.choice(["north", "south"], 1000, p=[0.9, 0.1])
    flip = rng.random(1000) < 0.4
    shown = np.where(flip, np.where(town == "north", "south", "north"), town)
    from voronym.attacks.scene import Matrix

    rule = Matrix(("town",), (("north",), ("south",)), np.array([[0.6, 0.4], [0.4, 0.6]]))
    original, released = (pl.DataFrame({"town": t, "n": np.arange(1000)}) for t in (town, shown))
    outcome = run(
        "matrix-inversion", scene(released, original, ["town"], own=np.arange(1000), matrices=(rule,))
    )
    assert outcome.success == pytest.approx((town == "north").mean())  # always the frequent one
    assert outcome.control == pytest.approx(1 - flip.mean())


def test_the_result_shows_itself(release):
    outcome = vr.attack(release, attacks=["linkage", "row-order", "minimality"], targets=200)
    text = str(outcome)
    assert text.index(f"An intruder who knows {KNOWLEDGE[0]}") < text.index(
        f"An intruder who knows {KNOWLEDGE[1]}"
    )
    assert max(map(len, text.splitlines())) <= 100
    assert "Not tried" in text
    assert outcome.summary[1:].startswith(" of 2 attacks")  # an order drawn by lot may look like the original
    assert outcome.worst.attack == "linkage"
    json.dumps(outcome.to_dict(), allow_nan=False)
    assert "linkage" in outcome._repr_html_()
    with pytest.raises(KeyError, match="too many"):
        outcome["minimality"]
    assert (
        vr.attack(release, attacks=["linkage"], targets=200).to_dict()
        == vr.attack(release, attacks=["linkage"], targets=200).to_dict()
    )


def test_wrong_arguments_are_said(release, people):
    with pytest.raises(InputError, match="no key column"):
        vr.attack(release.table)
    with pytest.raises(InputError, match="knows its keys"):
        vr.attack(release, keys=["age"])
    with pytest.raises(InputError, match="there are: differencing"):
        vr.attack(release, attacks=["nothing"])
    with pytest.raises(InputError, match="targets"):
        vr.attack(release, targets=1)
    with pytest.raises(InputError, match="no original"):
        vr.attack(release.table, keys=["age"], aligned=True)
    with pytest.raises(InputError, match="lacks 'zip'"):
        vr.attack(release.table, keys=["age"], original=people.drop("zip"))


def test_progress_is_told_and_cancelling_is_heard(release):
    steps = []
    vr.attack(release, attacks=["linkage", "row-order"], progress=steps.append)
    assert steps[-1].done == 1.0
    assert [s.done for s in steps] == sorted(s.done for s in steps)
    assert any("linkage" in s.stage for s in steps)

    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vr.attack(release, attacks=["linkage"], progress=stop)
    ctx = Context()
    ctx.cancel()
    with pytest.raises(Cancelled):
        run_all(release, ctx)


def run_all(release, ctx):
    from voronym.attacks import assault

    frame = release.table
    return assault(
        Scene.of(frame, release.schema, original=frame, own=np.arange(len(frame))), ["linkage"], ctx
    )


def test_the_registry_is_ordered_by_what_the_intruder_knows():
    levels = [single.level for single in attacks().values()]
    assert levels == sorted(levels)
    assert len(levels) == 20
    assert {single.cost for single in attacks().values()} <= {"instant", "seconds", "minutes", "reruns"}


def test_the_verb_prints_json_and_a_table(people, release, tmp_path):
    original, path = tmp_path / "original.csv", tmp_path / "release.csv"
    people.write_csv(original)
    release.write(path)
    recipe = tmp_path / "recipe.toml"
    release.recipe.save(recipe)
    words = [
        "attack",
        str(path),
        "--original",
        str(original),
        "--recipe",
        str(recipe),
        "--only",
        "linkage,extremes",
    ]
    runner = CliRunner()
    shown = runner.invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert "An intruder who knows the keys of the people they look for" in shown.output
    output = json.loads(runner.invoke(app, [*words, "--json"]).stdout)
    assert [single["attack"] for single in output["outcomes"]] == ["extremes", "linkage"]
    assert output["outcomes"][1]["success"] == pytest.approx(
        vr.attack(release, attacks=["linkage"])["linkage"].success
    )


@pytest.mark.filterwarnings("ignore")
def test_an_invoice_number_in_order_of_dates_is_a_date():
    """Rank matching by hand: nearly everybody is found where numbers follow the dates."""
    rng = np.random.default_rng(7)
    n = 400
    day = np.sort(rng.choice(3000, n, replace=False))
    sent = day + rng.integers(0, 3, n)  # some are written a little later
    number = np.argsort(np.argsort(sent + rng.random(n) * 0.5))
    table = pl.DataFrame({"day": day, "age": rng.integers(18, 90, n), "invoice": number})
    shuffled = table[rng.permutation(n).tolist()]
    release = vr.anonymize(shuffled, keys=["day", "age"], other=["invoice"], k=5, method="mdav")
    rank_of_day = {value: at for at, value in enumerate(sorted(shuffled["day"]))}
    by_hand = np.mean([rank_of_day[d] == i for d, i in shuffled.select("day", "invoice").rows()])
    outcome = vr.attack(release, attacks=["linkage-columns"])["linkage-columns"]
    assert by_hand > 0.6
    assert outcome.success > by_hand - 0.1
    assert "order of 'invoice'" in outcome.details["by"]


def test_side_by_side_counts_ties():
    from voronym.attacks.columns import _side_by_side

    outcome = _side_by_side(np.array([1.0, 1.0, 2.0]), np.array([5.0, 6.0, 7.0]))
    assert outcome.tolist() == [0.5, 0.5, 1.0]
    assert _side_by_side(np.array([1.0, 2.0]), np.array([9.0, 8.0])).tolist() == [0.0, 0.0]
