"""Randomised keys: what each rule does, its noise, and the matrices that analysts correct with."""

from __future__ import annotations

import csv
import io

from voronym.dossier import Dossier
from voronym.dossier.parts import Matrix, Rule
from voronym.report import bars
from voronym.report.axes import WIDE
from voronym.report.bars import Range, ranges
from voronym.report.section import Data, section
from voronym.report.svg import clean, percent
from voronym.report.write import Table, decimal, fine, names, nats, svg

KINDS = {"noise": "noise", "pram": "a matrix"}
OTHERS = "all others"


def called(columns: tuple[str, ...]) -> str:
    """Name the keys of a rule."""
    return names([clean(name) for name in columns], 4)


@section("rules", "What the keys tell, and what it cost", needs=("public.channel",), place=20)
def rules(d: Dossier) -> Data | None:
    """Show what each rule does: what its keys told and tell, and planned against measured distortion."""
    made = d.public.channel
    if made is None:
        return None
    dots = [
        Range(f"{called(one.columns)} ({KINDS.get(one.kind, one.kind)})", one.information, one.risk)
        for one in made.rules
    ]
    if (seen := made.measured) is not None:
        low, high = (max(0.0, end) for end in seen.interval)
        dots.append(Range(f"measured: {names(seen.keys, 4)}", None, max(0.0, seen.excess), (low, high)))
    ends = [v for dot in dots for v in (dot.before, dot.after, *(dot.interval or ())) if v is not None]
    told = ranges(
        dots,
        title="What the keys told and tell",
        desc="Risk in nats of each rule, unmasked and published; the table has the figures.",
        limits=(0.0, 1.08 * max(ends) or 1.0),
    )
    risks = Table.of(
        ("keys", "unmasked", "published", "proven within"),
        [(called(o.columns), nats(o.information), nats(o.risk), _gap(o.gap)) for o in made.rules],
        caption="Risk in nats",
    )
    lost = ranges(
        [Range(called(one.columns), 100 * one.planned, 100 * one.distortion) for one in made.rules],
        title="Planned and measured distortion",
        desc="Share of the variance lost by each rule, planned and measured; the table has the figures.",
        limits=(0.0, 105.0 * max(max(one.planned, one.distortion) for one in made.rules) or 1.0),
        unit=" %",
        hints=("planned", "measured"),
    )
    distortions = Table.of(
        ("keys", "planned", "measured", "difference"),
        [
            (
                called(one.columns),
                fine(100 * one.planned),
                fine(100 * one.distortion),
                f"{100 * (one.distortion - one.planned):+.1f} points".replace("-", "−"),
            )
            for one in made.rules
        ],
        caption="Share of the variance",
    )
    return {
        "told": svg(told),
        "risks": risks,
        "lost": svg(lost),
        "distortions": distortions,
        "made": made,
        "notes": [(called(one.columns), one.note) for one in made.rules],
    }


def _gap(value: float) -> str:
    return decimal(value, 1) if value > 0 else "0"


@section("noise", "Noise on the numeric keys", needs=("public.channel",), place=32)
def noise(d: Dossier) -> Data | None:
    """Show the noise on each numeric column."""
    rows = [row for rule in (d.public.channel.rules if d.public.channel else ()) for row in rule.noise]
    if not rows:
        return None
    drawn = bars.bars(
        [called(row.columns) for row in rows],
        [100 * row.lost for row in rows],
        title="Planned noise of each column",
        desc=f"Share of the variance lost in {len(rows)} columns, as planned.",
        write=percent,
        across=WIDE,
    )
    table = Table.of(
        ("column", "kept", "noise", "variance lost"),
        [(called(r.columns), decimal(r.kept, 2), decimal(r.sd, 2), fine(100 * r.lost)) for r in rows],
    )
    return {"figure": svg(drawn), "table": table}


@section("matrices", "The transition matrices", needs=("public.channel",), place=34)
def matrices(d: Dossier) -> Data | None:
    """Show the transition matrices, and give them as text: analysts need them to correct counts."""
    all_of = [one for one in (d.public.channel.rules if d.public.channel else ()) if one.kind == "pram"]
    if not all_of:
        return None
    told = [(one, one.matrix) for one in all_of if one.matrix is not None]
    blocks, code = [], []
    for rule, matrix in told:
        letters, title = letters_of(matrix), called(rule.columns)
        drawable = len(letters) <= bars.MOST_LETTERS
        drawn = bars.heat_map(
            letters,
            matrix.rows,
            title=f"Transition matrix of {title}",
            desc=f"{len(letters)} rows and columns; the matrix stands below as text.",
        )
        stayed = sorted(
            zip(letters, (row[i] for i, row in enumerate(matrix.rows)), strict=True), key=lambda s: s[1]
        )
        table = Table.of(
            ("published as it was", "probability"),
            [(name, f"{value:.3f}") for name, value in stayed[:12]],
            caption="" if len(stayed) <= 12 else f"The 12 least of {len(stayed)}",
        )
        blocks.append(
            {"title": title, "figure": svg(drawn) if drawable else None, "table": table, "matrix": matrix}
        )
        code.append((f"Matrix of {title}, as CSV", as_csv(rule, matrix)))
    if told:
        code.append(("To correct counts, in Python", _how_to_correct(*told[0])))
    return {
        "blocks": blocks,
        "code": code,
        "others": OTHERS,
        "hidden": [called(one.columns) for one in all_of if one.matrix is None],
    }


def letters_of(matrix: Matrix) -> list[str]:
    """Return the names of a matrix's rows; rare values stand together in the last one."""
    out = [" · ".join("(missing)" if v is None else clean(v) for v in letter) for letter in matrix.letters]
    return [*out, OTHERS] if matrix.together else out


def as_csv(rule: Rule, matrix: Matrix) -> str:
    """Write a transition matrix as CSV: a row for each true value, a column for each published one."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    letters = letters_of(matrix)
    writer.writerow([" · ".join(map(clean, rule.columns)), *letters])
    for name, row in zip(letters, matrix.rows, strict=True):
        writer.writerow([name, *(f"{value:.6f}".rstrip("0").rstrip(".") for value in row)])
    return out.getvalue()


def _how_to_correct(rule: Rule, matrix: Matrix) -> str:
    columns = [clean(name) for name in rule.columns]
    rows = "" if matrix.undo == "all" or not matrix.together else "[:-1]  # no last row"
    value = (
        f"row[{columns[0]!r}]" if len(columns) == 1 else f'" · ".join(str(row[name]) for name in {columns!r})'
    )
    return (
        "import numpy as np\nimport polars as pl\nimport voronym as vr\n\n"
        'table = pl.read_csv("RELEASE.csv", infer_schema=False)\n'
        'matrix = pl.read_csv("MATRIX.csv", infer_schema=False)  # the text above\n'
        "letters = matrix[:, 0].to_list()\n"
        f"values = [{value} for row in table.iter_rows(named=True)]\n"
        "codes = np.array([letters.index(v) if v in letters else len(letters) - 1 for v in values])\n"
        f"rule = matrix[:, 1:].to_numpy().astype(float){rows}\n"
        "found = vr.channel.recover(codes, rule)\n"
        "for letter, share, error in zip(letters, found.shares, found.errors):\n"
        '    print(letter, round(share, 3), "±", round(error, 3))'
    )
