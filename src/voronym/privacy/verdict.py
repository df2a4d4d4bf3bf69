"""Combine the findings of a model in several parts of a table.

Each class is in one part. Measures per class combine by their worst value, sums over classes by addition. A
table in memory is one part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from voronym.core.promise import meets
from voronym.privacy.base import Finding

_WORST = 5
_SUMS = ("records", "classes", "classes_below", "records_below", "classes_failing", "records_failing")


def verdict(findings: Sequence[Finding]) -> Finding:
    """Return the finding of a model over all parts.

    Parameters
    ----------
    findings : sequence of Finding
        Findings of one model, in parts that share no class.

    Examples
    --------
    >>> parts = [Finding("k-anonymity", 7.0, 5.0, True, at_most=False),
    ...          Finding("k-anonymity", 4.0, 5.0, False, at_most=False)]
    >>> print(verdict(parts))
    k-anonymity: 4, required 5: does not hold
    """
    if len(findings) == 1:
        return findings[0]
    columns = [finding.columns for finding in findings if finding.columns is not None]
    if len(columns) == len(findings):
        return _by_column(findings, columns)
    value = _value(findings[0], [finding.value for finding in findings])
    worst = sorted(
        (place for finding in findings for place in finding.worst),
        key=lambda place: _rank(place, findings[0]),
    )
    chosen = next((finding for finding in findings if finding.value == value), findings[0])
    return replace(
        chosen,
        value=value,
        holds=_holds(findings[0], value, [finding.holds for finding in findings]),
        worst=tuple(_joined(worst))[:_WORST],
        detail=_detail([finding.detail for finding in findings]),
    )


def _by_column(findings: Sequence[Finding], columns: Sequence[Mapping[str, Mapping[str, Any]]]) -> Finding:
    """Return the finding of the worst column, each over all parts."""
    first = findings[0]
    made = {
        name: _column(
            first, [(part[name], finding.detail) for part, finding in zip(columns, findings, strict=True)]
        )
        for name in columns[0]
    }
    pick = max if first.at_most else min
    column = pick(made, key=lambda name: made[name]["value"])
    named = (finding.about for finding in findings if finding.column == column)
    about = next(named, first.about)
    worst = sorted(
        (place for finding in findings for place in finding.worst), key=lambda place: _rank(place, first)
    )
    return replace(
        first,
        value=made[column]["value"],
        holds=all(figures["holds"] for figures in made.values()),
        worst=tuple(worst[:_WORST]),
        detail={**_detail([finding.detail for finding in findings]), "column": column, "columns": made},
        about=about,
    )


def _column(first: Finding, parts: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the figures of one column over all parts."""
    figures = [part for part, _ in parts]
    value = _value(first, [part["value"] for part in figures])
    out: dict[str, Any] = {
        "value": value,
        "holds": _holds(first, value, [part["holds"] for part in figures]),
        **{name: figures[0][name] for name in ("levels", "missing", "discretisation") if name in figures[0]},
    }
    if "mean" in figures[0]:
        rows = [float(detail["records"]) for _, detail in parts]
        out |= {name: sum(part[name] for part in figures) for name in ("classes_failing", "records_failing")}
        weighted = [part["mean"] * many for part, many in zip(figures, rows, strict=True)]
        out["mean"] = math.fsum(weighted) / sum(rows)
    return out


def _value(first: Finding, values: Sequence[float]) -> float:
    if first.additive:
        return math.fsum(values)
    return max(values) if first.at_most else min(values)


def _holds(first: Finding, value: float, each: Sequence[bool]) -> bool:
    if not first.additive:
        return all(each)
    return bool(meets(value, first.required, at_most=first.at_most, strict=first.strict))


def _rank(place: Mapping[str, Any], first: Finding) -> tuple[float, float]:
    value = float(place.get("value", place.get("size", 0.0)))
    return (-value if first.at_most else value, float(place.get("size", 0.0)))


def _joined(places: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Merge places of equal size into one, if they count classes."""
    out: list[dict[str, Any]] = []
    for place in places:
        if out and "classes" in place and out[-1].get("size") == place["size"]:
            for name in ("classes", "records"):
                if name in place:
                    out[-1][name] += place[name]
        else:
            out.append(dict(place))
    return out


def _detail(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return further figures: counts are added up, k is the least."""
    out = dict(parts[0])
    for name in _SUMS:
        if name in out:
            out[name] = sum(part[name] for part in parts)
    if "k" in out:
        out["k"] = min(part["k"] for part in parts)
    return out
