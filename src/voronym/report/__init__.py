"""Reports: one self-contained HTML file, without network, fonts or scripts, that reads a dossier.

``html``          `render` and `write_report`: a page about a release, section by section
``section``       `section`: how one is registered, with what it needs and for whom
``sections/``     those that there are; their words stand in ``templates/sections`` and ``templates/words``
``comparison``    the page behind ``voronym compare``: `render_comparison`
``notebook``      `release_html`: a release as a notebook shows it
``reproduction``  the page behind ``voronym papers``: `render_papers`
``axes``          `Axes`, the frame of all drawings; ``bars``, ``curves`` and ``maps`` draw on it
``tradeoff``      limits in the plane of loss and risk, for releases and comparisons
``write``         how figures are written; ``svg``: ticks, labels and the SVG text itself
"""

from voronym.report.comparison import render_comparison
from voronym.report.html import render, write_page, write_report
from voronym.report.notebook import release_html
from voronym.report.section import section

__all__ = ["release_html", "render", "render_comparison", "section", "write_page", "write_report"]
