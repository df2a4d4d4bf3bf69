"""Several rows per person: k rows are then fewer than k people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voronym.errors import hint
from voronym.table.doubts.base import TABLE_DOUBTS, Doubt, plain
from voronym.table.values import Columns, Values

if TYPE_CHECKING:
    from voronym.table.schema import Schema

_FEWEST = 10
"""A column with fewer distinct values is no list of people."""
_OFTEN, _CROWD = 1.1, 50
"""Rows per value above which the values repeat, and above which a column is no list of people."""
_AGREE, _CHANCE = 0.8, 0.6
"""Least share of row pairs with the same value that agree in a key, and the limit of this share for random
pairs.
"""
_PAIRS = 20_000
_UNITS = re.compile(
    r"(^|_)(id|uuid|pid|hid|hhid|idno|ssn|mrn|nhs|patient|person|persnr|persno|household|haushalts?|family|hogar|menage|"
    r"iban|account|e_?mail|mail|phone|mobile|dni|nie|bsn|pesel|passport|login|user|username|"
    r"hh(?=(_?(id|no|nr|num|number|nummer))?$)|(patienten|versicherten|personal|kunden)_?(nummer|nr)|paciente|cliente|"
    r"subject|client|customer|member|insured|employee|student|pupil|respondent|participant|case)"
    r"(_?(id|no|nr|num|number|nummer|code|key))?$"
)
_NAMES = re.compile(r"[^\W\d_][^\d_]*[\s,][^\d_]*[^\W\d_]\.?")
NAMESAKES = "They look like names, and rows with the same one differ as different people do. "
_HOUSE = re.compile(r"(^|_)(hid|hh$|hh_?(id|no|nr|num)|household|haushalt|family|hogar|menage|dwelling)")


def looks_like_unit(name: str) -> bool:
    """Whether a name suggests a person or a household.

    Examples
    --------
    >>> looks_like_unit("patient_id"), looks_like_unit("HH_Nr"), looks_like_unit("surname")
    (True, True, False)
    """
    return _UNITS.search(plain(name)) is not None


@TABLE_DOUBTS.register("repeats")
def several_rows(table: Columns, schema: Schema) -> Iterator[Doubt]:
    """Warn about an identifier that several rows share, or about a kept column that looks like one."""
    if schema.person is not None or schema.household is not None:
        return
    for column in schema:
        if column.role not in ("identifier", "other") or column.name not in table:
            continue
        values = table[column.name]
        if values.form not in ("integer", "string", "category"):
            continue
        different = int(values.series.n_unique())  # cheap; most columns are done with here
        if different < _FEWEST or len(values) < _OFTEN * different:
            continue
        named = looks_like_unit(column.name)
        if not named and (column.role == "other" or len(values) > _CROWD * different):
            continue
        distinct, observed = len(values.levels), values.observed
        if distinct < _FEWEST or observed < _OFTEN * distinct:
            continue
        agree = (named and not _are_names(values)) or _keys_agree(values.codes, table, schema)
        if not named and not agree:
            continue
        option = "household" if _HOUSE.search(plain(column.name)) else "person"
        what = "people" if option == "person" else "households"
        rows = int((np.bincount(values.codes[values.codes >= 0]) > 1).sum())
        text = (
            f"{column.role} {column.name!r} repeats: {distinct} different values in {observed} rows, {rows} "
            f"of them in several rows. {'' if agree else NAMESAKES}If they are {what}, k counts rows and not "
            f"{what}: say {hint(option, column.name)}"
        )
        yield Doubt("repeats" if agree else "namesakes", column.name, text)


def _are_names(values: Values) -> bool:
    """Whether most values are words with a blank between them, as in “Ada Lovelace”: people share names."""
    texts = [str(value) for value in values.levels[:_PAIRS]]
    return 2 * sum(_NAMES.fullmatch(text.strip()) is not None for text in texts) > len(texts)


def _keys_agree(codes: NDArray[np.int64], table: Columns, schema: Schema) -> bool:
    """Whether rows with the same value agree in most keys, much more often than random rows.

    If there are several keys, one is not enough: a town determines its postcode, and is no person.
    """
    order = np.argsort(codes, kind="stable")
    same = np.flatnonzero((np.diff(codes[order]) == 0) & (codes[order[1:]] >= 0))[:_PAIRS]
    if len(same) < _FEWEST:
        return False
    result, two = order[same], order[same + 1]
    any_two = np.random.default_rng(0).permutation(len(codes))[: 2 * (min(len(codes), _PAIRS) // 2)]
    agreeing, asked = 0, 0
    for name in schema.keys:
        if table[name].form in ("mixed", "other", "empty", "float"):
            continue
        key = table[name].codes
        chance = float(np.mean(key[any_two[::2]] == key[any_two[1::2]]))
        if chance < _CHANCE:
            asked += 1
            agreeing += float(np.mean(key[result] == key[two])) >= max(_AGREE, chance + 0.3)
    return agreeing >= 1 and (asked == 1 or agreeing >= 2) and 2 * agreeing >= asked
