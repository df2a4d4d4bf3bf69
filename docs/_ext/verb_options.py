"""Tables of the options of a verb, made from the command line itself when the documentation is built."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTHS = (3, 8)


class VerbOptions(SphinxDirective):
    """``{options-of} VERB``: the options of a verb, or of each of its commands, by their purpose."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a table for each purpose."""
        import typer.main

        import voronym  # noqa: F401 - importing registers what is a choice of an option
        from voronym.cli import app

        command = typer.main.get_command(app)
        for word in self.arguments:
            command = command.commands[word]
        parts = getattr(command, "commands", None)
        if parts is None:
            return _options(command)
        out: list[nodes.Node] = []
        for name, part in parts.items():
            if tables := _options(part):
                title = " ".join(("voronym", *self.arguments, name))
                out += [nodes.paragraph("", "", nodes.literal(text=title)), *tables]
        return out


def _options(command: Any) -> list[nodes.Node]:
    """Return a table of a command's options for each purpose."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.params:
        if parameter.param_type_name == "option" and not getattr(parameter, "hidden", False):
            panel = getattr(parameter, "rich_help_panel", None) or "Options"
            names = ", ".join((*parameter.opts, *parameter.secondary_opts))
            panels.setdefault(panel, []).append((names, parameter.help or ""))
    out: list[nodes.Node] = []
    for panel, rows in panels.items():
        if len(panels) > 1:
            out.append(nodes.paragraph("", "", nodes.strong(text=panel)))
        out.append(_table(rows))
    return out


def _table(rows: list[tuple[str, str]]) -> nodes.table:
    """Return a table of options with their help."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in WIDTHS), cols=len(WIDTHS))
    group += nodes.thead("", _row(nodes.Text("option"), nodes.Text("meaning")))
    group += nodes.tbody("", *(_row(nodes.literal(text=names), nodes.Text(text)) for names, text in rows))
    return nodes.table("", group, classes=["colwidths-given"])


def _row(*cells: nodes.Node) -> nodes.row:
    """Return a row of a table."""
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("options-of", VerbOptions)
    return {"parallel_read_safe": True}
