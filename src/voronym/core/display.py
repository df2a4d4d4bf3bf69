"""Display results as small tables: HTML in notebooks, text elsewhere.

Everything is escaped, because column names come from arbitrary files. Colours are translucent, and text has
the notebook's colour, so tables are legible on light and dark ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

_CHIP = Markup(
    '<span style="background:rgba({},.22);border-radius:.6em;padding:.1em .6em;white-space:nowrap">{}</span>'
)
TINTS = {
    "red": "214,69,65",
    "blue": "52,120,210",
    "amber": "222,150,30",
    "green": "46,160,90",
    "grey": "128,128,128",
}
"""Red, green and blue of each tint."""


def html_table(
    head: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = "", wide: Sequence[str] = ()
) -> Markup:
    """Return an HTML table for a notebook; numbers are aligned right, texts left.

    Parameters
    ----------
    head : sequence of str
        Heading of each column; with none there is no row of headings.
    rows : iterable of sequences
        Cells: texts, numbers, None for an empty one, or `Markup` such as a `chip`.
    caption : str
        Shown above.
    wide : sequence of str
        Headings of columns whose text may run over several lines; others are kept on one.

    Examples
    --------
    >>> "&lt;b&gt;" in html_table(["a"], [["<b>"]])
    True
    """
    listed = [list(row) for row in rows]
    names = head or [""] * max(map(len, listed), default=0)
    styles = [
        f"text-align:{_side([row[i] for row in listed])};vertical-align:top"
        + ("" if name in wide else ";white-space:nowrap")
        for i, name in enumerate(names)
    ]
    above = Markup('<caption style="text-align:left;caption-side:top">{}</caption>').format(caption)
    top = Markup("<thead><tr>{}</tr></thead>").format(_row("th", names, styles))
    body = Markup("").join(Markup("<tr>{}</tr>").format(_row("td", row, styles)) for row in listed)
    return Markup('<table style="table-layout:auto">{}{}<tbody>{}</tbody></table>').format(
        above if caption else "", top if head else "", body
    )


def html_facts(facts: Iterable[tuple[str, object]], *, caption: str = "") -> Markup:
    """Return a table of names and values; facts that are None are left out."""
    return html_table(
        [],
        [
            [Markup("<b>{}</b>").format(name), item if isinstance(item, Markup) else _text(item)]
            for name, item in facts
            if item is not None
        ],
        caption=caption,
    )


def chip(text: object, tint: str = "grey") -> Markup:
    """Return a word on a coloured background."""
    return _CHIP.format(TINTS[tint], text)


def text_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return the table as lines of text; numbers are aligned right, texts left.

    Examples
    --------
    >>> print(text_table(["method", "loss"], [["md", 5.25], ["mdav", 15.5]]))
    method    loss
    md       5.250
    mdav    15.500
    """
    listed = [list(row) for row in rows]
    cells = [list(head), *([_text(cell) for cell in row] for row in listed)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rights = [_side([row[i] for row in listed]) == "right" for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, rights, strict=True)
        ).rstrip()
        for row in cells
    )


def _row(tag: str, cells: Sequence[object], styles: Sequence[str]) -> Markup:
    return Markup("").join(
        Markup('<{} style="{}">{}</{}>').format(tag, style, _html(cell), tag)
        for cell, style in zip(cells, styles, strict=True)
    )


def _html(cell: object) -> Markup:
    return cell if isinstance(cell, Markup) else escape(_text(cell))


def _side(cells: Sequence[object]) -> str:
    known = [cell for cell in cells if cell is not None]
    return "right" if known and all(isinstance(cell, (int, float)) for cell in known) else "left"


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3f}" if value == 0.0 or 5e-4 <= abs(value) < 1e9 else f"{value:.1g}"
