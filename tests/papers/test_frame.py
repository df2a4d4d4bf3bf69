"""Marks and their verdicts, experiments by name, results that are kept, and what the terminal shows."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from voronym.errors import InputError
from voronym_papers import PAPERS, Chart, Curve, Exhibit, Highlight, Mark, Outcome, Table, reproduce
from voronym_papers.base import Experiment, Paper, named, paper
from voronym_papers.cli import verdicts
from voronym_papers.fingerprint import _digest
from voronym_papers.items import dump, load
from voronym_papers.marks import Mark as Same
from voronym_papers.overview import count, lines
from voronym_papers.stored import keep, results, stale


@pytest.fixture
def toy():
    """A paper of one table that is measured and one figure that is not, for the time of a test."""
    entry = paper(
        "toy",
        reference="A. Author: Toys, a paper whose title and whose journal do not fit one line (2015)",
        subject="Toys",
        exhibits=(Exhibit("Figure 1", "what a toy is", where="glossary.md"), Exhibit("Table 2", "toys")),
    )

    @entry.experiment("four", "Four toys", shows=("Table 2",))
    def four(full, ctx):
        yield Mark(
            "Table 2", "D, k = 5", 0.25, 0.2 if full else 0.22, ".4f", better="less", why="Ours is exact."
        )
        yield Mark("Table 2", "seconds", None, 1.5, ".1f")
        yield Table("Losses", tuple(f"column {i}" for i in range(12)), (tuple(0.25 + i for i in range(12)),))
        yield Chart("Losses", (Curve("ours", ((1.0, 0.5),)),), "k", "D")

    yield entry
    PAPERS.remove("toy")


@pytest.mark.parametrize(
    ("published", "ours", "better", "verdict"),
    [
        (0.25, 0.2504, "less", "same"),
        (0.25, 0.2506, "less", "worse"),
        (0.25, 0.2494, "less", "better"),
        (0.25, 0.2494, "more", "worse"),
        (0.25, 0.2494, "", "differs"),
        ((0.2, 0.3), 0.25, "", "same"),
        ((0.2, 0.3), 0.301, "less", "worse"),
        ((0.2, 0.3), 0.1, "less", "better"),
        (None, 7.0, "less", "not printed"),
    ],
)
def test_verdicts(published, ours, better, verdict):
    mark = Mark("Table 1", "D", published, ours, within=0.0005, better=better)
    assert mark.verdict == verdict
    assert Same.from_dict(json.loads(json.dumps(mark.to_dict()))) == mark


@pytest.mark.parametrize(
    ("more", "kind", "verdict"),
    [
        ({"unit": " s", "better": "less"}, "time", "faster"),
        ({"timed": True, "better": "more"}, "time", "slower"),
        ({"better": "less", "alike": False}, "quality", "differs"),
        ({"better": "less", "claim": "up to 3 %"}, "quality", "better"),
        ({"claim": "never rises"}, "words", "differs"),
        ({"claim": "never rises", "within": 2.0}, "words", "holds"),
        ({"within": 2.0}, "value", "same"),
    ],
)
def test_verdicts_by_kind(more, kind, verdict):
    mark = Mark("Table 1", "D", 3.0, 2.0, **more)
    assert (mark.kind, mark.verdict) == (kind, verdict)
    assert Same.from_dict(json.loads(json.dumps(mark.to_dict()))) == mark


def test_what_is_ours_alone_has_nothing_published():
    assert Mark("Table 1", "D", None, 2.0, alone=True).verdict == "ours alone"
    with pytest.raises(ValueError, match="no published figure"):
        Mark("Table 1", "D", 3.0, 2.0, alone=True)


def test_numbers_are_written_with_their_units_and_signs():
    mark = Mark("Figure 8", "gain", (-31.0, -21.0), -33.26, ".1f", " %", spread=1.5)
    assert mark.texts() == ("−31 … −21 %", "−33.3 ± 1.5 %")
    assert mark.apart() == "−2.3 %"


@pytest.mark.parametrize(
    ("ours", "verdict", "word"), [(-25.0, "same", ""), (-19.0, "worse", "within"), (-15.0, "worse", "beyond")]
)
def test_a_wide_spread_makes_nothing_the_same_and_the_reason_says_how_far_off_a_draw_is(ours, verdict, word):
    mark = Mark("Figure 18", "gain", -26.0, ours, ".1f", " %", 2.0, "less", 5.0, why="Drawn.", drawn=True)
    assert mark.verdict == verdict
    assert (f" is {word} two standard deviations" in mark.reason) == bool(word)
    assert mark.reason.startswith("Drawn.") == bool(word)


def test_figures_kept_with_one_deviation_as_tolerance_are_judged_by_two_points():
    kept = Mark("Figure 18", "gain", -26.0, -22.0, ".1f", " %", 5.0, "less", 5.0).to_dict()
    again = Same.from_dict(json.loads(json.dumps(kept)))
    assert (again.verdict, again.within, again.drawn) == ("worse", 2.0, True)


def test_papers_have_numbers(toy):
    assert [named(number)[0].name for number in ("000", "001", "002", "003", "004")] == [
        "pcl-2013", "icsm", "t-closeness", "pcl-2011", "crowd",
    ]  # fmt: skip
    assert named("toy") == [toy]
    with pytest.raises(InputError, match="005"):
        named("005")


def test_what_is_kept_is_read_again(toy, tmp_path):
    for full in (True, False):
        (outcome,) = reproduce("toy", full=full)
        keep(toy, outcome, tmp_path)
    kept = results(toy, tmp_path)
    assert set(kept) == {("four", True), ("four", False)}
    assert [mark.ours for mark in kept["four", True].marks] == [0.2, 1.5]
    assert [type(item) for item in kept["four", True].items] == [Table, Chart]
    assert kept["four", False].items == ()
    assert {"voronym", "python", "numpy", "machine"} <= set(kept["four", True].versions)
    first, second = lines(kept["four", True].marks, kept["four", False].marks)
    assert first.texts() == ("0.25", "0.2000", "0.2200", "−0.0500", "better")
    assert count([first, second]) == {"better": 1, "not printed": 1}


def test_results_are_stale_once_their_code_has_changed(tmp_path, monkeypatch):
    package = tmp_path / "making_toys"
    package.mkdir()
    (package / "__init__.py").write_text("")
    source = package / "toys.py"
    source.write_text("SIZE = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = Paper("toys", "A. Author: Toys", "Toys", code=("making_toys",))
    outcome = Outcome(Experiment("four", "Four toys", lambda *_: iter(())), True, (), 1.0)
    entry.experiments["four"] = outcome.experiment
    path = keep(entry, outcome, tmp_path)
    kept = results(entry, tmp_path)["four", True]
    assert set(kept.made) >= {"version", "fingerprint"}
    assert (kept.stale, stale(entry, tmp_path)) == (False, [])
    for text, old in (("# three\n\nSIZE = 3\n", []), ("SIZE = 4\n", ["four, full"])):
        source.write_text(text)
        _digest.cache_clear()
        assert stale(entry, tmp_path) == old
    source.write_text("SIZE = 3\n")
    _digest.cache_clear()
    plain = json.loads(path.read_text())
    del plain["runs"]["four"]["full"]["made"]  # as runs were kept before
    path.write_text(json.dumps(plain))
    assert stale(entry, tmp_path) == ["four, full"]


def test_the_terminal_says_which_figures_are_stale(toy, voronym, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert voronym("papers", "toy", "--full", "--store", str(tmp_path))[0] == 0
    monkeypatch.setattr("voronym_papers.stored.results.__defaults__", (tmp_path,))
    assert "stale" not in voronym("papers", "toy")[1]
    path = tmp_path / "toy.json"
    path.write_text(path.read_text().replace('"fingerprint": "', '"fingerprint": "0'))
    out = voronym("papers", "toy")[1]
    assert "better, stale [1]" in out
    assert "2 of them stale" in out


@given(st.floats(allow_nan=False, allow_infinity=False, width=32), st.text(max_size=5))
def test_items_survive_being_kept(value, name):
    for item in (
        Table(name, ("a", "b"), ((name, value), (None, 3)), name, formats=("", ".1f"), keys=2),
        Highlight(name, name, name),
        Chart(
            name, (Curve(name, ((value, 1.0),), published=True, joined=False),), "x", "y", log="x", zero=False
        ),
    ):
        again = load(json.loads(json.dumps(dump(item))))
        assert load(json.loads(json.dumps(dump(again)))) == again
        assert type(again) is type(item)
        assert str(again)[:12] == str(item)[:12]


@pytest.mark.parametrize("item", ["four", "table-2", "Table 2", "table2"])
def test_an_experiment_has_its_name_and_those_of_its_exhibits(toy, item):
    assert [outcome.experiment.name for outcome in reproduce("toy", item=item)] == ["four"]


def test_what_cannot_be_run_is_said(toy, voronym):
    with pytest.raises(InputError, match=r"there are: four, Table 2\. Did you mean 'Table 2'"):
        reproduce("toy", item="tabel 2")
    with pytest.raises(InputError, match="no exhibit called 'Table 3'"):
        toy.experiment("more", "More", shows=("Table 3",))(lambda *_: iter(()))
    code, _, err = voronym("papers", "toy", "--item", "figure-1")
    assert code == 2
    assert "glossary.md" in err


def test_results_need_a_folder(toy, voronym, tmp_path):
    place = tmp_path / "taken"
    place.write_text("")
    code, out, err = voronym("papers", "toy", "--store", str(place))
    assert code == 1
    assert "cannot be the folder" in err
    assert "Table 2" not in out  # said before the work
    assert place.read_text() == ""
    assert toy.name == "toy"


def test_families_and_all():
    assert [single.name for single in named("pcl")] == ["pcl-2011", "pcl-2013"]
    assert [single.name for single in named("all")] == list(PAPERS)
    assert [single.name for single in named("pcl", "table 2")] == ["pcl-2011"]
    with pytest.raises(InputError, match="nothing to run that is called 'figure 99'"):
        named("pcl", "figure 99")[0].chosen("figure 99")
    with pytest.raises(InputError, match="no paper is called '005'"):
        named("005")


def test_the_terminal_shows_published_kept_and_now(toy, voronym, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert voronym("papers", "toy", "--full", "--store", str(tmp_path))[0] == 0
    monkeypatch.setattr("voronym_papers.stored.results.__defaults__", (tmp_path,))
    code, out, err = voronym("papers", "toy", "--tables")
    assert code == 0, err
    (row,) = [line.split() for line in out.splitlines() if "k = 5" in line]
    assert row == ["D,", "k", "=", "5", "0.25", "0.2000", "0.2200", "better", "[1]"]
    assert "[1] Ours is exact." in out
    assert "2 numbers: 1 better than published, 1 drawn without numbers" in out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    for number in range(12):
        assert f"{number}.25" in out


def test_all_numbers_that_are_shown_are_counted(toy, voronym, tmp_path, monkeypatch):
    @toy.experiment("large", "Toys of the full run alone", shows=("Table 2",))
    def large(full, ctx):
        yield Mark("Table 2", "large" if full else "small", 3.0, 3.0, ".1f")

    assert voronym("papers", "toy", "--full", "--store", str(tmp_path))[0] == 0
    monkeypatch.setattr("voronym_papers.stored.results.__defaults__", (tmp_path,))
    code, out, err = voronym("papers", "toy")
    assert code == 0, err
    assert ("  large" in out, "  small" in out) == (True, True)
    assert "4 numbers: 1 better than published, 1 drawn without numbers, 2 the same" in out


def test_what_was_found_is_kept_though_the_next_experiment_fails(toy, voronym, tmp_path):
    @toy.experiment("more", "More toys", shows=("Table 2",))
    def more(full, ctx):
        yield Mark("Table 2", "more", 3.0, 3.0, ".1f")

    @toy.experiment("broken", "Broken toys", shows=("Table 2",))
    def broken(full, ctx):
        raise InputError("the toy is broken")

    code, _, err = voronym("papers", "toy", "--store", str(tmp_path), "--report", str(tmp_path / "page.html"))
    assert code != 0
    assert "the toy is broken" in err
    assert set(results(toy, tmp_path)) == {("four", False), ("more", False)}
    assert not (tmp_path / "page.html").exists()


@given(st.lists(st.integers(3, 40), min_size=1, max_size=20), st.integers(40, 200), st.integers(1, 2))
def test_no_column_is_lost_and_groups_fit(widths, width, keys):
    groups = verdicts.cut(widths, width, keys)
    assert sorted({at for group in groups for at in group}) == list(range(len(widths)))
    shared = list(range(min(keys, len(widths))))
    for group in groups:
        assert group[: len(shared)] == shared
        assert sum(widths[at] for at in group) <= width or len(group) <= len(shared) + 1


def test_long_numbers_have_a_line_of_their_own(toy, voronym, monkeypatch):
    """Two spreads of six digits leave no room beside them for what they are."""
    monkeypatch.setenv("COLUMNS", "80")

    @toy.experiment("spread", "Spread", shows=("Table 2",))
    def spread(full, ctx):
        yield Mark("Table 2", "the distortion of what was long in the making", 0.00079, 0.000778,
                   ".6f", spread=0.000064, claim="about 0.00079, it says")  # fmt: skip

    code, out, err = voronym("papers", "toy", "--item", "spread")
    assert code == 0, err
    assert max(map(len, out.splitlines())) <= 80
    at = out.splitlines().index("  the distortion of what was long in the making")
    output = out.splitlines()[at + 1].split("  ")
    assert [single.strip() for single in output if single.strip()][:1] == ["about 0.00079, it says"]
    assert "0.000778 ± 0.000064" in output[-2]


@given(
    st.lists(st.tuples(st.text("ab ,%", max_size=25), st.integers(0, 12)), min_size=1, max_size=14),
    st.integers(40, 90),
)
def test_every_cell_of_a_table_is_whole(columns, width):
    """Whatever the headings and the terminal: no sign of a number is lost, no line too long."""
    heads = tuple(f"h{number} {head}" for number, (head, _) in enumerate(columns))
    row = tuple(f"{number}" + "7" * digits for number, (_, digits) in enumerate(columns))
    text = StringIO()
    verdicts.fitted(Console(width=width, highlight=False, file=text), Table("t", heads, (row,)))
    words = text.getvalue().split()
    assert all(words.count(cell) >= row.count(cell) for cell in row)
    assert all(word in words for head in heads for word in head.split())
    assert max(map(len, text.getvalue().splitlines())) <= width


def test_wide_tables_print_whole_numbers(capsys):
    table = Table(
        "t", ("k", *("change %, published",) * 11), ((5, *(0.234567,) * 11),), formats=("", *(".4f",) * 11)
    )
    verdicts.fitted(Console(width=60, highlight=False), table)
    out = capsys.readouterr().out
    assert out.count("0.2346") == 11
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 60
