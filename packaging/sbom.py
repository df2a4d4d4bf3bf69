"""Take the paths of this machine out of a bill of materials, so that it is the same wherever it is made.

Distributions that are installed from a checkout are listed with the folder they lie in.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def without_paths(bill: dict[str, object]) -> dict[str, object]:
    """Return a CycloneDX bill without references to local files."""

    def cleaned(item: object) -> object:
        if isinstance(item, list):
            return [cleaned(entry) for entry in item if not _local(entry)]
        if isinstance(item, dict):
            made = {name: cleaned(value) for name, value in item.items()}
            return {name: value for name, value in made.items() if name != "externalReferences" or value}
        return item

    return {name: cleaned(value) for name, value in bill.items()}


def _local(entry: object) -> bool:
    return isinstance(entry, dict) and str(entry.get("url", "")).startswith("file:")


if __name__ == "__main__":
    file = Path(sys.argv[1])
    bill = without_paths(json.loads(file.read_text(encoding="utf-8")))
    file.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")
