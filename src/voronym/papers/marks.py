"""A figure that was published, ours beside it, and the verdict that follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["same", "better", "worse", "differs", "not printed"]
Published = float | tuple[float, float] | None
"""A number, the least and the greatest of a range, or None where the paper prints none."""


@dataclass(frozen=True)
class Mark:
    """One figure of a table or a figure of a paper: what was printed, and what we measured.

    Parameters
    ----------
    exhibit : str
        Whose figure it is, as the paper counts: "Table 2".
    what : str
        What is measured, in a few words: "D, k = 5". It tells the marks of an exhibit apart.
    published : float, (float, float) or None
        What is printed, typed in; a range has two ends, None is a figure that is drawn without numbers.
    ours : float
        What we measured.
    form : str
        How ours is written.
    unit : str
        Written after the numbers, with its space: " %", " s".
    within : float
        How far ours may be off and still be the same: the rounding of what is printed, or what another draw
        of random points would change.
    better : {"less", "more", ""}
        Which way is better; "" where neither is.
    spread : float, optional
        Standard deviation of ours over draws.
    claim : str
        What the paper says in words, where it has no number: shown in place of ``published``, which then is
        the number, or the range, that the words stand for.
    why : str
        A sentence that says why ours differs. Wanted wherever the verdict is not "same" or "not printed".

    Examples
    --------
    >>> mark = Mark("Table 2", "D, k = 5", 0.0796, 0.0768, within=0.00005, better="less")
    >>> mark.verdict, mark.texts()
    ('better', ('0.0796', '0.0768'))
    >>> Mark("Figure 8", "gain", (-31.0, -21.0), -31.4, ".1f", " %", within=0.5).verdict
    'same'
    """

    exhibit: str
    what: str
    published: Published
    ours: float
    form: str = ".4f"
    unit: str = ""
    within: float = 0.0
    better: Literal["less", "more", ""] = ""
    spread: float | None = None
    claim: str = ""
    why: str = ""

    @property
    def difference(self) -> float | None:
        """Ours less the published figure, or less the nearer end of the published range."""
        if self.published is None:
            return None
        low, high = self.published if isinstance(self.published, tuple) else (self.published,) * 2
        return self.ours - min(max(self.ours, low), high)

    @property
    def verdict(self) -> Verdict:
        """Whether ours is the same, better, worse, or differs where neither is better."""
        off = self.difference
        if off is None:
            return "not printed"
        if abs(off) <= self.within * (1 + 1e-9):
            return "same"
        if not self.better:
            return "differs"
        return "better" if (off < 0) == (self.better == "less") else "worse"

    def texts(self) -> tuple[str, str]:
        """Return the published figure and ours as text."""
        return self.told(), self.measured()

    def told(self) -> str:
        """Return the published figure as text, as the paper has it."""
        if self.claim or self.published is None:
            return self.claim or "–"
        ends = self.published if isinstance(self.published, tuple) else (self.published,)
        return _signs(" … ".join(f"{end:g}" for end in ends) + self.unit)

    def measured(self) -> str:
        """Return ours as text, with its spread where there is one."""
        spread = "" if self.spread is None else f" ± {self.spread:{self.form}}"
        return _signs(f"{self.ours:{self.form}}{spread}{self.unit}")

    def apart(self) -> str:
        """Return the difference as text, with its sign."""
        off = self.difference
        if off is None:
            return "–"
        if self.verdict == "same" and float(f"{off:{self.form}}".replace(",", "")) == 0:
            return "0"
        return _signs(f"{off:+{self.form}}{self.unit}")

    def to_dict(self) -> dict[str, Any]:
        """Return the mark as plain values, what is as by default left out."""
        plain = {
            name: value
            for name, value in vars(self).items()
            if value != type(self).__dataclass_fields__[name].default
        }
        return plain | {"ours": float(f"{self.ours:.8g}"), "published": self.published}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Mark:
        """Read a mark again."""
        published = plain["published"]
        return cls(**plain | {"published": tuple(published) if isinstance(published, list) else published})


def _signs(text: str) -> str:
    return text.replace("-", "−")
