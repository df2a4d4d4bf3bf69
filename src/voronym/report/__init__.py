"""Reports: one self-contained HTML file, without network, fonts or scripts, that reads a dossier.

``html``          `render` and `write_report`: a page about a release, section by section
``section``       `section`: register a section with its data and its readers
``sections/``     all sections; their words are in ``templates/sections`` and ``templates/words``
``comparison``    the page of ``voronym compare``: `render_comparison`
``notebook``      `release_html`: a release in a notebook
``axes``          `Axes`, the frame of all drawings; ``bars``, ``curves`` and ``maps`` draw on it
``tradeoff``      limits in the plane of loss and risk, for releases and comparisons
``write``         formats of figures; ``svg``: ticks, labels and SVG text
"""

from voronym.report.comparison import render_comparison
from voronym.report.html import render, write_page, write_report
from voronym.report.notebook import release_html
from voronym.report.section import section

__all__ = ["release_html", "render", "render_comparison", "section", "write_page", "write_report"]
