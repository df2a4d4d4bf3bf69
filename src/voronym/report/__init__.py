"""Reports: one self-contained HTML file, without network, fonts or scripts.

``html``        pages put together, and written: `render`, `render_comparison`, `write_report`
``public``      sections that need the release alone, and the `View` they see
``internal``    sections that compare with the originals
``masks``       methods that make no cells: which ``story`` is whose; ``stirred`` (records) and ``perturbed``
                (channel), both with sections ``_inside``; ``safe``: what of their figures is public
``comparison``  the page behind ``voronym compare``
``tradeoff``    loss against what the keys tell, for both; ``riskplane``: its drawing
``reproduction``  the page behind ``voronym papers``: `render_paper`
``figures``     drawings: numbers in, SVG text out; ``chart``: curves; ``cells``: power diagrams
``heat``        matrices, shares and sizes; ``shift``: records before and after in the plane
``columns``     distributions of a column as counts; ``plane``: records on their principal axes
``parts``       what a page is made of; ``svg``: scales, ticks, labels; ``templates/``: the page and its style
"""

from voronym.report.html import render, render_comparison, write_page, write_report

__all__ = ["render", "render_comparison", "write_page", "write_report"]
