"""Intruders on each step by itself, on each way of publishing, and on both together.

A step alone makes no groups: it is done to the table, the rows are shuffled, and the intruders get the rest.
So a step is seen for what it is worth without k.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from typing import Any

from benchmarks.base import Benchmark, Case, Row

DATA: dict[str, dict[str, Any]] = {
    "hospital": {
        "keys": ["age", "sex", "zip", "admitted", "weight"],
        "confidential": ["cost"],
        "steps": {
            "nothing": [],
            "top": ["top age,weight=5%"],
            "bottom": ["bottom age,weight=5%"],
            "round": ["round age=10", "round weight=10", "round admitted=30"],
            "recode": ["recode zip level=3"],
            "suppress": ["suppress zip rare=60"],
            "noise": ["noise age,weight=0.3"],
            "rank-swap": ["rank-swap age,weight,admitted=10"],
            "shuffle": ["shuffle age,weight,admitted"],
            "record-swap": ["record-swap zip=20 match=sex"],
            "pram": ["pram sex,zip=0.3"],
            "top, round, recode": [
                "top age,weight=5%",
                "round age=10",
                "round weight=10",
                "recode zip level=3",
            ],
        },
        "trees": {"zip": "zip"},
    },
    "adult": {
        "keys": ["age", "education-num", "marital-status", "occupation", "sex", "race"],
        "confidential": ["hours-per-week"],
        "steps": {
            "nothing": [],
            "top": ["top age=5%"],
            "bottom": ["bottom age=5%"],
            "round": ["round age=10", "round education-num=4"],
            "recode": ["recode marital-status values=Divorced,Separated,Widowed to=alone"],
            "suppress": ["suppress occupation rare=100"],
            "noise": ["noise age,education-num=0.3"],
            "rank-swap": ["rank-swap age,education-num=10"],
            "shuffle": ["shuffle age,education-num"],
            "record-swap": ["record-swap occupation=20 match=sex"],
            "pram": ["pram sex,race,marital-status,occupation=0.3"],
            "top, round, recode": [
                "top age=5%",
                "round age=10",
                "round education-num=4",
                "recode marital-status values=Divorced,Separated,Widowed to=alone",
            ],
        },
        "trees": {},
    },
}
PUBLISHED: dict[str, dict[str, Any]] = {
    "mean": {},
    "median": {"publish": "median"},
    "interval": {"publish": "interval"},
    "interval, exact ends": {"publish": "interval", "ends": "exact"},
    "hierarchy": {"publish": "hierarchy"},
    "ranges": {"space": "ranges", "method": "cuts"},
    "lattice": {"method": "lattice"},
}
CONFIDENTIAL = {
    "nothing": [],
    "top": ["top {}=5%"],
    "round": ["round {}={wide}"],
    "noise": ["noise {}=0.3"],
    "rank-swap": ["rank-swap {}=10"],
    "shuffle": ["shuffle {}"],
}
LINKS = ("linkage", "linkage-assignment", "linkage-exact")
ATTACKS = [*LINKS, "singling-out", "range-ends", "group-guess", "learned-guess"]


class StepsAttacked(Benchmark):
    """A thousand patients and 1,500 people of Adult."""

    name = "steps-attacked"
    title = (
        "percent right: links of people to records, descriptions of one, ends that are somebody's, guesses"
    )
    columns = {  # noqa: RUF012 - a constant of the class
        "data": "data",
        "what": "what",
        "method": "how",
        "k": "k counted",
        "loss": "loss %",
        "linked": "linked %",
        "singled": "singled out, excess %",
        "ends": "range ends, excess %",
        "guessed": "value guessed, excess %",
        "seconds": "seconds",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return each step alone on keys, each on a confidential column, and each way of publishing."""
        for data, about in DATA.items():
            n = 300 if quick else {"hospital": 1_000, "adult": 1_500}[data]
            some = 4 if quick else 99
            for step in list(about["steps"])[:some]:
                yield {"data": data, "n": n, "what": "step on keys", "method": step}
            for step in list(CONFIDENTIAL)[:some]:
                yield {"data": data, "n": n, "what": "step on confidential", "method": step}
            for way in list(PUBLISHED)[:some]:
                yield {"data": data, "n": n, "what": "k = 5", "method": way}
            for way in ("mean", "local-suppression"):
                yield {"data": data, "n": n, "what": "top, round, recode, then k = 5", "method": way}

    @staticmethod
    def measure(**case: Any) -> Row:
        """Make the table that is published, and let the intruders look at it."""
        import numpy as np

        import voronym as vr

        warnings.simplefilter("ignore")
        about = DATA[case["data"]]
        keys, confidential = about["keys"], about["confidential"]
        people = _people(case["data"], case["n"]).select(keys + confidential).drop_nulls()
        started = time.perf_counter()
        roles = {"keys": keys, "confidential": confidential}
        if case["what"].startswith("step on"):
            published = _stepped(people, roles, _steps(case, about))
            order = np.random.default_rng(0).permutation(len(people))
            published = published[order.tolist()]
            loss = _loss(people[order.tolist()], published, keys)
        else:
            more = dict(PUBLISHED.get(case["method"], {"method": case["method"]}))
            steps = about["steps"]["top, round, recode"] if case["what"] != "k = 5" else []
            if more.get("publish") == "hierarchy":
                more = {"publish": {"*": "interval", **dict.fromkeys(_trees(people, about), "hierarchy")}}
                more["hierarchies"] = _trees(people, about)
            release = vr.anonymize(people, k=5, steps=steps, **{"method": "mdav", **roles, **more})
            published, order = release.table, np.asarray(release._evidence.order)
            loss = release.information_loss
        found = vr.attack(
            published, **roles, original=people, aligned=order, attacks=ATTACKS, targets=500, seed=0
        )
        by = {one.attack: one for one in found.outcomes}
        guesses = [by[name].excess for name in ("group-guess", "learned-guess") if name in by]
        return {
            "k": min(vr.measure(published, keys=keys).risk.k, len(people)),
            "loss": loss,
            "linked": 100 * max(by[name].success for name in LINKS if name in by),
            "singled": 100 * by["singling-out"].excess if "singling-out" in by else None,
            "ends": 100 * by["range-ends"].excess if "range-ends" in by else None,
            "guessed": 100 * max(guesses) if guesses else None,
            "seconds": time.perf_counter() - started,
        }


def _people(data: str, n: int) -> Any:
    import voronym as vr

    return vr.datasets.hospital(n, seed=0) if data == "hospital" else vr.datasets.adult().sample(n, seed=0)


def _steps(case: Case, about: dict[str, Any]) -> list[str]:
    if case["what"] == "step on keys":
        steps: list[str] = about["steps"][case["method"]]
        return steps
    column = about["confidential"][0]
    wide = 1_000 if column == "cost" else 10
    return [text.format(column, wide=wide) for text in CONFIDENTIAL[case["method"]]]


def _stepped(people: Any, roles: dict[str, Any], steps: list[str]) -> Any:
    """Do steps to a table and nothing else."""
    from voronym.steps import parse_step, run
    from voronym.table.table import Table

    made, _, _ = run(Table.build(people, **roles), [parse_step(one) for one in steps], least=1)
    return made.frame.to_native()


def _loss(people: Any, published: Any, keys: list[str]) -> float:
    import voronym as vr

    found = vr.measure(published, keys=keys, original=people, aligned=True).utility
    return float(found.information_loss)


def _trees(people: Any, about: dict[str, Any]) -> dict[str, Any]:
    """Return hierarchies of codes by their first signs; of other words, all or nothing."""
    return {
        name: {code: [code[:4] + "*", code[:2] + "***", "*"] for code in people[name].unique()}
        for name in about["trees"]
    }
