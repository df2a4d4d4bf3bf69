"""Run anonymeter's public evaluators on files, in a Python that has anonymeter; see `benchmarks.attacks`."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

GUESSES = 500


def main() -> None:
    """Read the job from the command line, and print the rates as JSON."""
    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    warnings.simplefilter("ignore")
    job = json.loads(sys.argv[1])
    tables = {name: pd.read_csv(job[name]) for name in ("ori", "syn", "control")}
    for table in tables.values():
        for column in table.select_dtypes("str" if pd.__version__ >= "3" else "object"):
            table[column] = table[column].astype(object)
    keys, confidential = job["keys"], job["confidential"]
    found = {}
    for mode in ("univariate", "multivariate"):
        one: Any = SinglingOutEvaluator(**tables, n_attacks=GUESSES, n_cols=3, max_attempts=20_000)
        found[f"singling-out {mode}"] = rates(one, {"mode": mode})
    one = LinkabilityEvaluator(**tables, n_attacks=GUESSES, aux_cols=(keys, confidential), n_neighbors=1)
    found["linkability"] = rates(one, {})
    for secret in confidential:
        number = pd.api.types.is_numeric_dtype(tables["ori"][secret])
        one = InferenceEvaluator(**tables, aux_cols=keys, secret=secret, regression=number, n_attacks=GUESSES)
        found[f"inference {secret}"] = rates(one, {})
    print(json.dumps(found))


def rates(evaluator: Any, how: dict[str, str]) -> dict[str, Any]:
    """Return what an evaluator finds: its rate, and that of people who are not in the table."""
    try:
        evaluator.evaluate(**how)
        found = evaluator.results(confidence_level=0.95)
    except Exception as error:  # too few guesses that succeed, columns that it cannot compare
        return {"why": f"{type(error).__name__}: {error}"[:120]}
    return {
        "right": float(found.attack_rate.value),
        "control": None if found.control_rate is None else float(found.control_rate.value),
        "guesses": int(found.n_attacks_ori),
    }


if __name__ == "__main__":
    main()
