"""Run a benchmark: ``python -m benchmarks [NAME] [--only TEXT] [--quick] [--json]``.

NAME is `speed` by default, or `attacks`, `channel`, `enforce`, `gpu`, `large`, `limits`, `location`,
`location-epoch`, `location-load`, `loss`, `memory`, `minute`, `mixed`, `mixed-search`, `plane`,
`population`, `private`, `private-use`, `proof`, `quantize`, `ranges`, `records`, `start`,
`steps-attacked`, `suppression`: one module each.
"""

from __future__ import annotations

import argparse
import json

from benchmarks import (  # noqa: F401 - importing registers
    attacks,
    channel,
    enforce,
    gpu,
    large,
    limits,
    location,
    location_epoch,
    location_load,
    loss,
    memory,
    minute,
    mixed,
    mixed_search,
    plane,
    population,
    private,
    private_use,
    proof,
    quantize,
    ranges,
    records,
    speed,
    start,
    steps_attacked,
    suppression,
)
from benchmarks.base import Benchmark


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="speed, memory and loss")
    parser.add_argument("name", nargs="?", default="speed", choices=sorted(Benchmark.registry))
    parser.add_argument("--only", default="", help="the cases with this text in one of their values")
    parser.add_argument("--quick", action="store_true", help="fewer records, to see that it works")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--case", help=argparse.SUPPRESS)  # one case, in a process of its own
    options = parser.parse_args()
    benchmark = Benchmark.registry[options.name]()
    if options.case:
        print(json.dumps(benchmark.measure(**json.loads(options.case))))
    else:
        benchmark.run(quick=options.quick, as_json=options.json, only=options.only)


if __name__ == "__main__":
    main()
