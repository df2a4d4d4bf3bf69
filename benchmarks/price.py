"""What safer defaults cost, against another checkout: ``python -m benchmarks.price PATH``.

PATH is a checkout of an earlier commit (``git worktree add PATH COMMIT``). Each case asks both for the same
release, with the same words; what differs is what they do by default. Loss is that of the keys' variance, in
percent, counted by this checkout for the groups of both where groups publish means: checkouts may count
differently (a value that is missing once counted as a whole key). Processor seconds are those of the release
alone, after a smaller one that loads and compiles.
``--only TEXT`` takes the cases with a text in their name.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

HERE = Path(__file__).parents[1]
LIMIT = 300
"""Seconds that a case may take."""
CHILD = (
    "import sys; sys.path[:0] = [sys.argv[1], sys.argv[2]]; "
    "from benchmarks.price import child; child(*sys.argv[3:])"
)
PATIENTS = ["age", "sex", "zip", "nationality", "admitted", "weight"]
ADULT = ["age", "workclass", "education-num", "marital-status", "race", "sex", "hours-per-week"]
CENSUS = ["AGI", "EMCONTRB", "FEDTAX", "PTOTVAL"]
ROLES: dict[str, dict[str, Any]] = {
    "patients": {"keys": PATIENTS, "confidential": ["diagnosis"]},
    "adult": {"keys": ADULT, "confidential": ["occupation"]},
    "census": {"keys": CENSUS, "confidential": ["FICA"]},
}
AMOUNT = {"patients": "weight", "adult": "hours-per-week", "census": "AGI"}
WEIGHT = {"patients": "days", "adult": "fnlwgt", "census": "AFNLWGT"}
CASES: dict[str, dict[str, Any]] = {
    "groups of 5": {},
    "ranges": {"publish": {"*": "interval"}},
    "top share": {"steps": ["top {amount}=2%"]},
    "weighted means": {"weights": "{weight}"},
    "two values in a group": {"models": ["p-sensitive=2"]},
    "t-closeness 0.3": {"models": ["t-closeness=0.3"]},
    "two values, method known": {"models": ["p-sensitive=2"], "intruder": "method"},
    "gaps": {"method": "local-suppression"},
    "channel, risk 0.05": {"method": "channel", "k": None, "options": {"max_risk": 0.05}},
    "second month, 5 % others": {"keep_groups": True},
}


def table_of(data: str) -> Any:
    """Return a table, every record with a name."""
    import polars as pl

    from voronym import datasets

    frame = datasets.hospital(1000) if data == "patients" else getattr(datasets, data)()
    if data == "adult":
        frame = frame.with_columns(pl.col(pl.String).fill_null("?"))
    return frame.with_row_index("person").with_columns(pl.format("P{}", "person").alias("person"))


def asked_of(data: str, case: str) -> dict[str, Any]:
    """Return what to ask for."""
    asked = {
        "k": 5,
        "seed": 0,
        "identifiers": ["person"],
        "drop_undeclared": True,
        **ROLES[data],
        **CASES[case],
    }
    asked = json.loads(json.dumps(asked).replace("{amount}", AMOUNT[data]).replace("{weight}", WEIGHT[data]))
    return {name: value for name, value in asked.items() if value is not None}


def child(data: str, case: str, other: str) -> None:
    """Make a release and print what it cost; called in a process of its own.

    ``other`` is the file of the groups that the earlier checkout made: they are kept there, or counted.
    """
    import warnings

    warnings.simplefilter("ignore")
    import numpy as np

    import voronym as vr

    table, asked = table_of(data), asked_of(data, case)
    monthly = bool(asked.get("keep_groups"))
    with tempfile.TemporaryDirectory() as folder:

        def made(rows: Any, name: str) -> Any:
            ledger = {"ledger": f"{folder}/{name}.ledger"} if monthly else {}
            release = vr.anonymize(rows, **asked, **ledger)
            if monthly:
                release.write(f"{folder}/{name}-{len(rows)}-{rows['person'][0]}.csv")
            return release

        made(table.sample(min(400, len(table)), seed=2), "small")
        started = process_time()
        if monthly:
            many = len(table) // 20
            made(table[:-many], "large")
            started = process_time()
            release = made(table[many:], "large")
        else:
            release = made(table, "large")
        spent = process_time() - started
    lost = release.information_loss
    loss = "" if lost is None else f"{lost:.3f}"
    if asked.get("method") == "local-suppression":
        before, after = (frame.select(asked["keys"]).null_count() for frame in (table, release.table))
        loss = f"{(after.sum_horizontal() - before.sum_horizontal()).item()} gaps"
    if "publish" in asked and release.penalty is not None:
        loss = f"{release.penalty.certainty:.2f} (certainty penalty)"
    result = {"loss": loss, "seconds": spent, "rows": len(release.table)}
    evidence = release._evidence
    centres = not {"publish", "method"} & set(asked)
    grouped = evidence.grouped if evidence is not None and centres else None
    if grouped is not None and not Path(other).exists():
        np.save(other, grouped.partition.labels)
    elif grouped is not None and grouped.records is not None:
        earlier = np.load(other)
        if len(earlier) == len(grouped.partition.labels):
            now, before = (grouped.records.cost(part) for part in (grouped.partition, vr.Partition(earlier)))
            result["other"] = f"{lost * before / now:.3f}"
    print(json.dumps(result))


def measured(root: Path, data: str, case: str, folder: str) -> dict[str, Any]:
    """Return what a checkout answers."""
    command = [sys.executable, "-c", CHILD, str(root / "src"), str(HERE), data, case, f"{folder}/other.npy"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"more than {LIMIT} s"}
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1][:100]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """Print a line of the table for each case."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--data", action="append", choices=list(ROLES))
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print("| data | asked | loss before, % | now, % | processor s before | now | rows now |")
    print("|---|---|---|---|---|---|---|")
    for data in given.data or ROLES:
        for case in CASES:
            if given.only in case:
                with tempfile.TemporaryDirectory() as folder:
                    both = given.path.resolve(), HERE
                    before, now = (measured(root, data, case, folder) for root in both)
                cells = [
                    before.get("error") or now.get("other") or before["loss"],
                    now.get("error") or now["loss"],
                ]
                cells += [f"{item['seconds']:.2f}" if "seconds" in item else "" for item in (before, now)]
                print(f"| {data} | {case} | {' | '.join(cells)} | {now.get('rows', '')} |", flush=True)


if __name__ == "__main__":
    main()
