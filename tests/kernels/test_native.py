"""Machine code that comes with the package does what Python's does, and only where it is meant."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

import voronym as vr
from voronym import _kernels
from voronym._kernels import _build, _native, cells, kd, soft, warm

SIGNATURES = (_native.FOLDER / "signatures.txt").read_text(encoding="utf-8").splitlines()


class Pair(NamedTuple):
    """A tuple that no loop knows."""

    a: int
    b: float


def line(name, args):
    key: list = []
    _native.flatten(args, key, [])
    return f"{name} {_native.written(key)}"


def soft_arguments(seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.random((7, 4)),
        rng.random(4),
        0.3,
        np.zeros(4),
        np.zeros((4, 4)),
        np.zeros(4),
        np.zeros(4, int),
    )


def halves(seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((12, 3)), np.zeros(3, bool), np.arange(12), np.arange(0, 13, 3), 0, 4


def parts(seed=0):
    made = cells.make(np.random.default_rng(seed).integers(0, 3, 9), 5, 9)
    for item in (made.slot, made.free, made.members):
        item[:] = 0
    return (made,)


LOOPS = {
    "soft.shares": (soft.shares, soft_arguments),
    "kd.halve": (kd.halve, halves),
    "cells.fill": (cells.fill, parts),
}


def arrays(args):
    for item in args:
        if isinstance(item, tuple):
            yield from arrays(item)
        elif isinstance(item, np.ndarray):
            yield item


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Compile three loops ahead."""
    if _build.linker() is None:
        pytest.skip("no linker")
    folder = tmp_path_factory.mktemp("native")
    lines = [line(name, make()) for name, (_, make) in LOOPS.items()]
    code = (
        "import json, pathlib, sys; from voronym._kernels import _build; "
        "print(_build.build(pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])))"
    )
    environment = {**os.environ, **_build.environment()}
    command = [sys.executable, "-c", code, str(folder), json.dumps(lines)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert int(done.stdout) == len(LOOPS)
    return folder


@pytest.fixture
def native(folder, monkeypatch):
    """Return a function that makes a loop whose machine code is that of the folder."""
    monkeypatch.setattr(_native, "CODE", folder)
    monkeypatch.delenv("VORONYM_KERNELS", raising=False)
    _native._library.cache_clear()
    yield lambda loop: _kernels.Loop(loop.py_func, called=True)
    _native._library.cache_clear()


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("seed", range(3))
def test_it_does_what_python_does_without_numba(native, monkeypatch, name, seed):
    loop, make = LOOPS[name]
    python, machine = make(seed), make(seed)
    if name == "cells.fill":  # `put` and others are loops, which Python cannot run: Numba's is the twin
        expected = loop.dispatcher(*python)
    else:
        monkeypatch.setattr(kd, "widest", kd.widest.py_func)
        monkeypatch.setattr(kd, "select", kd.select.dispatcher)
        expected = loop.py_func(*python)
    made = native(loop)
    returned = made(*machine)
    assert made._dispatcher is None, "Numba was asked"
    assert returned == (expected if expected is None else pytest.approx(expected, rel=1e-14))
    for left, right in zip(arrays(python), arrays(machine), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-14)


@pytest.mark.parametrize("change", ["readonly", "strided", "narrow", "tuple"])
def test_other_arguments_are_numbas(native, change):
    made = native(soft.shares)
    D, *rest = soft_arguments()
    if change == "readonly":
        D.flags.writeable = False
    elif change == "strided":
        D = np.repeat(D, 2, axis=1)[:, ::2]
    elif change == "narrow":
        D = D.astype(np.float32)
    else:
        rest[1] = np.float32(0.3)
    expected = soft.shares.py_func(D, *(item.copy() if hasattr(item, "shape") else item for item in rest))
    assert made(D, *rest) == pytest.approx(expected, rel=1e-5)
    assert made._dispatcher is not None


def test_machine_code_of_another_source_is_not_called(native, monkeypatch):
    monkeypatch.setattr(_native, "stamp", lambda: "another")
    assert _native._library() == (None, {})


def test_nor_on_a_processor_that_cannot_do_it(native, monkeypatch):
    monkeypatch.setattr(_native, "features", set)
    assert _native._library() == (None, {}) or not _build.ASKED


def test_keys_are_read_as_they_were_written():
    for signature in SIGNATURES:
        name, _, kinds = signature.partition(" ")
        assert _native.written(_native.parsed(kinds)) == kinds
        module, _, function = name.rpartition(".")
        assert hasattr(__import__(f"voronym._kernels.{module}", fromlist=["x"]), function)


def test_a_kind_that_is_unknown_is_said():
    key: list = []
    with pytest.raises(TypeError):
        _native.flatten(({},), key, [])
    _native.flatten((Pair(1, 2.0), None, (True, np.bool_(False))), key, [])
    assert key == [Pair, 2, "i8", "f8", None, tuple, 2, "b1", "b1"]


WEIGHED = {"keys": ["age", "sex", "region", "school"], "weights": "weight", "k": 3, "strata": ["region"]}
EVERYDAY = {
    "mixed keys": {"keys": ["age", "sex", "zip"]},
    "numbers": {"keys": ["age", "weight", "days"], "k": 4},
    "one key": {"keys": ["age"], "k": 3},
    "ranges": {"keys": ["age", "sex"], "publish": "interval"},
    "left out": {"keys": ["age", "weight"], "suppress": 0.05},
    "l-diversity": {"keys": ["age", "sex"], "models": ["l-diversity=2"]},
    "two models": {"keys": ["age", "zip"], "models": ["p-sensitive=2", "t-closeness=0.5"]},
    "distances": {"keys": ["age", "sex", "zip"], "space": "mixed"},
    "lattice": {"keys": ["sex", "zip"], "method": "lattice", "suppress": 0.05},
    "gaps": {"keys": ["sex", "zip"], "method": "local-suppression"},
    "records": {"keys": ["age", "sex"], "k": None, "method": "records", "options": {"despite_loss": True}},
    "people": {**WEIGHED, "person": "hid"},
    "households": {**WEIGHED, "household": "hid", "weights": None, "strata": None},
    "a weighted survey of households": {**WEIGHED, "household": "hid", "strata": None},
}


@pytest.fixture
def called(monkeypatch):
    """Return the loops of the package that are called from here on, with the kinds of their arguments."""
    lines: set[str] = set()
    usual = _kernels.Loop.__call__

    def call(self, *args):
        room, _, module = self.py_func.__module__.rpartition(".")
        if room == _native.ROOM:  # a plug-in's loops are compiled when they are called
            lines.add(line(f"{module}.{self.__name__}", args))
        return usual(self, *args)

    monkeypatch.setattr(_kernels.Loop, "__call__", call)
    return lines


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EVERYDAY)
def test_every_loop_of_an_everyday_release_has_machine_code(called, name):
    """A loop or an argument that is new has to be listed: ``python -m voronym._kernels.warm --record``."""
    choices = {"k": 5, **EVERYDAY[name]}
    homes = "hid" in (choices.get("person"), choices.get("household"))
    table, secret = (warm.survey(40), "answer") if homes else (vr.datasets.hospital(60), "diagnosis")
    release = vr.anonymize(table, confidential=[secret], drop_undeclared=True, **choices)
    assert release.gap is not None or homes or {"models", "space", "method"} & set(choices)
    assert called
    assert called <= set(SIGNATURES)


@pytest.mark.filterwarnings("ignore")
def test_nor_does_a_comparison_of_all_methods_compile(called):
    assert vr.compare(vr.datasets.hospital(40), keys=["age", "sex"], k=[3]).rows
    assert called
    assert called <= set(SIGNATURES)
