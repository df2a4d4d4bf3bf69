"""The GPU: whether one can be used, its compiled modules and its memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from voronym.core.registry import Registry
from voronym.errors import InputError, VoronymError, hint

T = TypeVar("T")

_HERE = Path(__file__).parent
_SPARE = 256 * 2**20  # bytes for the driver, modules and sorting


class Unsuitable(VoronymError):  # noqa: N818 - not a failure: another way is taken
    """Raised if the kernels cannot solve a problem, so the processor must; the message gives the reason."""


class DeviceMemoryError(VoronymError):
    """Raised if the problem does not fit into the GPU's memory; the message gives the needed size."""


@lru_cache(maxsize=1)
def missing() -> str | None:
    """Return why no GPU can be used; None if one can."""
    if find_spec("cupy") is None:
        return "CuPy is not installed: pip install 'voronym[gpu]'"
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount() > 0:
            return None
    except Exception as error:  # a driver that is not there raises whatever its library likes
        return f"CuPy found no GPU that it can use ({type(error).__name__})"
    return "CuPy found no GPU on this machine"


DEVICES: Registry[Callable[[], str | None]] = Registry("device")
"""For each device, a function that returns the reason why it cannot be used, or None."""
DEVICES.add("cpu", lambda: None)
DEVICES.add("cuda", lambda: missing())
DEVICES.add("auto", lambda: None)


def choose(device: str) -> str:
    """Return the device to use; raise if it is unavailable. "auto" prefers a GPU."""
    reason = DEVICES[device]()
    if reason is not None:
        raise InputError(
            f"device {device!r} cannot be used: {reason}. With {hint('device', 'cpu')} the run needs no GPU"
        )
    if device != "auto":
        return device
    return "cpu" if missing() else "cuda"


def cupy() -> Any:
    """Return the library that talks to the GPU."""
    import cupy

    return cupy


def attempt(work: Callable[[], T], ctx: Any) -> T | None:
    """Do work on the GPU if the context asks for it; return None if the processor must do it.

    If the kernels are unsuitable, the reason is added to the notes of the context.
    """
    if ctx.device != "cuda":
        return None
    try:
        return work()
    except Unsuitable as reason:
        ctx.notes.append(f"the GPU could not do this work, so the processor did it: {reason}")
        return None


def name() -> str:
    """Return the name of the GPU."""
    return str(cupy().cuda.runtime.getDeviceProperties(0)["name"].decode())


@lru_cache(maxsize=32)
def module(files: tuple[str, ...], defines: tuple[tuple[str, int], ...], *, together: bool = False) -> Any:
    """Return compiled kernels; CuPy keeps them on disk for the next process.

    Parameters
    ----------
    files : tuple of str
        Sources in this folder, without their suffix; joined in order.
    defines : tuple of (str, int)
        Constants of the sources.
    together : bool
        Whether all blocks of a launch must run at the same time.
    """
    code = "\n".join((_HERE / f"{file}.cu").read_text() for file in files)
    options = ("-std=c++17", *(f"-D{key}={value}" for key, value in defines))
    return cupy().RawModule(code=code, options=options, enable_cooperative_groups=together)


def check_memory(needed: int, what: str) -> None:
    """Refuse work that needs more memory than the GPU has free."""
    free, total = cupy().cuda.Device().mem_info
    free += cupy().get_default_memory_pool().free_bytes()
    if needed + _SPARE > free:
        raise DeviceMemoryError(
            f"{what} needs {(needed + _SPARE) / 2**30:.1f} GiB of GPU memory; {free / 2**30:.1f} GiB of "
            f"{total / 2**30:.1f} GiB are free. Use device='cpu', or a GPU with more memory"
        )


def filled(shape: int | tuple[int, ...], dtype: Any, byte: int) -> Any:
    """Return an array with every byte set to one value (-1 is 255), without compiling a kernel."""
    made = cupy().empty(shape, dtype)
    made.data.memset(byte, made.nbytes)
    return made


def blocks(work: int, size: int) -> tuple[int]:
    """Return a grid of enough blocks."""
    return (max(1, -(-work // size)),)
