"""What a page calls kept is kept: every column that it names, compared row by row with the originals."""

from __future__ import annotations

import re
import warnings

import numpy as np
import polars as pl
import pytest

import voronym as vr
from voronym.report import render

ROLES = {"keys": ["region", "age"], "confidential": ["pay", "ill"], "other": ["weight", "note"]}
WEIGHTS = {"weights": "weight"}
CASES = {
    "weights averaged": (WEIGHTS, {"weight"}),
    "all of it": (
        {**WEIGHTS, "steps": ["round pay=50", "suppress note=b", "after shuffle ill"]},
        {"weight", "pay", "note", "ill"},
    ),
    "gaps": ({"method": "local-suppression", "steps": ["round age=20"]}, set()),
    "uniform": ({"method": "lattice", "suppress": 0.4, "steps": ["round pay=50"]}, {"pay"}),
    "noise": ({"method": "channel", "k": None, "options": {"max_distortion": 0.3}}, set()),
}


def people(n=120, seed=3):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "region": rng.choice(["north", "south"], n), "age": rng.integers(20, 80, n),
            "pay": np.round(rng.lognormal(4, 0.5, n), 2), "ill": rng.choice(["flu", "cold", "gout"], n),
            "weight": np.round(rng.uniform(10, 900, n), 2), "note": rng.choice(["a", "b"], n),
        }
    )  # fmt: skip


def claimed(page, heading, pattern):
    """Return the columns that a section of a page names where a pattern finds them."""
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page[page.index(f'id="{heading}"') :]))
    match = re.search(pattern, text)
    return set() if match is None else set(re.split(r", | and ", match[1].strip()))


@pytest.mark.parametrize("case", CASES)
def test_a_page_calls_kept_what_is_the_same_row_by_row(case):
    asked, changed = CASES[case]
    frame = people()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = vr.anonymize(frame, **ROLES, **{"k": 4, "method": "mdav", **asked})
    before = frame[np.asarray(release._evidence.order)]  # released row r came from there
    beside = [*ROLES["confidential"], *ROLES["other"]]
    differ = {item for item in beside if before[item].to_list() != release.table[item].to_list()}
    assert differ == changed  # the case is what it is called
    inside, outside = render(release), render(release, audience="public")
    for page in (inside, outside):
        assert claimed(page, "limits", r"published as they were: (.*?)\.") == set(beside) - differ
    assert claimed(inside, "rows", r"[.:”] ([\w, ]+?) (?:is|are) the same in both") == set(beside) - differ
    assert claimed(inside, "rows", r"masked, and (.*?) (?:was|were) changed") == differ
