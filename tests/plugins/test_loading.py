"""Plug-ins that are missing or broken: the program goes on, and says what is wrong where it matters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint, PackageNotFoundError

import pytest

import voronym as vr
from voronym.cli.verbs import VERBS, Verb, verb
from voronym.core import plugin
from voronym.core.registry import Registry
from voronym.errors import InputError
from voronym.method import METHODS
from voronym.quantize.costs import SOLVERS

HALF = """
from voronym.plugins import Partition, algorithm

@algorithm("half-there", guarantee="none", cost="none", reference="none")
def half(problem, ctx):
    return problem.one_group()

{then}
"""
MODULES = {
    "lacking": "import a_library_that_nobody_has",
    "halfway": HALF.format(then="raise RuntimeError('no licence\\nwas found')"),
    "leaver": "raise SystemExit(3)",
    "taken": HALF.format(then="").replace("half-there", "mdav"),
    "late": "from voronym.plugins import verb\n@verb('late', purpose='Look up')\ndef register(app): pass",
    "silent": "from voronym.plugins import verb\n@verb('silent', purpose='Look up')\ndef register(app): pass",
    "loud": "def start():\n    raise KeyError('start')",
    "opener": "import voronym.run.parts.runners.local, voronym.report.html\nraise RuntimeError('too late')",
}
POINTS = """[voronym.plugins]
lacking = lacking
lacking.verbs = lacking
halfway = halfway
leaver.verbs = leaver
taken = taken
late = late
silent.verbs = silent
loud = loud:start
opener = opener
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Make a distribution of broken plug-ins."""
    folder = tmp_path_factory.mktemp("broken")
    for name, text in MODULES.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    about = folder / "voronym_broken-0.3.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: voronym-broken\nVersion: 0.3\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    return folder


@pytest.fixture
def voronym(place, tmp_path):
    """Run a command with the broken plug-ins installed; return exit code, stdout and stderr."""
    vr.datasets.hospital(40, seed=1).write_csv(tmp_path / "patients.csv")

    def call(*words, start=("-m", "voronym")):
        process = subprocess.run(
            [sys.executable, *start, *words],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": f"{place}{os.pathsep}{os.environ['PYTHONPATH']}",
                "COLUMNS": "200",
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        return process.returncode, process.stdout, process.stderr

    return call


MAKE = ["anonymize", "patients.csv", "-o", "o.csv", "--key", "age", "--drop-undeclared", "-k", "5"]


def test_the_doctor_says_what_is_wrong_with_each(voronym):
    code, out, _ = voronym("doctor", "--json")
    assert code == 0
    rows = [row for row in json.loads(out)["plugins"] if row["distribution"] == "voronym-broken"]
    assert {row["name"] for row in rows} == {line.partition(" ")[0] for line in POINTS.splitlines()[1:]}
    problems = {row["name"]: row["problem"] for row in rows}
    assert "a_library_that_nobody_has" in problems["lacking"]
    assert problems["halfway"] == "RuntimeError: no licence was found"
    assert problems["leaver.verbs"] == "SystemExit: 3"
    assert "a method called 'mdav' is registered already" in problems["taken"]
    assert "verbs need an entry point of their own, 'late.verbs'" in problems["late"]
    assert "the verb 'silent' adds nothing" in problems["silent.verbs"]
    assert problems["loud"] == "KeyError: 'start'"
    assert problems["opener"] == "RuntimeError: too late"
    assert {row["version"] for row in rows} == {"0.3"}
    assert {row["name"] for row in rows if row["entries"]} == {"late"}
    _, out, _ = voronym("doctor")
    assert "voronym-broken 0.3: FAILS: RuntimeError: no licence was found" in out


def test_what_needs_none_of_them_says_nothing(voronym):
    code, _, err = voronym(*MAKE, "--method", "mdav")
    assert code == 0
    assert "plug-in" not in err
    code, out, err = voronym("--help")
    assert (code, err) == (0, ""), err
    assert "anonymize" in out


def test_who_asks_for_what_is_not_there_is_warned(voronym):
    code, _, err = voronym(*MAKE, "--method", "half-there")
    assert code == 2
    assert "warning: the plug-in 'halfway' of voronym-broken 0.3 could not be loaded: RuntimeError" in err
    assert "error: no method is called 'half-there'" in err
    code, _, err = voronym("halfway")
    assert code == 2
    assert "the plug-in 'leaver.verbs' of voronym-broken 0.3 could not be loaded" in err
    assert "No such command" in err or "no such command" in err


def test_rooms_that_it_was_the_first_to_import_stay(voronym):
    """A failure takes out what the plug-in registered, and nothing of the core."""
    script = """
import voronym as vr
from voronym.method import METHODS
import warnings
warnings.simplefilter("ignore")
"no such method" in METHODS
from voronym.report.section import sections
from voronym.run.parts.runners import RUNNERS
assert "local" in RUNNERS
assert len(sections) > 5
assert not {name for plugin in vr.plugins.plugins() for _, name in plugin.entries} & {*sections, "local"}
"""
    code, _, err = voronym(script, start=["-c"])
    assert code == 0, err


# -- in this process ---------------------------------------------------------------------------------------


@pytest.fixture
def alone(monkeypatch):
    """Be a process in which no plug-in is installed."""
    state = plugin._State()
    state.open = True
    monkeypatch.setattr(plugin, "_state", state)
    monkeypatch.setattr(plugin, "points", lambda: ())

    def version(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(plugin, "version", version)
    for registry, names in ((METHODS, ["noisy-pcl"]), (SOLVERS, ["levenberg-marquardt"])):
        entries = {name: entry for name, entry in registry._entries.items() if name not in names}
        monkeypatch.setattr(registry, "_entries", entries)
    monkeypatch.setattr(VERBS, "_entries", {name: VERBS._entries[name] for name in ("demo", "doctor")})


@pytest.mark.usefixtures("alone")
def test_what_another_distribution_has_is_said():
    sentence = "'noisy-pcl' comes with the distribution voronym-papers, which is not installed here"
    with pytest.raises(InputError, match=sentence):
        vr.microaggregate([[0.0], [1.0]], 2, method="noisy-pcl")
    with pytest.raises(InputError, match=r"no cost solver .* comes with the distribution voronym-papers"):
        vr.quantize.pcl([[0.0], [1.0], [2.0], [3.0]], 2, costs="levenberg-marquardt")
    assert "noisy-pcl" not in vr.algorithms()


@pytest.mark.usefixtures("alone")
def test_verbs_of_another_distribution_are_said(monkeypatch, capsys):
    from voronym import cli

    # The tests keep one program for all, which has the verbs that are installed.
    monkeypatch.setattr(cli.typer.main, "get_command", cli.typer.main.get_command.__wrapped__)
    monkeypatch.setattr(sys, "argv", ["voronym", "location", "demo"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    err = capsys.readouterr().err
    assert "no verb is called 'location'" in err
    assert "voronym-location, which is not installed here" in " ".join(err.split())


def test_a_plug_in_that_fails_is_taken_out_whole(monkeypatch):
    fruit = Registry("fruit")
    fruit.add("apple", 1)

    def start():
        fruit.add("pear", 2)
        assert len(METHODS)  # looking around while it is loaded asks nobody again
        fruit.add("apple", 3)

    monkeypatch.setattr(EntryPoint, "load", lambda _: start)
    failure = plugin._load(EntryPoint("fruit", "anything", plugin.GROUP))
    assert list(fruit) == ["apple"]
    assert failure.entries == ()
    assert "a fruit called 'apple' is registered already" in failure.problem
    assert str(failure) == "the plug-in 'fruit' of an unknown distribution"


def test_a_verb_of_the_core_that_fails_is_a_defect(monkeypatch):
    def register(app):
        raise RuntimeError("no such option type")

    monkeypatch.setattr(VERBS, "_entries", dict(VERBS._entries))
    verb("broken", purpose="Look up")(register)
    from voronym.cli.help import Group

    with pytest.raises(RuntimeError, match="no such option type"):
        Group().commands["broken"]
    assert isinstance(VERBS["broken"], Verb)


def test_plug_ins_are_listed_in_python():
    plugins = {entry.name: entry for entry in vr.plugins.plugins()}
    assert plugins["papers"].distribution == "voronym-papers"
    assert plugins["location.verbs"].version == vr.__version__
    assert not any(entry.problem for entry in plugins.values())
