"""Searches among mixed records, for the same seconds: patients who are made up, in categories and numbers."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import Any, ClassVar

from benchmarks.base import Benchmark, Case, Row

KEYS = {
    "categories": ["age", "sex", "nationality", "diagnosis", "zip"],
    "many values": ["age", "sex", "zip", "nationality", "admitted", "weight"],
}


def space(n: int, keys: list[str], seed: int) -> Any:
    """Return the mixed space of so many patients."""
    import voronym as vr
    from voronym.records.fields import make_fields
    from voronym.space import Mixed
    from voronym.table import Table

    table = vr.datasets.hospital(n, seed=seed).select(keys)
    return Mixed.fit(make_fields(Table.of(table, vr.Schema.build(table, keys=keys)), keys)[0])


class MixedSearch(Benchmark):
    """What `exchange`, `anneal` and `pairs` reach in the same time, from the table to the groups."""

    name = "mixed-search"
    title = "Mixed records, groups of 5: loss in percent after so many seconds"
    columns: ClassVar[dict[str, str]] = {
        "n": "records",
        "keys": "keys",
        "limit": "limit, s",
        "method": "method",
        "seconds": "s",
        "loss": "loss %",
        "groups": "groups",
    }

    def cases(self, *, quick: bool) -> Iterable[Case]:
        """Return every method on every table."""
        for n, limit in ((2_000, 2.0),) if quick else ((5_000, 10.0), (20_000, 20.0), (100_000, 60.0)):
            for keys in KEYS:
                for method in ("exchange", "anneal", "pairs"):
                    yield {"n": n, "keys": keys, "limit": limit, "method": method}

    @staticmethod
    def measure(*, n: int, keys: str, limit: float, method: str) -> Row:
        """Search; a call beforehand compiles."""
        import voronym as vr

        few, many = space(300, KEYS[keys], 1), space(n, KEYS[keys], 2)
        vr.microaggregate(few.codes, 4, method=method, space=few, time_limit=0.5)
        clock = perf_counter()
        part = vr.microaggregate(many.codes, 5, method=method, space=many, time_limit=limit)
        seconds = perf_counter() - clock
        records = many.records(many.codes)
        return {
            "seconds": seconds,
            "loss": 100.0 * records.cost(part) / records.total,
            "groups": part.n_cells,
        }
