"""Write the documentation's table of the papers again, from the results kept (`make papers-table`)."""

from __future__ import annotations

from pathlib import Path

from voronym_papers.overview import written

PAGE = Path(__file__).parents[1] / "papers.md"

if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
