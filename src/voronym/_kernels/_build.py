"""Compile the loops listed in `signatures.txt` ahead of time; needs Numba and a C linker.

``python -m voronym._kernels._build FOLDER`` writes a library and its list. The build of a package does so for
wheels (`hatch_build.py`), `python -m voronym._kernels.warm` where the package lies. It asks of a processor
what x86-64-v3 has, or of other families what all have; there is nothing of Python or of Numba in it, so one
wheel per platform serves all their versions.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

INTEL = platform.machine().lower() in ("x86_64", "amd64")
PROCESSOR = "x86-64-v3" if INTEL else "generic"
FEATURES = "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"
ASKED = ["AVX2", "BMI", "BMI2", "F16C", "FMA3", "LZCNT", "MOVBE", "POPCNT"] if INTEL else []
"""NumPy's names for these processor features."""
CREW, ENOUGH = 2, 16
"""Processes that compile if there are this many loops; the same everywhere, so that builds are equal."""
SHARE = (
    "import json, pathlib, sys; from voronym._kernels import _build; "
    "print(json.dumps(_build.compile_share(pathlib.Path(sys.argv[1]), sys.argv[2], json.load(sys.stdin))))"
)


def environment() -> dict[str, str]:
    """Return the settings that Numba needs before it is imported."""
    return {"NUMBA_CPU_NAME": PROCESSOR, "NUMBA_CPU_FEATURES": FEATURES if INTEL else ""}


def linker() -> list[str] | None:
    """Return the command that links a library; None if there is no linker."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and (program := shutil.which(name)):
            return [program, "-shared"]
    return None


def build(folder: Path, lines: Sequence[str] | None = None) -> int:
    """Write machine code and its list to a folder; return how many loops it has, of ``lines`` or of all."""
    from voronym._kernels import _native

    if lines is None:
        lines = (_native.FOLDER / "signatures.txt").read_text(encoding="utf-8").splitlines()
    shares = _shares(lines, CREW if len(lines) >= ENOUGH else 1)
    with TemporaryDirectory() as name:
        objects = [Path(name) / f"native-{at}.o" for at in range(len(shares))]

        def share(at: int) -> dict[str, dict[str, Any]]:
            """Compile a share of the loops in a process of its own: Numba compiles one loop at a time."""
            command = [sys.executable, "-c", SHARE, str(objects[at]), str(at)]
            words = json.dumps(shares[at])
            done = subprocess.run(command, input=words, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
            listed: dict[str, dict[str, Any]] = json.loads(done.stdout)
            return listed

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            parts = list(pool.map(share, range(len(shares))))
        command = [*(linker() or ["cc", "-shared"]), "-o", str(folder / _native.NAMES[0])]
        subprocess.run([*command, *map(str, objects), "-lm"], check=True, capture_output=True)  # noqa: S603
    listed: dict[str, dict[str, Any]] = {}
    for part in parts:
        for loop, ways in part.items():
            listed.setdefault(loop, {}).update(ways)
    text = json.dumps({"stamp": _native.stamp(), "features": ASKED, "loops": listed}, sort_keys=True)
    (folder / _native.NAMES[1]).write_text(text, encoding="utf-8")
    return len(lines)


def _shares(lines: Sequence[str], crew: int) -> list[list[str]]:
    """Deal loops out to processes: those of a model to one, as they call inner loops that it compiles once.

    The kinds of a loop's arguments are longer where there is more to compile.
    """
    models: dict[str, list[str]] = {}
    for line in lines:
        models.setdefault(line.split()[1], []).append(line)
    shares: list[list[str]] = [[] for _ in range(crew)]
    for loops in sorted(models.values(), key=lambda loops: -sum(map(len, loops))):
        min(shares, key=lambda share: sum(map(len, share))).extend(loops)
    return shares


def compile_share(target: Path, mark: str, lines: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Write the machine code of some loops as an object file; return its list, with ``mark`` in all names."""
    import llvmlite.binding as llvm
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    from voronym._kernels import _native

    context = cpu_target.target_context
    whole: Any = None
    listed: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines):
        name, _, kinds = line.partition(" ")
        module, _, function = name.rpartition(".")
        dispatcher = getattr(import_module(f"{_native.ROOM}.{module}"), function).dispatcher
        key = _native.parsed(kinds)
        types = tuple(_types(list(key), len(key)))
        dispatcher.compile(types)
        overload = dispatcher.overloads[types]
        returns = _returned(overload.signature.return_type)
        entry = f"voronym_{mark}_{number}"
        library = context.codegen().create_library(entry)
        with global_compiler_lock:
            library.add_ir_module(_entry(context, library, overload.fndesc, entry))
            library.add_linking_library(overload.library)
            library.finalize()
        part = llvm.parse_bitcode(library._final_module.as_bitcode())
        whole = part if whole is None else _linked(whole, part)
        listed.setdefault(name, {})[kinds] = [entry, _form(key), returns]
    for function in whole.functions:
        if not function.is_declaration and not function.name.startswith("voronym_"):
            function.linkage = "internal"
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=PROCESSOR, features=FEATURES if INTEL else "", opt=3, reloc="pic", codemodel="default"
    )
    _cleaned(llvm, whole, machine)
    target.write_bytes(machine.emit_object(whole))
    return listed


def fresh() -> bool:
    """Whether the compiled code belongs to the present sources and covers the whole list."""
    from voronym._kernels import _native

    try:
        listed = json.loads((_native.FOLDER / _native.NAMES[1]).read_text(encoding="utf-8"))
        wanted = (_native.FOLDER / "signatures.txt").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return False
    there = {f"{name} {kinds}" for name, loops in listed["loops"].items() for kinds in loops}
    return listed["stamp"] == _native.stamp() and there == set(wanted)


def provide(folder: Path) -> None:
    """Write machine code to a folder: copy it if it is up to date, compile it otherwise.

    With `VORONYM_KERNELS=compile` it is compiled in any case: what lies beside the sources may be of another
    Numba, and a release is made of sources alone.
    """
    from voronym._kernels import _native

    if os.environ.get("VORONYM_KERNELS") == "compile" or not fresh():
        build(folder)
    elif folder.resolve() != _native.FOLDER.resolve():
        for name in _native.NAMES:
            shutil.copy(_native.FOLDER / name, folder / name)


def _linked(whole: Any, part: Any) -> Any:
    """Link a module to the others; a name in both stands for the same loop."""
    there = {function.name for function in whole.functions if not function.is_declaration}
    for function in part.functions:
        if not function.is_declaration and function.name in there:
            function.linkage = "linkonce_odr"
    whole.link_in(part)
    return whole


def _cleaned(llvm: Any, module: Any, machine: Any) -> None:
    """Drop unreachable functions, above all the entry points from Python."""
    tuning = llvm.create_pipeline_tuning_options(speed_level=0)
    builder = llvm.create_pass_builder(machine, tuning)
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    manager.run(module, builder)


def _types(key: list[Any], count: int) -> Any:
    """Yield Numba's types for the first parts of a key, and remove those parts."""
    from numba.core import types
    from numba.np.numpy_support import from_dtype
    from numpy import dtype

    while key and count:
        part = key.pop(0)
        count -= 1
        if isinstance(part, type):
            size = key.pop(0)
            items = tuple(_types(key, size))
            yield types.BaseTuple.from_types(items, None if part is tuple else part)
        elif part is None:
            yield types.none
        elif part[0] in "<>|=":
            ndim, layout, readonly = (key.pop(0) for _ in range(3))
            yield types.Array(from_dtype(dtype(part)), ndim, layout, readonly=readonly)
        else:
            yield from_dtype(dtype(part))


def _form(key: list[Any]) -> str:
    """Return the format of the slots of all arguments, as `struct` reads it."""
    parts, form = iter(key), ""
    for part in parts:
        if isinstance(part, type):
            next(parts)
        elif part is None:
            form += "q"
        elif part[0] in "<>|=":
            form += "q" * (5 + 2 * next(parts))
            next(parts), next(parts)
        else:
            form += {"f8": "d", "u8": "Q"}.get(part, "q")
    return form


def _returned(kind: Any) -> Any:
    """Return how to read a result back: a name, or a list of names for a tuple."""
    from numba.core import types

    if kind == types.none:
        return None
    if isinstance(kind, types.BaseTuple):
        return [_returned(item) for item in kind]
    names = {types.boolean: "b1", types.float64: "f8", types.uint64: "u8"}
    if kind in names or isinstance(kind, types.Integer):
        return names.get(kind, "i8")
    raise TypeError(f"a loop returns {kind}, which cannot be passed back to Python")


def _entry(context: Any, library: Any, described: Any, name: str) -> Any:
    """Build the entry function: read arguments from slots of eight bytes, write the result to such slots."""
    from llvmlite import ir

    word, nothing = ir.IntType(64), ir.IntType(8).as_pointer()
    module = library.create_ir_module(name)
    function = ir.Function(module, ir.FunctionType(ir.IntType(32), [nothing, nothing]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    callee = context.declare_function(module, described)
    slots = builder.bitcast(function.args[0], word.as_pointer())
    out = builder.bitcast(function.args[1], word.as_pointer())

    def slot(base: Any, number: int, kind: Any) -> Any:
        place = builder.gep(base, [ir.Constant(word, number)])
        return builder.bitcast(place, kind.as_pointer())

    kinds = callee.function_type.args
    result, error = (builder.alloca(kind.pointee) for kind in kinds[:2])
    args = [builder.load(slot(slots, number, kind)) for number, kind in enumerate(kinds[2:])]
    status = builder.call(callee, [result, error, *args])
    returned = 0

    def store(value: Any) -> None:
        nonlocal returned
        if isinstance(value.type, (ir.LiteralStructType, ir.ArrayType)):
            many = (
                len(value.type.elements) if isinstance(value.type, ir.LiteralStructType) else value.type.count
            )
            for item in range(many):
                store(builder.extract_value(value, item))
            return
        if isinstance(value.type, ir.IntType) and value.type.width < 64:
            value = builder.zext(value, word) if value.type.width <= 8 else builder.sext(value, word)
        builder.store(value, slot(out, returned, value.type))
        returned += 1

    failed = builder.icmp_signed("!=", status, ir.Constant(status.type, 0))
    with builder.if_then(builder.not_(failed)):
        if _returned(described.restype) is not None:
            store(builder.load(result))
    builder.ret(builder.select(failed, ir.Constant(ir.IntType(32), 1), ir.Constant(ir.IntType(32), 0)))
    return module


if __name__ == "__main__":
    if all(os.environ.get(name) == value for name, value in environment().items()):
        provide(Path(sys.argv[1]))
    else:
        again = [sys.executable, "-m", "voronym._kernels._build", sys.argv[1]]
        sys.exit(subprocess.run(again, check=False, env={**os.environ, **environment()}).returncode)  # noqa: S603
