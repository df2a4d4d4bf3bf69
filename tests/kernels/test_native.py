"""Machine code that comes with the package does what Python's and Numba's does, and only where it is meant."""

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
from voronym._kernels import _build, _native, cells, kd, soft

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
    return rng.random((7, 4)), rng.random(4), 0.3, np.zeros(4), np.zeros((4, 4)), np.zeros(4), np.zeros(4, int)


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
    assert returned == pytest.approx(expected, rel=1e-14)
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


@pytest.mark.parametrize(
    ("keys", "k"), [(["age", "sex", "zip"], 5), (["age", "weight", "days"], 4), (["age"], 3)]
)
def test_every_loop_of_an_everyday_release_has_machine_code(monkeypatch, keys, k):
    """A loop or an argument that is new has to be listed: ``python -m voronym._kernels.warm --record``."""
    called = set()
    usual = _kernels.Loop.__call__

    def call(self, *args):
        called.add(line(f"{self.py_func.__module__.removeprefix('voronym._kernels.')}.{self.__name__}", args))
        return usual(self, *args)

    monkeypatch.setattr(_kernels.Loop, "__call__", call)
    release = vr.anonymize(vr.datasets.hospital(60), keys=keys, k=k, drop_undeclared=True)
    assert release.gap is not None
    assert called
    assert called <= set(SIGNATURES)
