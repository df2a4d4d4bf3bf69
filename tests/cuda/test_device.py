"""The GPU where there is none: sentences, and the processor does the work."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym._cuda import device, mdav
from voronym._cuda.device import DeviceMemoryError, Unsuitable
from voronym.cli import main
from voronym.core.context import Context
from voronym.request.recipe import Recipe

SOURCES = Path(device.__file__).parent


@pytest.fixture
def without_gpu(monkeypatch):
    monkeypatch.setattr(device, "missing", lambda: "CuPy is not installed: pip install 'voronym[gpu]'")


@pytest.fixture
def with_gpu(monkeypatch):
    monkeypatch.setattr(device, "missing", lambda: None)


def test_a_gpu_that_is_not_there_is_a_sentence(without_gpu):
    assert device.choose("auto") == "cpu"
    assert device.choose("cpu") == "cpu"
    with pytest.raises(vr.InputError, match=r"voronym\[gpu\].*device='cpu'"):
        device.choose("cuda")
    with pytest.raises(vr.InputError, match="no device is called 'tpu'; there are: auto, cpu, cuda"):
        device.choose("tpu")
    with pytest.raises(vr.InputError, match="cannot be used"):
        vr.microaggregate(np.arange(20.0), 3, method="mdav", device="cuda")


def test_a_machine_without_cupy_or_driver_is_told(monkeypatch):
    device.missing.cache_clear()
    monkeypatch.setattr(device, "find_spec", lambda _: None)
    assert "pip install" in device.missing()
    device.missing.cache_clear()
    monkeypatch.setattr(device, "find_spec", lambda _: object())
    monkeypatch.setitem(sys.modules, "cupy", None)  # its import fails
    assert "found no GPU" in device.missing()
    device.missing.cache_clear()


def test_the_command_line_says_it_and_writes_nothing(without_gpu, tmp_path, capsys, monkeypatch):
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("age,ill\n" + "\n".join(f"{20 + i % 50},{i % 3}" for i in range(60)))
    flags = ["--key", "age", "--confidential", "ill", "--device", "cuda"]
    monkeypatch.setattr(sys, "argv", ["voronym", "anonymize", str(source), "-o", str(output), *flags])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert not output.exists()
    assert "voronym[gpu]" in "".join(capsys.readouterr().err.split())


def test_what_the_gpu_cannot_do_the_processor_does_and_says_so(with_gpu, monkeypatch):
    def refuse(X, k, ctx):
        raise Unsuitable("too many equal records")

    monkeypatch.setattr(mdav, "partition", refuse)
    X = np.random.default_rng(1).normal(size=(300, 2))
    with pytest.warns(UserWarning, match="the processor did.*too many equal records"):
        part = vr.microaggregate(X, 4, method="mdav", device="cuda")
    assert part == vr.microaggregate(X, 4, method="mdav")


def test_the_gpu_is_used_where_asked_for_and_only_there(with_gpu, monkeypatch):
    asked = []

    def notice(X, k, _):
        asked.append(X.shape)
        return np.arange(len(X)) // k

    monkeypatch.setattr(mdav, "partition", notice)
    X = np.random.default_rng(1).normal(size=(40, 2))
    vr.microaggregate(X, 4, method="mdav")
    assert not asked
    part = vr.microaggregate(X, 4, method="mdav", device="auto")
    assert asked == [(40, 2)]
    assert part.sizes.tolist() == [4] * 10


def test_k_and_columns_beyond_the_kernels_are_unsuitable():
    for X, k in ((np.zeros((100, 1)), mdav.LARGEST + 1), (np.zeros((10, mdav.WIDEST + 1)), 3)):
        with pytest.raises(Unsuitable, match="made for"):
            mdav.partition(X, k, Context())


def test_too_little_memory_says_how_much_is_needed(monkeypatch):
    class Card:
        mem_info = (2**30, 4 * 2**30)

    class Pool:
        free_bytes = staticmethod(lambda: 0)

    class CuPy:
        class cuda:  # noqa: N801
            Device = Card

        get_default_memory_pool = Pool

    monkeypatch.setattr(device, "cupy", lambda: CuPy)
    device.check_memory(2**29, "a test")
    with pytest.raises(DeviceMemoryError, match=r"needs 2\.2 GiB .* 1\.0 GiB of 4\.0 GiB are free"):
        device.check_memory(2 * 2**30, "a test")


def test_a_recipe_says_where_the_method_ran():
    schema = vr.Schema.build(pl.DataFrame({"age": [31, 32]}), keys=["age"])
    recipe = Recipe(schema, k=2, device="cuda")
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    assert "device" not in Recipe(schema, k=2).to_dict()
    with pytest.raises(vr.InputError, match="device"):
        Recipe(schema, k=2, device="gpu")


@pytest.mark.parametrize("d", [1, 10, 50])
def test_the_kernels_compile(d):
    """Compiled, not run, where NVIDIA's run-time compiler is installed."""
    compiler = _compiler()
    pieces = -(-d // 24)
    wide = 4 * -(-d // (4 * pieces))
    near, walk, pairs = ((SOURCES / f"{name}.cu").read_text() for name in ("near", "mdav", "pairs"))
    assert _compile(compiler, f"{near}\n{walk}", f"-DDIM={d}") == ""
    more = (f"-DDIM={d}", f"-DWIDE={pieces * wide}", f"-DPIECE={wide}", "-DSEATS=20")
    assert _compile(compiler, pairs, *more) == ""


def _compiler():
    for folder in map(Path, sys.path):
        for result in sorted(folder.glob("nvidia/*/lib/libnvrtc.so.*")):
            return ctypes.CDLL(str(result))
    pytest.skip("NVIDIA's run-time compiler is not installed (nvidia-cuda-nvrtc)")


def _compile(compiler, code, *options):
    """Return what the compiler complains about."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    words = [word.encode() for word in ("-std=c++17", "--gpu-architecture=compute_80", *options)]
    compiler.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"kernels.cu", 0, None, None)
    failed = compiler.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    compiler.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    compiler.nvrtcGetProgramLog(program, log)
    return log.value.decode() if failed else ""
