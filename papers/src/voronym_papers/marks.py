"""A published figure, ours, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal[
    "same", "better", "worse", "faster", "slower", "holds", "differs", "not printed", "ours alone"
]
Kind = Literal["quality", "time", "words", "value"]
"""The kind of comparison: quality, time, a claim in words, or a plain value."""
Published = float | tuple[float, float] | None
"""A number, a range as its smallest and largest number, or None if the paper prints none."""
USUAL = 2.0
"""Standard deviations within which a draw usually lies."""
CLOSE = 2.0
"""Points, or percent, by which the mean of random draws may differ and still count as the same."""

EXCEPTIONALLY = 5.0
"""Percent of draws up to which an event counts as exceptional, whatever range a run states."""


def close(published: float | None, unit: str) -> float:
    """Return the tolerance for random points: 2 points of a percentage, 2 % of another figure."""
    return CLOSE if unit == " %" else 0.01 * CLOSE * abs(published or 0.0)


@dataclass(frozen=True)
class Mark:
    """One figure of a table or a figure of a paper: the printed value and ours.

    Parameters
    ----------
    exhibit : str
        The exhibit in the paper's numbering: "Table 2".
    what : str
        The measured quantity in a few words: "D, k = 5". It distinguishes the marks of an exhibit.
    published : float, (float, float) or None
        The printed figure; a range has two ends, and None is a figure drawn without numbers.
    ours : float
        Our measurement.
    form : str
        The format of our figure.
    unit : str
        Written after the numbers, with its space: " %", " s".
    within : float
        Largest difference that counts as the same: the rounding of the printed figure; 2 points, or 2 %, if
        points are drawn at random; twice the standard error if both are means.
    better : {"less", "more", ""}
        The better direction; "" if neither is better.
    spread : float, optional
        Standard deviation of ours over draws.
    claim : str
        The paper's claim in words, if it has no number. It is shown in place of ``published``, which then is
        the number or range that the words mean.
    why : str
        A sentence that says why ours differs. Wanted wherever the paper has something and ours is another.
    drawn : bool
        Whether the published figure comes from one draw of random points with an unknown seed. It
        changes no verdict; the reason then says whether a draw of ours may differ as much.
    timed : bool
        Whether it is a time, a speed or how time grows: ours is then faster or slower, never better.
    alike : bool
        Whether both come from the same algorithm and the same data, or data of the same law. Otherwise ours
        is neither better nor worse: it differs.
    alone : bool
        Whether the paper has nothing of the kind: a check of ours. What is drawn there without numbers is not
        printed, but not ours alone.

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
    drawn: bool = False
    timed: bool = False
    alike: bool = True
    alone: bool = False

    def __post_init__(self) -> None:
        if self.alone and (self.published is not None or self.claim):
            raise ValueError(
                f"{self.exhibit}, {self.what}: a figure of ours alone has no published figure; leave one out"
            )

    @property
    def kind(self) -> Kind:
        """The kind of comparison: time; a claim in words; quality, if a direction is better; or a value."""
        if self.timed or self.unit in (" s", " ms"):
            return "time"
        if self.claim and not any(sign.isdigit() for sign in self.claim):
            return "words"
        return "quality" if self.better else "value"

    @property
    def difference(self) -> float | None:
        """Our figure minus the published one, or minus the nearer end of the published range."""
        if self.published is None:
            return None
        low, high = self.published if isinstance(self.published, tuple) else (self.published,) * 2
        if self.claim == "exceptionally":
            high = min(high, EXCEPTIONALLY)
        return self.ours - min(max(self.ours, low), high)

    @property
    def verdict(self) -> Verdict:
        """The verdict: better or worse for quality, faster or slower for time, holds for words."""
        off = self.difference
        if off is None:
            return "ours alone" if self.alone else "not printed"
        if abs(off) <= self.within * (1 + 1e-9):
            return "holds" if self.kind == "words" else "same"
        if not self.better or not self.alike:
            return "differs"
        gained = (off < 0) == (self.better == "less")
        if self.kind == "time":
            return "faster" if gained else "slower"
        return "better" if gained else "worse"

    @property
    def reason(self) -> str:
        """The reason why ours differs, with the possible effect of the paper's random draw; or ""."""
        off = self.difference
        if off is None or self.verdict in ("same", "holds"):
            return ""
        if not self.drawn or not self.spread:
            return self.why
        far = "within" if abs(off) <= USUAL * self.spread else "beyond"
        return (
            f"{self.why} The published figure is {far} two standard deviations of one draw of ours.".strip()
        )

    def texts(self) -> tuple[str, str]:
        """Return the published figure and ours as text."""
        return self.printed(), self.measured()

    def printed(self) -> str:
        """Return the published figure as text, as in the paper."""
        if self.claim or self.published is None:
            return self.claim or "–"
        ends = self.published if isinstance(self.published, tuple) else (self.published,)
        return _signs(" … ".join(f"{end:,g}" for end in ends) + self.unit)

    def measured(self) -> str:
        """Return ours as text, with its spread if there is one."""
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
        """Return the mark as plain values, without defaults."""
        plain = {
            name: value
            for name, value in vars(self).items()
            if value != type(self).__dataclass_fields__[name].default
        }
        return plain | {"ours": float(f"{self.ours:.8g}"), "published": self.published}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Mark:
        """Build a mark from its dictionary."""
        published = plain["published"]
        if plain.get("spread") and plain.get("within") == plain["spread"]:
            # one deviation was the tolerance for a while: more than enough to call anything the same
            plain = plain | {"within": close(published, plain.get("unit", "")), "drawn": True}
        return cls(**plain | {"published": tuple(published) if isinstance(published, list) else published})


def _signs(text: str) -> str:
    return text.replace("-", "−")
