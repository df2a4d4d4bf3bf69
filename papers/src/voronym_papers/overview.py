"""Published figures, the kept full run and a quick run next to each other: in lines, and as a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from voronym_papers.base import Exhibit, Paper
from voronym_papers.marks import Kind, Mark
from voronym_papers.stored import results, stale

WORDS = {
    "same": "the same",
    "better": "better than published",
    "worse": "worse",
    "faster": "faster",
    "slower": "slower",
    "holds": "claims in words that hold",
    "differs": "different",
    "not printed": "drawn without numbers",
    "ours alone": "ours alone",
}
"""The names of verdicts in counts."""
FITS = (
    (
        re.compile(r"Table 2, (MDAV|ICSM|gain|gain over MDAV), synthetic, .*"),
        "*A fit*: the paper does not print the width of its clusters. Ours, 0.191, was chosen so that MDAV "
        "loses what was published; as published, 3 % of a loss, our choice, too, count as the same.",
    ),
    (
        re.compile(r"Figure 7, (gain, |change by |records that the correction moves ).*, as published"),
        "*A fit*: the paper does not print its noise. Ours, uniform up to 0.02 of a deviation, was chosen so "
        "that the distortion changes by no more than the paper says.",
    ),
)
"""Figures that depend on a setting chosen to agree with a paper: a pattern of exhibit and figure, and the
setting.
"""
HEADINGS = (
    "table or figure", "what", "kind", "published", "ours, full", "ours, quick", "difference", "verdict",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A published figure, and ours of a full and of a quick run, if they exist."""

    exhibit: str
    what: str
    full: Mark | None
    quick: Mark | None
    stale: bool = False
    """Whether the relevant figure was made by older code."""

    @property
    def mark(self) -> Mark:
        """The relevant mark: of the full run, or else of the quick one."""
        result = self.full or self.quick
        assert result is not None  # noqa: S101 - a line is made from a mark
        return result

    @property
    def why(self) -> str:
        """The reason why ours differs, and the setting that was chosen to agree, if any."""
        return " ".join(filter(None, (self.mark.reason, self.fit)))

    @property
    def fit(self) -> str:
        """A sentence about the setting that was chosen so that the figure agrees; "" if there is none."""
        if self.mark.published is None:
            return ""
        what = f"{self.exhibit}, {self.what}"
        return next((text for pattern, text in FITS if pattern.fullmatch(what)), "")

    def texts(self) -> tuple[str, str, str, str, str]:
        """Return published, full, quick, difference and verdict as text."""
        full, quick = ("–" if item is None else item.measured() for item in (self.full, self.quick))
        verdict = f"{self.mark.verdict}, fitted" if self.fit else self.mark.verdict
        return self.mark.printed(), full, quick, self.mark.apart(), verdict


def lines(
    full: Iterable[Mark], quick: Iterable[Mark], *, stale: tuple[bool, bool] = (False, False)
) -> list[Line]:
    """Put marks of the same figure into one line, in the order of the full run.

    ``stale``: whether the full and the quick marks come from older code.
    """
    long = {(mark.exhibit, mark.what): mark for mark in full}
    short = {(mark.exhibit, mark.what): mark for mark in quick}
    return [
        Line(*key, long.get(key), short.get(key), stale[0] if key in long else stale[1])
        for key in {**long, **short}
    ]


def lines_kept(entry: Paper) -> dict[str, list[Line]]:
    """Return the lines of all kept runs of a paper, by exhibit."""
    kept = results(entry)
    out: dict[str, list[Line]] = {exhibit.name: [] for exhibit in entry.exhibits}
    for name in entry.experiments:
        full, quick = (kept.get((name, whole)) for whole in (True, False))
        marks = (() if run is None else run.marks for run in (full, quick))
        old = (full is not None and full.stale, quick is not None and quick.stale)
        for line in lines(*marks, stale=old):
            out[line.exhibit].append(line)
    return out


def by_kind(lines: Iterable[Line]) -> dict[tuple[str, str], int]:
    """Count the verdicts by kind."""
    return dict(Counter((line.mark.kind, line.mark.verdict) for line in lines))


def count(lines: Iterable[Line]) -> dict[str, int]:
    """Count the verdicts."""
    result: dict[str, int] = {}
    for line in lines:
        result[line.mark.verdict] = result.get(line.mark.verdict, 0) + 1
    return result


def document() -> str:
    """Return the documentation's tables, in Markdown: every table and figure of every paper."""
    from voronym_papers._public import PAPERS  # the registry is empty until the papers are loaded

    every = {entry.name: lines_kept(entry) for entry in PAPERS.values()}
    parts = [_counted([line for own in every.values() for rows in own.values() for line in rows])]
    for entry in PAPERS.values():
        by_exhibit = every[entry.name]
        rows = [row for exhibit in entry.exhibits for row in _rows(exhibit, by_exhibit[exhibit.name])]
        whys = list(dict.fromkeys(why for *_, why in rows if why))
        notes = {why: f"[{number}]" for number, why in enumerate(whys, start=1)}
        head = [" | ".join(HEADINGS), "|".join("---" for _ in HEADINGS)]
        body = [" | ".join((*row[:-1], f"{row[-1]} {notes.get(why, '')}".strip())) for *row, why in rows]
        parts += [
            f"## `{entry.name}`: {entry.subject}",
            f"{entry.reference}.",
            _age(entry),
            "\n".join(f"| {row} |" for row in (head[0], head[1], *body)),
            *("\n".join(f"{sign} {why}\n" for why, sign in notes.items()).rstrip().split("\n\n")),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _counted(lines: list[Line]) -> str:
    """Return a table of the verdicts, by kind."""
    numbers = by_kind(lines)
    kinds = [kind for kind in get_args(Kind) if any(kind == own for own, _ in numbers)]
    rows = [
        (verdict, *(str(numbers.get((kind, verdict), "–")) for kind in kinds), str(total))
        for verdict in WORDS
        if (total := sum(number for (_, own), number in numbers.items() if own == verdict))
    ]
    sums = (str(sum(number for (own, _), number in numbers.items() if own == kind)) for kind in kinds)
    rows = [("verdict", *kinds, "all"), ("---",) * (len(kinds) + 2), *rows, ("all", *sums, str(len(lines)))]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    fitted = Counter(line.mark.verdict for line in lines if line.fit)
    if not fitted:
        return table
    counted = ", ".join(f"{number} {verdict}" for verdict, number in fitted.items())
    return (
        f"{table}\n\nOf these, {sum(fitted.values())} are *fitted* ({counted}): they hang on a setting that "
        "the paper does not print and that we chose so that a figure agrees."
    )


def _age(entry: Paper) -> str:
    """Return a sentence about kept runs of older code; "" if there are none."""
    old, total = stale(entry), len(results(entry))
    if not old:
        return ""
    which = "all" if len(old) == total else "; ".join(old)
    return f"*Stale*, made by older code than today's: {len(old)} of {total} runs that are kept ({which})."


def written(page: str) -> str:
    """Return the documentation's page with new tables between their two marks."""
    start, end = "<!-- papers -->\n", "<!-- end of papers -->"
    before, _, rest = page.partition(start)
    return f"{before}{start}\n{document()}\n{end}{rest.partition(end)[2]}"


def _rows(exhibit: Exhibit, lines: list[Line]) -> list[tuple[str, ...]]:
    """Return the table's rows about an exhibit; the last cell has the reason for a difference."""
    if not lines:
        result = f"shown in [{exhibit.where}]({exhibit.where})" if exhibit.where else "not run yet"
        return [(exhibit.name, exhibit.what, "–", "no numbers", "–", "–", "–", result, "")]
    return [(line.exhibit, line.what, line.mark.kind, *line.texts(), line.why) for line in lines]
