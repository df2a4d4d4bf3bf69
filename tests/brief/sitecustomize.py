"""What takes seconds in every release and report, made brief: in the tests, and in processes that they start.

Python imports a module of this name by itself when it starts. `conftest.py` puts this folder on the path of
all children: the page and its workers, commands, servers.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

BRIEF: dict[str, dict[str, Any]] = {
    "voronym.certify.front": {"BRIEF": 0.05},  # seconds for the proof
    "voronym.intruder": {"FIRST": ()},  # attacks
    "voronym.methods.auto": {"SWEEPS": 60.0, "LEAST": 0},  # proposals for each record
    "voronym.methods.blank_search": {"PROPOSALS": 100, "FEWEST": 20_000},
}


def change(module: ModuleType, values: dict[str, Any]) -> dict[str, Any]:
    """Give names of a module other values; return those that they had."""
    before = {name: getattr(module, name) for name in values}
    vars(module).update(values)
    return before


class Finder:
    """Change a module when it is first imported."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in BRIEF:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_change(module: ModuleType) -> None:
                run(module)
                change(module, BRIEF[name])

            spec.loader.exec_module = run_and_change  # type: ignore[method-assign]
        return spec


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]
else:  # a process that runs tests changes the values itself; workers of pytest are children, too
    sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, "__name__", "") != "Finder"]
