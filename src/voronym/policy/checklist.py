"""The checklist: every demand of a policy with its figure, its verdict and its evidence."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from voronym.core.jsonable import Plain, plain
from voronym.policy.base import SECTIONS, Item

__all__ = ["Added", "Checklist"]

_MARKS = {"holds": "+", "fails": "x", "open": "?", "person": ".", "nothing": "-"}


@dataclass(frozen=True)
class Added(Plain):
    """A choice that a policy made, because the user did not.

    Parameters
    ----------
    choice : str
        The name of the choice, such as "steps".
    value : str
        The choice, as it is typed.
    reason : str
        Why.
    source : str
        The paragraph of the text behind the policy.
    """

    choice: str
    value: str
    reason: str
    source: str = ""

    def __str__(self) -> str:
        where = f" ({self.source})" if self.source else ""
        return f"{self.choice} {self.value}: {self.reason}{where}"


@dataclass(frozen=True)
class Checklist(Plain):
    """The demands of a policy on a table, with verdicts.

    Parameters
    ----------
    policy, title, version, date, source, link, note : str
        Facts about the policy.
    items : tuple of Item
        A line for each demand.
    table : str
        The judged table.
    rows : int
        Records of the table.
    columns : mapping
        The recognised content of each column, and why; for a person to confirm.
    added : tuple of Added
        Choices that the policy added to a run.
    judged : str
        The day.
    """

    policy: str
    title: str
    version: str
    date: str
    source: str
    link: str
    note: str
    items: tuple[Item, ...]
    table: str
    rows: int
    columns: Mapping[str, str]
    added: tuple[Added, ...] = ()
    judged: str = ""

    def of(self, verdict: str) -> tuple[Item, ...]:
        """Return the lines with a verdict."""
        return tuple(item for item in self.items if item.verdict == verdict)

    @property
    def passes(self) -> bool:
        """Whether no demand fails; open demands, and demands for a person to decide, may remain."""
        return not self.of("fails")

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        counts = {word: len(self.of(word)) for word in _MARKS}
        forms = (
            ("holds", "holds", "hold"),
            ("fails", "fails", "fail"),
            ("open", "is open", "are open"),
            ("person", "is for a person to decide", "are for a person to decide"),
            ("nothing", "does not apply", "do not apply"),
        )
        result = [
            f"{counts[word]} {single if counts[word] == 1 else several}"
            for word, single, several in forms
            if counts[word] or word in ("holds", "fails")
        ]
        return f"Of {len(self.items)} demands, {', '.join(result)}."

    @property
    def decisions(self) -> tuple[str, ...]:
        """The decisions that a person has to make, each once."""
        return tuple(dict.fromkeys(item.decide for item in self.items if item.decide))

    def to_dict(self) -> dict[str, object]:
        """Return plain, JSON-able types."""
        return {
            **super().to_dict(),
            "passes": self.passes,
            "summary": self.summary,
            "decide": plain(self.decisions),
        }

    def __str__(self) -> str:
        lines = [f"{self.title} ({self.policy} {self.version}) on {self.table}", self.summary]
        for section in SECTIONS:
            here = [item for item in self.items if item.section == section]
            lines += ["", section.capitalize()] if here else []
            for member in here:
                where = f" [{member.source}]" if member.source else ""
                lines.append(f"  {_MARKS[member.verdict]} {member.spoken}: {member.says}{where}")
                for label, element in (
                    ("", member.figure),
                    ("seen: ", member.evidence),
                    ("change: ", member.change),
                ):
                    if element:
                        lines += _wrapped(f"{label}{element}")
        if self.decisions:
            lines += ["", "A person must decide"]
            lines += [line for decision in self.decisions for line in _wrapped(f"- {decision}", 2)]
        lines += ["", "What the columns hold, to be confirmed"]
        lines += _wrapped("; ".join(f"{name}: {what}" for name, what in self.columns.items()), 2)
        if self.added:
            lines += ["", "Chosen by the policy, because nobody else did"]
            lines += [line for entry in self.added for line in _wrapped(f"- {entry}", 2)]
        return "\n".join([*lines, "", *textwrap.wrap(self.note, 100)])

    def __repr__(self) -> str:
        return f"Checklist({self.policy}, {self.summary[:-1].lower()})"


def _wrapped(text: str, indent: int = 6) -> list[str]:
    start = " " * indent
    return textwrap.wrap(
        text, 100, initial_indent=start, subsequent_indent=start + "  ", break_on_hyphens=False
    )
