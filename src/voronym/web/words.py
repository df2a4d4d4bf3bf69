"""Sentences of the house in the words of the page: it has fields where the command line has flags."""

from __future__ import annotations

import re

__all__ = ["on_page"]

FIELDS = {
    "identifier": "the role identifier",
    "key": "the role key",
    "confidential": "the role confidential",
    "other": "the role other",
    "kind": "“Kind”",
    "order": "“Order, lowest first”",
    "allow-near-unique": "check “it may publish what one person alone has”",
    "allow-loss": "check “next to nothing need be left of it”",
    "allow-unit-columns": "check “it may show which rows belong together”",
    "person": "“Rows of one person share”",
    "household": "“Rows of one household share”",
    "location": "“Latitude” and “Longitude”",
    "pseudonyms": "“keep fresh random names for people”",
    "decimal": "“Decimal sign”",
    "thousands": "“Between thousands”",
    "missing": "“Codes that mean ‘no value’”",
    "no-header": "“First line: is a record”",
    "header": "“First line: holds the names”",
    "delimiter": "“Between cells”",
    "encoding": "“Encoding”",
    "date-format": "“Dates”",
    "skip-rows": "“Lines to skip”",
    "sheet": "“Sheet”",
    "method": "“Method”",
    "policy": "“Policy”",
    "model": "“Further guarantees”",
    "step": "“Steps, one a line”",
    "publish": "“Groups publish”",
    "time-limit": "“Seconds to search”",
    "seed": "“Seed”",
}
"""From flags of `voronym anonymize` to what stands on the page instead."""
KINDS = "numeric|nominal|ordinal|datetime"
PARTS = [
    # A flag with a column, and the same for Python: the sentence stands beside the column.
    (
        r"--(allow-near-unique|allow-loss|allow-unit-columns|person|household) [^\n]*? "
        r"\(\w+=[^\n]*? in Python\)",
        r"--\1",
    ),
    (r"say what each is with --key[^\n]* proposes roles", "say what each is"),
    (r", with --key \(keys=[^\n]*? in Python\)", ""),
    (r" \(\w+=[^\n]*? in Python\)", ""),
    (r" \((?:header|skip_rows)=\w+\)", ""),
    (r" \(--identifier [^\n]*?\)(?=, which drops it|, give it)", ""),
    (rf"--kind [^\n=]*=({KINDS}) or [^\n=]*=({KINDS})", r"the kind \1 or \2"),
    (rf"--kind [^\n=]*=({KINDS})", r"the kind \1"),
    (r"\bsuppress must be\b", "“Records that may be left out” must be"),
    (r"With device='cpu' it works without one", "“Groups are made on: the processor” needs none"),
    (r"--intruder (keys|method)", r"the intruder who knows the \1"),
]
FLAG = re.compile(r"(?<![\w'\"-])--([a-z][a-z-]+)")


def on_page(sentence: str) -> str:
    """Return a sentence with the fields of the page in place of the command line's flags.

    What has no field is said to be of the command line.

    Examples
    --------
    >>> on_page("the first line looks like data; say --no-header (header=False) if it is a record")
    'the first line looks like data; say “First line: is a record” if it is a record'
    >>> on_page("say --kind zip code=nominal if they are")
    'say the kind nominal if they are'
    >>> on_page("leave out --keep-groups")
    'leave out --keep-groups of voronym anonymize'
    """
    for pattern, instead in PARTS:
        sentence = re.sub(pattern, instead, sentence)
    return FLAG.sub(lambda item: FIELDS.get(item[1], f"{item[0]} of voronym anonymize"), sentence)
