"""Words for hints: the names of choices on the command line, in Python and on the page.

Words come from the declarations of choices. This module lists the words about reading files and about options
of other verbs.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from voronym.core.grammar import written_levels
from voronym.core.options import Declared
from voronym.errors import WORDINGS, Hint
from voronym.request.checks import EVERY
from voronym.request.choices import ColumnChoices, ReleaseChoices, RunChoices

__all__ = ["argument", "declaration", "field", "flag", "words"]

DECLARED: dict[str, Declared] = {
    name: declared
    for kind in (ColumnChoices, ReleaseChoices, RunChoices)
    for name, declared in kind.declared().items()
}
"""Every choice of a run, by its name."""
READING = {
    "decimal": "“Decimal sign”", "thousands": "“Between thousands”",
    "missing": "“Codes that mean ‘no value’”",
    "header": "“First line: holds the names”", "no_header": "“First line: is a record”",
    "delimiter": "“Between cells”", "encoding": "“Encoding”", "date_format": "“Dates”",
    "skip_rows": "“Lines to skip”", "skip_footer": "“Lines to skip at the end”", "sheet": "“Sheet”",
}  # fmt: skip
"""The options for reading a file, with the names of the page's fields."""
ELSEWHERE = (
    "original", "aligned", "control", "earlier", "recipe", "report", "public_report", "overwrite", "format",
    "out_encoding", "grouping", "despite_loss", "max_risk",
)  # fmt: skip
"""Arguments of verbs and options of methods that hints name, in addition to the choices of a run."""
PHRASES = {"kinds": "the kind {}", "intruder": "the intruder who knows the {}"}
"""Phrases of the page for values that read badly after their label."""


def declaration(name: str) -> Declared:
    """Return the declaration of a choice, of a reading option, or of another verb's argument."""
    if name in DECLARED:
        return DECLARED[name]
    plain = replace(DECLARED["seed"], name=name, flag="--" + name.replace("_", "-"), shape="value", label="")
    switch = name in ("header", "no_header", "aligned", "overwrite")
    return replace(plain, label=READING.get(name, ""), shape="switch" if switch else "value")


def words(declared: Declared, value: Any) -> list[str]:
    """Return a choice and its value as words of a command line."""
    flag = declared.flag
    if value is None or declared.shape == "switch":
        return [flag]
    if isinstance(value, Mapping):
        if declared.name == "orders":
            return [
                word for name, levels in value.items() for word in (flag, f"{name}={written_levels(levels)}")
            ]
        return [word for name, part in value.items() for word in (flag, pair(name, part))]
    listed = list(value) if isinstance(value, (list, tuple)) else [value]
    if declared.shape == "pairs":
        return [word for place in listed for word in (flag, ",".join(place))]
    texts = [str(part) for part in listed]
    if declared.shape == "columns":  # commas separate columns, so a name with a comma needs its own flag
        plain = [name for name in texts if "," not in name]
        texts = [*([",".join(plain)] if plain else []), *(name for name in texts if "," in name)]
    if declared.shape in ("columns", "texts"):
        return [word for text in texts for word in (flag, text)]
    return [flag, value if isinstance(value, str) else json.dumps(value, default=str)]


def pair(name: str, value: object) -> str:
    """Return a column and its value as a word of a command line."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if name == EVERY else f"{name}={text}"


def flag(hint: Hint) -> str:
    """Word a hint for the command line."""
    return shlex.join(words(declaration(hint.choice), hint.value))


def argument(hint: Hint) -> str:
    """Word a hint for Python."""
    declared = declaration(hint.choice)
    if hint.choice == "no_header":
        return "header=False"
    if declared.shape == "switch":
        return f"{hint.choice}=True" if hint.choice == "header" or hint.value is True else hint.choice
    if hint.value is None:
        return hint.choice
    listed = declared.shape in ("columns", "texts") and not isinstance(hint.value, list)
    return f"{hint.choice}={[hint.value] if listed else hint.value!r}"


def field(hint: Hint) -> str:
    """Word a hint for the page; a choice without a field is attributed to the command line."""
    declared = declaration(hint.choice)
    if not declared.label:
        return f"{flag(hint)} of voronym anonymize"
    if hint.value is None or declared.shape in ("columns", "switch", "pairs"):
        return declared.label
    values = hint.value.values() if isinstance(hint.value, Mapping) else [hint.value]
    text = ", ".join(
        str(part) for value in values for part in (value if isinstance(value, list) else [value])
    )
    return PHRASES.get(hint.choice, declared.label + " {}").replace("{}", text)


WORDINGS.update(command=flag, python=argument, page=field)
