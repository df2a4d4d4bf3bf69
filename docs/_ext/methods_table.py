"""Tables of methods, made from the registries when the documentation is built."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HEADINGS = ("method", "what it does", "guarantee and cost")
WIDTHS = (2, 7, 6)
_DOI = re.compile(r"\b(?:doi:\s*|https?://doi\.org/)?(10\.\d{4,}/\S+)")


class MethodsTable(SphinxDirective):
    """``{methods-table}``: the methods that make groups; with ``tables``, those that make none."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        import voronym  # noqa: F401 - importing registers
        from voronym.method import METHODS

        wanted = self.arguments[0] if self.arguments else "groups"
        if wanted not in ("groups", "tables"):
            raise self.error(f"methods-table takes 'groups' or 'tables', not {wanted!r}")
        found = {name: one for name, one in METHODS.items() if one.groups == (wanted == "groups")}
        table = nodes.table(classes=["methods", "colwidths-given"])
        group = nodes.tgroup(cols=len(HEADINGS))
        table += group
        group.extend(nodes.colspec(colwidth=width) for width in WIDTHS)
        group += nodes.thead("", _row([[[nodes.Text(heading)]] for heading in HEADINGS]))
        body = nodes.tbody()
        group += body
        for method in found.values():
            body += _row(
                [
                    [[nodes.literal(text=method.name)]],
                    [[nodes.Text(method.summary)], *_options(method.name), [_reference(method.reference)]],
                    [[nodes.Text(method.guarantee)], [nodes.Text(method.cost)]],
                ]
            )
        return [table]


def _row(cells: list[list[list[nodes.Node]]]) -> nodes.row:
    """Return a row of cells, each some paragraphs; one without words is left out."""
    row = nodes.row()
    for cell in cells:
        row += nodes.entry("", *(nodes.paragraph("", "", *part) for part in cell if part))
    return row


def _options(method: str) -> list[list[nodes.Node]]:
    """Return a paragraph for each option that only this method takes: its default, and its meaning."""
    from voronym.cli.chosen import options_of
    from voronym.method import METHODS

    defaults, texts = METHODS[method].options.defaults(), METHODS[method].options.texts()
    return [
        [nodes.literal(text=f"{name}={defaults[name]}"), nodes.Text(f": {texts.get(name, '')}")]
        for name in options_of(method)
    ]


def _reference(text: str) -> nodes.Node:
    """Return the text, or a link to the paper where it names a DOI."""
    found = _DOI.search(text)
    if not found:
        return nodes.Text(text)
    target = f"https://doi.org/{found.group(1).rstrip('.,;')}"
    return nodes.reference(text, "paper", refuri=target, internal=False)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("methods-table", MethodsTable)
    return {"parallel_read_safe": True}
