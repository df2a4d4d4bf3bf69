"""Tables made from registries when the documentation is built.

``{policy-table} NAME`` lists the demands of a policy, ``{attacks-table}`` all attacks, and
``{settings-table}`` the settings of the location service.
"""

from __future__ import annotations

import ast
import inspect
from itertools import groupby, pairwise

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class PolicyTable(SphinxDirective):
    """The demands of a policy, each with what checks it and the paragraph it comes from."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table; demands in a row with one source share a line."""
        from voronym.policy import Policy

        demands = Policy.load(self.arguments[0]).demands
        rows = [
            (
                nodes.Text("; ".join(demand.says for demand in some)),
                nodes.literal(text=check),
                nodes.Text(source),
            )
            for (check, source), some in groupby(
                demands, lambda demand: (f"{demand.section}: {demand.name}", demand.source)
            )
        ]
        return [_table(("demand", "checked by", "source"), rows, (7, 4, 6))]


class AttacksTable(SphinxDirective):
    """The attacks, each with what the intruder does and knows, and what the data holder must give."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        import voronym  # noqa: F401 - importing registers
        from voronym.attacks import ATTACKS, KNOWLEDGE

        rows = [
            (
                nodes.literal(text=attack.name),
                nodes.Text(attack.summary),
                nodes.Text(KNOWLEDGE[attack.level]),
                nodes.Text(", ".join(attack.needs) or "–"),
            )
            for attack in sorted(ATTACKS.values(), key=lambda attack: attack.level)
        ]
        return [_table(("attack", "the intruder", "knows", "you give"), rows, (4, 7, 5, 3))]


class SettingsTable(SphinxDirective):
    """The settings of the location service, with their defaults."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        from voronym_location.settings import ServiceSettings

        (made,) = ast.parse(inspect.getsource(ServiceSettings)).body
        rows: list[tuple[nodes.Node, ...]] = []
        for field, text in pairwise(made.body):  # a field, and the string below it
            if isinstance(field, ast.AnnAssign):
                default = getattr(field.value, "value", None)
                shown = "" if default in ("", None) else str(default)
                words = text.value.value.replace("``", "")
                rows.append((nodes.literal(text=field.target.id), nodes.Text(words), nodes.Text(shown)))
        return [_table(("setting", "meaning", "default"), rows, (3, 9, 2))]


def _table(
    headings: tuple[str, ...], rows: list[tuple[nodes.Node, ...]], widths: tuple[int, ...]
) -> nodes.table:
    """Return a table with widths in proportion."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in widths), cols=len(widths))
    group += nodes.thead("", _row(*map(nodes.Text, headings)))
    group += nodes.tbody("", *(_row(*row) for row in rows))
    return nodes.table("", group, classes=["colwidths-given"])


def _row(*cells: nodes.Node) -> nodes.row:
    """Return a row of a table."""
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("policy-table", PolicyTable)
    app.add_directive("attacks-table", AttacksTable)
    app.add_directive("settings-table", SettingsTable)
    return {"parallel_read_safe": True}
