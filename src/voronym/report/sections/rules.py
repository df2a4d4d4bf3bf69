"""Randomised keys: the effect of each rule, its noise, and the matrices for correction."""

from __future__ import annotations

import csv
import io

from voronym.dossier import Dossier
from voronym.dossier.masks import Channel, Matrix, Rule
from voronym.report import bars
from voronym.report.axes import WIDE
from voronym.report.bars import Range, ranges
from voronym.report.section import Data, section
from voronym.report.svg import clean, percent
from voronym.report.write import Table, decimal, fine, names, nats

KINDS = {"noise": "noise", "pram": "a matrix"}
OTHERS = "all others"


def called(columns: tuple[str, ...]) -> str:
    """Name the keys of a rule."""
    return names([clean(name) for name in columns], 4)


@section("rules", "What the keys tell, and what it cost", needs=("public.channel",), place=20)
def rules(_: Dossier, made: Channel) -> Data:
    """Show each rule: information of its keys before and after, planned and measured distortion."""
    dots = [
        Range(f"{called(rule.columns)} ({KINDS.get(rule.kind, rule.kind)})", rule.information, rule.risk)
        for rule in made.rules
    ]
    if (seen := made.measured) is not None:
        low, high = (max(0.0, end) for end in seen.interval)
        dots.append(Range(f"measured: {names(seen.keys, 4)}", None, max(0.0, seen.excess), (low, high)))
    ends = [v for dot in dots for v in (dot.before, dot.after, *(dot.interval or ())) if v is not None]
    result = ranges(
        dots,
        title="What the keys told and tell",
        limits=(0.0, 1.08 * max(ends) or 1.0),
    )
    risks = Table.of(
        ("keys", "unmasked", "published", "proven within"),
        [(called(o.columns), nats(o.information), nats(o.risk), _gap(o.gap)) for o in made.rules],
        caption="Risk in nats",
    )
    lost = ranges(
        [Range(called(item.columns), 100 * item.planned, 100 * item.distortion) for item in made.rules],
        title="Planned and measured distortion",
        limits=(0.0, 105.0 * max(max(member.planned, member.distortion) for member in made.rules) or 1.0),
        unit=" %",
        hints=("planned", "measured"),
    )
    distortions = Table.of(
        ("keys", "planned", "measured", "difference"),
        [
            (
                called(entry.columns),
                fine(100 * entry.planned),
                fine(100 * entry.distortion),
                f"{100 * (entry.distortion - entry.planned):+.1f} points".replace("-", "−"),
            )
            for entry in made.rules
        ],
        caption="Share of the variance",
    )
    return {
        "told": result,
        "risks": risks,
        "lost": lost,
        "distortions": distortions,
        "made": made,
        "notes": [(called(element.columns), element.note) for element in made.rules],
    }


def _gap(value: float) -> str:
    return decimal(value, 1) if value > 0 else "0"


@section("noise", "Noise on the numeric keys", needs=("public.channel",), place=32)
def noise(_: Dossier, made: Channel) -> Data | None:
    """Show the noise on each numeric column."""
    rows = [row for rule in made.rules for row in rule.noise]
    if not rows:
        return None
    drawn = bars.bars(
        [called(row.columns) for row in rows],
        [100 * row.lost for row in rows],
        title="Planned noise of each column",
        write=percent,
        across=WIDE,
    )
    table = Table.of(
        ("column", "kept", "noise", "variance lost"),
        [(called(r.columns), decimal(r.kept, 2), decimal(r.sd, 2), fine(100 * r.lost)) for r in rows],
    )
    return {"figure": drawn, "table": table}


@section("matrices", "The transition matrices", needs=("public.channel",), place=34)
def matrices(_: Dossier, made: Channel) -> Data | None:
    """Show the transition matrices, and offer them as text, because analysts need them to correct counts."""
    all_of = [item for item in made.rules if item.kind == "pram"]
    if not all_of:
        return None
    result = [(entry, entry.matrix) for entry in all_of if entry.matrix is not None]
    return {
        "blocks": [_matrix(rule, matrix) for rule, matrix in result],
        "csv": [(called(rule.columns), as_csv(rule, matrix)) for rule, matrix in result],
        "first": result[0] if result else None,
        "others": OTHERS,
        "hidden": [called(element.columns) for element in all_of if element.matrix is None],
    }


def _matrix(rule: Rule, matrix: Matrix) -> Data:
    letters, title = letters_of(matrix), called(rule.columns)
    stayed = sorted(
        zip(letters, (row[i] for i, row in enumerate(matrix.rows)), strict=True), key=lambda s: s[1]
    )
    table = Table.of(
        ("published as it was", "probability"),
        [(name, f"{value:.3f}") for name, value in stayed[:12]],
        caption="" if len(stayed) <= 12 else f"The 12 least of {len(stayed)}",
    )
    drawn = None
    if len(letters) <= bars.MOST_LETTERS:
        drawn = bars.heat_map(letters, matrix.rows, title=f"Transition matrix of {title}")
    return {"title": title, "figure": drawn, "table": table, "matrix": matrix}


def letters_of(matrix: Matrix) -> list[str]:
    """Return the names of a matrix's rows; rare values share the last one."""
    out = [" · ".join("(missing)" if v is None else clean(v) for v in letter) for letter in matrix.letters]
    return [*out, OTHERS] if matrix.together else out


def as_csv(rule: Rule, matrix: Matrix) -> str:
    """Write a transition matrix as CSV: a row for each true value, a column for each published value."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    letters = letters_of(matrix)
    writer.writerow([" · ".join(map(clean, rule.columns)), *letters])
    for name, row in zip(letters, matrix.rows, strict=True):
        writer.writerow([name, *(f"{value:.6f}".rstrip("0").rstrip(".") for value in row)])
    return out.getvalue()
