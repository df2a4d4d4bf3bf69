"""`voronym doctor`: list the installed parts, and test them."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from time import perf_counter
from typing import Any

import typer

from voronym.cli import common
from voronym.cli.verbs import verb

_REQUIREMENT = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?\s*([^;]*)(?:;.*extra == ['\"]([\w-]+)['\"])?")
_FOR_US = ("test", "docs", "bench")
"""Extras for developers of the program itself."""


@verb(
    "doctor",
    purpose="Look up",
    examples=("voronym doctor",),
    place=3,
)
def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("doctor")(doctor)


def doctor(json: common.Json = False) -> None:
    """List what is installed and test whether it works: exit code 1 if it does not."""
    with common.ticker(not json):
        result: dict[str, Any] = {
            "versions": _versions(),
            "machine": _machine(),
            "gpu": _gpu(),
            "caches": _caches(),
            "extras": _extras(),
            "plugins": _plugins(),
            "trial": _trial(),
        }
    if json:
        common.emit(result)
    else:
        _show(result)
    if not result["trial"]["works"]:
        raise typer.Exit(1)


def _versions() -> dict[str, str]:
    core = [name for name, extra in _required() if not extra]
    return {
        "voronym": version("voronym"),
        "python": platform.python_version(),
        **{name: _installed(name) or "missing" for name in sorted(core)},
    }


def _required() -> list[tuple[str, str]]:
    """Return the required packages, each with the extra that needs it ("" for none)."""
    matches = (_REQUIREMENT.match(line) for line in requires("voronym") or ())
    return [(match[1].lower(), match[3] or "") for match in matches if match]


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _machine() -> dict[str, Any]:
    from voronym.core.context import Context

    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # another system than Linux
        usable = os.cpu_count() or 1
    return {
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "processors": usable,
        "threads": Context().threads,
        "memory_gib": _memory(),
    }


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):  # another system
        return None


def _gpu() -> dict[str, Any]:
    from voronym._cuda import device

    reason = device.missing()
    return {"usable": reason is None, "says": device.name() if reason is None else reason}


def _caches() -> dict[str, Any]:
    """Report where compiled loops are kept, and whether that folder is writable."""
    from voronym import _kernels
    from voronym._kernels import _native

    kept = os.environ.get("NUMBA_CACHE_DIR")
    place = Path(kept) if kept else Path(str(_kernels.__file__)).parent / "__pycache__"
    files = list(place.rglob("*.nbc")) if place.is_dir() else []
    data = os.environ.get("VORONYM_DATA")
    return {
        "compiled": str(place),
        "shipped": sum(map(len, _native._library()[1].values())),
        "kernels": len(files),
        "mebibytes": round(sum(file.stat().st_size for file in files) / 2**20, 1),
        "writable": os.access(place if place.is_dir() else place.parent, os.W_OK),
        "reference_data": data,
    }


def _extras() -> dict[str, dict[str, str | None]]:
    """Return the packages of each extra, and their installed versions."""
    out: dict[str, dict[str, str | None]] = {}
    for name, extra in _required():
        if extra and extra not in _FOR_US and name != "voronym":
            out.setdefault(extra, {})[name] = _installed(name)
    return dict(sorted(out.items()))


def _plugins() -> list[dict[str, Any]]:
    """Load all plug-ins; return for each its registered entries, or the error."""
    import voronym._public  # noqa: F401 - plug-ins add to registries, which the rooms fill first
    from voronym.cli.help import Commands
    from voronym.core.plugin import plugins

    list(Commands())  # makes every verb, so that one that cannot be made is found out
    rows: list[dict[str, Any]] = []
    for plugin in plugins():
        entries: dict[str, list[str]] = {}
        for noun, name in plugin.entries:
            entries.setdefault(noun, []).append(name)
        rows.append(
            {
                "name": plugin.name,
                "distribution": plugin.distribution,
                "version": plugin.version,
                "entries": entries,
                "problem": plugin.problem or None,
                "seconds": round(plugin.seconds, 2),
            }
        )
    return rows


def _trial() -> dict[str, Any]:
    """Anonymize a small table, and count it by independent code."""
    start = perf_counter()
    try:
        import voronym as vr

        people = vr.datasets.hospital(60, seed=1)
        release = vr.anonymize(people, keys=["age", "sex", "zip"], drop_undeclared=True, k=5, method="mdav")
        smallest = min(release.table.group_by(["age", "sex", "zip"]).len()["len"].to_list())
    except Exception as error:  # whatever it is, that is the finding
        return {"works": False, "says": f"{type(error).__name__} while 60 made-up patients were anonymized"}
    seconds = perf_counter() - start
    says = f"60 made-up patients in groups of {smallest} or more, {seconds:.1f} s"
    return {"works": smallest >= 5, "says": says, "seconds": round(seconds, 2)}


def _show(values: dict[str, Any]) -> None:
    out, result = sys.stdout.write, values["machine"]
    out("Versions\n")
    for name, text in values["versions"].items():
        out(f"  {name:<12} {text}\n")
    memory = "" if result["memory_gib"] is None else f", {result['memory_gib']} GiB of memory"
    out(f"\nMachine\n  {result['system']}\n")
    out(f"  {result['processors']} processors{memory}; work is done in {result['threads']} threads\n")
    gpu, kept = values["gpu"], values["caches"]
    out(f"  GPU: {gpu['says']}\n")
    out(f"\nCaches\n  {kept['shipped']} loops came as machine code\n")
    out(f"  {kept['kernels']} compiled loops, {kept['mebibytes']} MiB, in\n  {kept['compiled']}\n")
    if not kept["writable"]:
        out("  which cannot be written to: every run compiles again. Set NUMBA_CACHE_DIR to another folder\n")
    data = kept["reference_data"] or "not set, so papers and benchmarks on published tables cannot run"
    out(f"  VORONYM_DATA: {data}\n\nExtras\n")
    for extra, packages in values["extras"].items():
        lacking = [name for name, item in packages.items() if item is None]
        out(f"  {extra:<8} {_extra_status(extra, lacking)}\n")
    out("\nPlug-ins\n" if values["plugins"] else "\nPlug-ins\n  none\n")
    for plugin in values["plugins"]:
        out(f"  {plugin['name']:<16} {plugin['distribution']} {plugin['version']}: {_entries(plugin)}\n")
    trial = values["trial"]
    out(f"\nTrial\n  {'works' if trial['works'] else 'FAILS'}: {trial['says']}\n")


def _entries(plugin: dict[str, Any]) -> str:
    """Return a line about a plug-in: its registered entries and its error."""
    text = "; ".join(f"{noun} {', '.join(names)}" for noun, names in plugin["entries"].items())
    if plugin["problem"]:
        return f"FAILS: {plugin['problem']}" + (f" (it has {text})" if text else "")
    return text or "nothing"


def _extra_status(extra: str, lacking: list[str]) -> str:
    """Report whether an extra is installed, and how to install it."""
    if not lacking:
        return "installed"
    return f"lacks {', '.join(lacking)}: pip install 'voronym[{extra}]'"
