"""Special uniques: records that a few of their values single out, and the columns that cause it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.context import Context, ProgressCallback
from voronym.core.jsonable import Plain
from voronym.core.percent import percent
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.evaluate.population.minimal import minimal_uniques
from voronym.table.classes import check_keys, equivalence_classes
from voronym.table.read import load

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_COLUMNS = 60  # a set of columns is a whole number of 64 bits
_RECORDS = ("scores", "risks", "shares")


@dataclass(frozen=True, eq=False)
class Suda(Plain):
    """The results of `suda`. ``scores``, ``risks`` and ``shares`` are per record: not for publication.

    Parameters
    ----------
    keys : tuple of str
        The d columns that were looked at.
    size : int
        Most columns of a minimal sample unique, M.
    records : int
        Number of records, n.
    unique : int
        Records that have a minimal sample unique: they are unique in some set of at most M columns.
    by_size : dict of int to int
        Number of columns to the number of minimal sample uniques of that size.
    contribution : dict of str to float
        Share of the total score that comes from minimal uniques with this column. One with s columns counts
        for each of them, so the shares add up to more than 1.
    fraction : float or None
        Share of the population in the table, if given.
    match : float or None
        Probability that a unique match is correct, by data intrusion simulation; None without a fraction, or
        if no two records share all keys, which the simulation needs.
    notes : tuple of str
        Missing figures, with reasons.
    scores : (n,) array
        SUDA score of each record; 0 without a minimal unique.
    risks : (n,) array or None
        DIS-SUDA score: the expected number of correct unique matches, divided in proportion to scores.
    shares : (n, d) array
        Share of each record's score that comes from minimal uniques with each column.
    """

    keys: tuple[str, ...]
    size: int
    records: int
    unique: int
    by_size: dict[int, int]
    contribution: dict[str, float]
    fraction: float | None
    match: float | None
    scores: Floats = field(repr=False)
    risks: Floats | None = field(repr=False)
    shares: Floats = field(repr=False)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain, JSON-able types, without figures of single records."""
        result = {name: value for name, value in super().to_dict().items() if name not in _RECORDS}
        return {
            **result,
            "by_size": [{"columns": size, "uniques": count} for size, count in self.by_size.items()],
            "score_max": float(self.scores.max()),
            "risk_max": None if self.risks is None else float(self.risks.max()),
        }

    def __str__(self) -> str:
        lines = [
            f"unique in at most {self.size} columns: {self.unique:,} of {self.records:,} records "
            f"({percent(self.unique / self.records)})"
        ]
        for size, count in self.by_size.items():
            lines.append(f"minimal uniques of {size} column{'' if size == 1 else 's'}: {count:,}")
        if self.unique:
            first = sorted(self.contribution.items(), key=lambda item: -item[1])
            result = ", ".join(f"{name} {percent(share)}" for name, share in first)
            lines.append(f"share of the total score with each column: {result}")
        if self.match is not None and self.risks is not None:
            lines.append(
                f"a unique match is correct with probability {percent(self.match)}; "
                f"greatest DIS-SUDA score {percent(self.risks.max())}"
            )
        return "\n".join([*lines, *self.notes])


@checked
def suda(
    table: Any,
    *,
    keys: Sequence[str],
    size: int = 3,
    sampling_fraction: float | None = None,
    progress: ProgressCallback | None = None,
) -> Suda:
    """Find the records that a few of their keys single out: special uniques.

    A *minimal sample unique* of a record is a set of keys in which no other record has the same values,
    and which has no smaller such subset. With fewer columns a record stands out more: more people know
    somebody who is unique in (sex, occupation) than somebody who is unique in twelve columns. A minimal
    unique of s of d columns scores ``(d - s)(d - s - 1) ... (d - M)``, where M is the largest size. The
    score of a record is the sum over its minimal uniques.

    Parameters
    ----------
    table : DataFrame, str or Path
        pandas, Polars or PyArrow, or a file that `voronym.read` reads.
    keys : sequence of str
        Columns that an intruder may know; at most 60. Missing is a value.
    size : int
        Most columns of a minimal sample unique, M. Sets of columns grow fast with it.
    sampling_fraction : float, optional
        Share of the population that is in the table, between 0 and 1. Adds DIS-SUDA scores.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.

    Returns
    -------
    Suda
        Exact: all minimal sample uniques of at most ``size`` columns. Time O(n) for each set of columns.

    Notes
    -----
    Data intrusion simulation estimates how likely a unique match is correct from the table alone,
    ``pi n1 / (pi n1 + 2 (1 - pi) n2)``, with n1 classes of one record, n2 of two, and the fraction pi, under
    simple random sampling. The ``n1`` times this many correct matches are divided among the records in
    proportion to their scores, at most 1 for each.

    References
    ----------
    Elliot, M. J., Manning, A. M., Ford, R. W.: A computational algorithm for handling the special uniques
    problem. Int. J. of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 2002.
    Manning, A. M., Haglin, D. J., Keane, J. A.: A recursive search algorithm for statistical disclosure
    assessment. Data Mining and Knowledge Discovery 16(2), 2008. doi:10.1007/s10618-007-0078-6
    Skinner, C. J., Elliot, M. J.: A measure of disclosure risk for microdata. J. of the Royal Statistical
    Society B 64(4), 2002. doi:10.1111/1467-9868.00365

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": list("mmffm"), "town": list("aabba"), "job": list("xyxxx")})
    >>> found = suda(people, keys=["sex", "town", "job"], size=2)
    >>> found.scores.tolist(), found.by_size
    ([0.0, 2.0, 0.0, 0.0, 0.0], {1: 1})
    >>> print(found)
    unique in at most 2 columns: 1 of 5 records (20 %)
    minimal uniques of 1 column: 1
    share of the total score with each column: job 100 %, sex 0 %, town 0 %
    """
    ctx = Context(progress=progress)
    made = find_uniques(load(table), keys, size, sampling_fraction, ctx)
    ctx.done()
    return made


def find_uniques(
    frame: nw.DataFrame[Any], keys: Sequence[str], size: int, sampling_fraction: float | None, ctx: Context
) -> Suda:
    """Compute `suda` within other work, which can be cancelled."""
    check_keys(frame, keys)
    names = tuple(keys)
    if len(names) > _COLUMNS:
        raise InputError(f"{len(names)} keys are named and at most {_COLUMNS} can be searched; name fewer")
    if size < 1:
        raise InputError(f"size must be a whole number of 1 or more, not {size}")
    fraction = check_fraction(sampling_fraction)
    made = _scored(key_codes(frame, names), min(size, len(names)), ctx)
    total = made.scores.sum()
    columns = made.parts.sum(axis=0) / total if total else made.parts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        shares = np.where(made.scores[:, None] > 0, made.parts / made.scores[:, None], 0.0)
    match = risks = None
    notes: tuple[str, ...] = ()
    if fraction is not None:
        match, risks = _intrusion(equivalence_classes(frame, names).sizes, made.scores, fraction)
        if match is None:
            notes = ("no DIS-SUDA scores: no two records share all keys, which its simulation counts",)
    return Suda(
        names,
        min(size, len(names)),
        len(frame),
        int((made.scores > 0).sum()),
        made.by_size,
        dict(zip(names, columns.tolist(), strict=True)),
        fraction,
        match,
        made.scores,
        risks,
        shares,
        notes,
    )


def check_fraction(given: float | None) -> float | None:
    """Check a sampling fraction: above 0 and at most 1; None stays None."""
    if given is None:
        return None
    if not 0.0 < given <= 1.0:
        raise InputError(
            "the sampling fraction is the share of the population that is in the table, above 0 and at most "
            f"1, not {given!r}"
        )
    return float(given)


def key_codes(frame: nw.DataFrame[Any], keys: Sequence[str]) -> Ints:
    """Return the columns as numbers, by the common rule of equality, shape (d, n)."""
    return np.ascontiguousarray([equivalence_classes(frame, [key]).labels for key in keys], np.int64)


@dataclass
class _Scores:
    scores: Floats
    parts: Floats
    by_size: dict[int, int]


def _scored(codes: Ints, size: int, ctx: Context) -> _Scores:
    """Add up the scores of all minimal uniques."""
    d, n = codes.shape
    most = min(size, d - 1)  # beyond it the factor is 0: all columns together add nothing
    weight = {s: float(prod(d - i for i in range(s, most + 1))) for s in range(1, size + 1)}
    out = _Scores(np.zeros(n), np.zeros((n, d)), {})
    for columns, rows in minimal_uniques(codes, size, ctx):
        own = [at for at in range(d) if columns >> at & 1]
        out.scores[rows] += weight[len(own)]
        for at in own:
            out.parts[rows, at] += weight[len(own)]
        out.by_size[len(own)] = out.by_size.get(len(own), 0) + len(rows)
    out.by_size = dict(sorted(out.by_size.items()))
    return out


def _intrusion(sizes: Ints, scores: Floats, fraction: float) -> tuple[float | None, Floats | None]:
    """Return the probability that a unique match is correct, shared among records by score, at most 1."""
    ones, twos = int((sizes == 1).sum()), int((sizes == 2).sum())
    if not twos and fraction < 1.0:
        return None, None
    over = fraction * ones + 2.0 * (1.0 - fraction) * twos
    match = fraction * ones / over if over else 0.0
    risks = np.zeros(len(scores))
    left, open_ = match * ones, scores > 0
    while left > 1e-12 and open_.any():
        risks[open_] = left * scores[open_] / scores[open_].sum()
        full = open_ & (risks >= 1.0)
        if not full.any():
            break
        risks[full] = 1.0
        left = match * ones - float((risks == 1.0).sum())
        open_ &= ~full
    return match, risks
