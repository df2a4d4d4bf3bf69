"""Methods that make no groups, from the command line."""

import json
import signal

import pytest

import voronym as vr
from tables import count_csv
from voronym.cli.common import Bar
from voronym.errors import Cancelled, Unfinished

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # the command line prints them
ROLES = ["--key", "age,sex,zip", "--confidential", "diagnosis,days", "--drop-undeclared"]
MAKE = ["anonymize", "patients.csv", "-o", "out.csv", *ROLES]


def test_records_with_words_of_their_own(voronym, tmp_path):
    code, out, err = voronym(
        *MAKE, "--method", "records", "--flatten", "zip,diagnosis", "--shuffle", "age", "--shuffle", "sex",
        "--metrics", "sex=nominal", "--importance", "age=2", "--m", "3", "--option", "blend=centroid",
        "--despite-loss", "true", "--report", "in.html", "--public-report", "out.html",
        "--save-recipe", "r.toml", "--json",
    )  # fmt: skip
    assert code == 0, err
    output = json.loads(out)
    recipe = output["inside"]["recipe"]
    assert recipe["options"] == {
        "m": 3, "blend": "centroid", "flatten": ["zip", "diagnosis"], "shuffle": ["age", "sex"],
        "despite_loss": True,
    }  # fmt: skip
    assert (recipe["metrics"], recipe["importance"]) == ({"sex": "nominal"}, {"age": 2})
    assert output["inside"]["figures"]["clusters_after"]["smallest"] > 3
    assert output["inside"]["figures"]["linkage"]["after"]["value"] <= 0.25
    assert "seed" not in output["inside"]["recipe"]
    assert (tmp_path / "in.html").stat().st_size > (tmp_path / "out.html").stat().st_size
    code, _, err = voronym("anonymize", "patients.csv", "-o", "again.csv", "--recipe", "r.toml")
    assert code == 0, err
    assert "an attack" in err
    assert "k = 1, none promised" in err
    assert count_csv(tmp_path / "again.csv", ["zip"]) > 3  # flattened: a cluster's, all of them


def test_channel_tells_its_matrices(voronym):
    code, out, err = voronym(
        "anonymize", "patients.csv", "-o", "out.csv", "--key", "age,sex", "--confidential", "diagnosis",
        "--drop-undeclared", "--method", "channel", "--max-distortion", "0.3", "--json",
    )  # fmt: skip
    assert code == 0, err
    output = json.loads(out)
    parts = {part["kind"]: part for part in output["public"]["channel"]["rules"]}
    assert [part["kind"] for part in output["inside"]["figures"]["parts"]] == list(parts)
    assert parts["pram"]["matrix"]["letters"] == [["female"], ["male"]]
    assert parts["noise"]["noise"][0]["columns"] == ["age"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--method", "records", "--option", "gamma=1"], 2, "no option 'gamma'; it has: m, epsilon"),
        (["--method", "channel", "--flatten", "zip", "--max-risk", "1"], 2, "It is one of --method records"),
        (["--method", "channel", "--max-rsik", "1"], 2, "Did you mean --max-risk?"),
        (["--method", "channel", "--max-risk", "1", "--max-risk=2"], 2, "--max-risk is given twice"),
        (["--method", "channel", "--max-risk"], 2, "--max-risk needs a value"),
        (["--overwrit"], 2, "did you mean --overwrite"),
        (["--method", "channel", "--max-risk", "--json"], 2, "--max-risk needs a value"),
        (["--method", "channel", "--max-risk", "little"], 2, "max_risk must be a number"),
        (["--method", "channel", "1"], 2, "'1' is not understood"),
        (["--method", "channel", "-x", "1"], 2, "there is no option -x"),
        (["--flatten", "zip"], 2, "It is one of --method records"),
        (["--method", "channel", "--ends", "exact"], 2, "makes no groups and does not use ends"),
        (["--population", "p.csv"], 2, "population must be a file with a table of the whole population"),
        (["--enforce", "magic"], 2, "no way to enforce models is called 'magic'; there are: auto, blind"),
        (["--weights", "age=2"], 2, "--importance age=2"),
        (["--space", "mixed", "--weights", "age=2"], 2, "keys that count more take importance"),
        (["--method", "records", "--metric", "zip=edit"], 2, "Did you mean --metrics?"),
        (["--confidental", "age"], 2, "Did you mean --confidential?"),
        (["--drop", "age"], 2, "Did you mean --drop-undeclared?"),
        (
            ["--space", "mixed", "--importance", "age=2", "--importance", "age=3"],
            2,
            "--importance says 'age' twice",
        ),
        (["--space", "mixed", "--importance", "agee=2"], 2, "agee"),
        (["--method", "records", "--flatten", "zipp"], 2, "'zipp'"),
        (["--method", "records", "--flatten", "zip", "--option", 'flatten=["zip"]'], 2, "given twice"),
        (["--method", "records", "--flatten", "zip", "--shuffle", "zip"], 2, "not both"),
        (["--method", "records", "--metrics", "zip"], 2, "NAME=VALUE"),
        (["--method", "records", "--metrics", "zip=fuzzy"], 2, "no metric is called 'fuzzy'"),
        (["--method", "records", "--metrics", "zip=taxonomy=none.csv"], 1, "none.csv"),
        (["--method", "records", "--option", "m=many"], 2, "whole number"),
        (["--method", "records", "-k", "5", "--despite-loss", "true"], 3, "k-anonymity"),
        (["--method", "records"], 3, "MDAV with k=5 loses"),
        (["--method", "channel"], 2, "max_distortion or max_risk"),
    ],
)
def test_wrong_uses(voronym, tmp_path, words, code, says):
    got, _, err = voronym(*MAKE, "--report", "r.html", *words)
    assert (got, says in err) == (code, True), err
    assert "Traceback" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["patients.csv"]


def test_options_may_stand_before_the_table(voronym, tmp_path):
    words = ["--gamma", "0.5", *MAKE[1:], "--method=vmdav", "--save-recipe", "r.toml"]
    code, _, err = voronym("anonymize", *words)
    assert code == 0, err
    assert vr.Recipe.load(tmp_path / "r.toml").options == {"gamma": 0.5}
    code, _, err = voronym("anonymize", "patients.csv", "-o", "x.csv", "--recipe", "r.toml", "--gamma", "1")
    assert code == 2
    assert "use it without" in err


@pytest.mark.parametrize("wish", [Cancelled, Unfinished])
def test_a_wish_to_stop_is_no_error(voronym, tmp_path, monkeypatch, wish):
    def stop(*_, **__):
        raise wish("nothing was made")

    monkeypatch.setattr("voronym.run.door.make_release", stop)
    code, _, err = voronym(*MAKE)
    assert (code, err) == (130, "stopped: nothing was made\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["patients.csv"]


def test_the_bar_runs_from_reading_to_drawing_and_never_back(voronym, monkeypatch):
    messages = []
    monkeypatch.setattr("voronym.cli.common.Bar", lambda _: Bar(messages.append))
    code, _, err = voronym(*MAKE, "--report", "r.html", "--model", "t-closeness=0.3,column=days")
    assert code == 0, err
    stages = list(dict.fromkeys(step.stage for step in messages))
    wanted = [
        "reading",
        "grouping",
        "enforcing t-closeness=0.3,column=days",
        "measuring",
        "writing",
        "drawing",
    ]
    assert [stage for stage in stages if stage in wanted] == wanted
    shares = [step.done for step in messages]
    assert shares == sorted(shares)
    assert shares[-1] < 1.0


def test_ctrl_c_leaves_nothing(voronym, tmp_path, monkeypatch):
    def stop(*_, **__):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("voronym.records.front.linkage", stop)
    code, _, err = voronym(*MAKE, "--method", "records")
    assert code == 130
    assert "nothing was written" in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["patients.csv"]


def test_methods_lists_both_kinds(voronym):
    code, out, _ = voronym("methods")
    assert code == 0
    head = out.index("Methods that make no groups")
    assert out.index("\n  mdav  ") < head < out.index("\n  channel  ") < out.index("\n  records  ")
    rows = json.loads(voronym("methods", "--json")[1])
    assert {row["name"] for row in rows if row["kind"] == "table"} == {"channel", "dp", "records"}
    assert {row["name"] for row in rows if row["kind"] == "groups"} == set(vr.algorithms())


def test_the_demo_has_outliers(voronym, tmp_path):
    code, _, err = voronym("demo", "--records", 200)
    assert code == 0, err
    ages = vr.read(tmp_path / "voronym-demo" / "patients.csv")["age"]
    assert sum(age > 101 for age in ages) == 2
