"""Draw synthetic records by dpmm's MST, in a Python that has dpmm; see `benchmarks.private_use`."""

from __future__ import annotations

import json
import sys
import warnings


def main() -> None:
    """Read the job from the command line: a CSV file, its domain, each ε; write as many synthetic records."""
    import pandas as pd
    from dpmm.pipelines import MSTPipeline

    warnings.simplefilter("ignore")
    job = json.loads(sys.argv[1])
    table = pd.read_csv(job["file"])
    for name in job["nominal"]:
        table[name] = pd.Categorical(table[name].astype(str))
    domain = {name: {"lower": low, "upper": high} for name, (low, high) in job["bounds"].items()}
    domain |= {name: {"categories": values} for name, values in job["nominal"].items()}
    for epsilon, out in job["out"]:
        # a tenth of ε finds the bins of numbers
        model = MSTPipeline(epsilon=0.9 * epsilon, delta=job["delta"], proc_epsilon=0.1 * epsilon, n_jobs=1)
        model.fit(table, domain=domain)
        model.generate(n_records=len(table)).to_csv(out, index=False)


if __name__ == "__main__":
    main()
