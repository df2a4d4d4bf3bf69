"""The result of a comparison of methods: a row for each method and k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from markupsafe import Markup

from voronym.core.display import html_table, text_table
from voronym.errors import InputError
from voronym.evaluate.tradeoff import Plane
from voronym.privacy.information import Estimate

if TYPE_CHECKING:
    from voronym.report.plot import Plot


@dataclass(frozen=True)
class Row:
    """The result of one method at one k."""

    method: str
    k: int
    loss: float
    """Information loss of the groups, in percent of the rows' variance: methods minimise it."""
    linkage: float
    """Share of records that an intruder links to the nearest published record. If people have several rows,
    the share of people, linked by their mean keys.
    """
    linkage_low: float
    linkage_high: float
    groups: int
    largest: int
    seconds: float
    information: Estimate | None = None
    """Information of the groups about the confidential column; None if not requested."""
    limits: Mapping[str, float] | None = None
    """Limits on this information at the same loss, in nats, by kind of curve."""
    published: float | None = None
    """Information loss as published, in percent: after centres were rounded to values that can occur."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without figures that were not requested."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Comparison:
    """The rows of a comparison, and the methods that were left out, with the reason."""

    rows: tuple[Row, ...]
    skipped: Mapping[str, str]
    records: int
    keys: tuple[str, ...]
    plane: Plane | None = None
    """The plane of distortion and risk, with its limits, if mutual information was requested."""
    counted: str = "records"
    """The units that were grouped: records, or people with several rows each."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        out = {
            "records": self.records,
            "counted": self.counted,
            "keys": list(self.keys),
            "rows": [row.to_dict() for row in self.rows],
            "skipped": dict(self.skipped),
        }
        return out if self.plane is None else out | {"plane": self.plane.to_dict()}

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a Polars data frame; nested figures get a column each."""
        flat = []
        for row in self.rows:
            plain = row.to_dict()
            for name in ("information", "limits"):
                more = plain.pop(name, {})
                plain |= {f"{name}_{key}": value for key, value in more.items()}
            flat.append(plain)
        return pl.DataFrame(flat, infer_schema_length=None)

    def plot(self, what: str = "loss") -> Plot:
        """Return a picture for a notebook: "loss" of each method and k, or "map" of risk and loss."""
        from voronym.report.plot import plot_comparison  # a layer above: only when asked for

        return plot_comparison(self, what)

    def best(self, k: int) -> Row:
        """Return the row of least loss at this k."""
        rows = [row for row in self.rows if row.k == k]
        if not rows:
            known = ", ".join(map(str, sorted({row.k for row in self.rows}))) or "none"
            raise InputError(f"no method was compared at k={k}; there is: {known}")
        return min(rows, key=lambda row: (row.loss, row.seconds))

    def __repr__(self) -> str:
        ks = ", ".join(map(str, sorted({row.k for row in self.rows})))
        names = ", ".join(dict.fromkeys(row.method for row in self.rows))
        return (
            f"Comparison({names} at k={ks} on {self.records:,} {self.counted}, keys {', '.join(self.keys)})"
        )

    def __str__(self) -> str:
        return "\n".join([repr(self), text_table(*self._table()), *self._left_out()])

    def _repr_html_(self) -> str:
        head, rows = self._table()
        best = {k: self.best(k).method for k in {row.k for row in self.rows}}
        for row in rows:
            if best[row[0]] == row[1]:
                row[1] = Markup("<b>{}</b>").format(row[1])
        caption = f"{self.records:,} {self.counted}, keys {', '.join(self.keys)}; the least lossy first"
        note = [[line] for line in self._left_out()]
        return str(html_table(head, rows, caption=caption) + (html_table([], note) if note else Markup("")))

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        """Return headings and rows, the least lossy first at each k."""
        result = self.plane is not None
        risks = ["linked %", "told, nats"] if result else ["linked %"]
        rows = [
            [
                row.k, row.method, row.loss, row.published, 100 * row.linkage,
                *([row.information and row.information.plug_in] if result else []),
                row.groups, row.largest, row.seconds,
            ]
            for row in sorted(self.rows, key=lambda row: (row.k, row.loss, row.seconds))
        ]  # fmt: skip
        return ["k", "method", "loss %", "published %", *risks, "groups", "largest", "seconds"], rows

    def _left_out(self) -> list[str]:
        return [f"left out: {what}: {why}" for what, why in self.skipped.items()]
