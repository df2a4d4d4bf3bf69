"""A page about people with several rows counts them, and its next commands do, too."""

from __future__ import annotations

import html
import re
import warnings

import numpy as np
import polars as pl

import voronym as vr
from voronym.report import render


def test_sizes_and_next_commands_are_about_people():
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(60), rng.integers(1, 4, 60))
    frame = pl.DataFrame(
        {
            "who": [f"p{i}" for i in who], "mail": [f"m{i}" for i in range(len(who))],
            "age": rng.integers(20, 80, 60)[who], "pay": rng.normal(50, 9, 60)[who],
            "ill": rng.choice(["flu", "cold", "gout"], len(who)),
        }
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = vr.anonymize(
            frame, keys=["age", "pay"], confidential=["ill"], identifiers=["mail"], person="who", k=4,
            method="mdav", options={"suppress": "5%"}, steps=["top age=70"],
        )  # fmt: skip
    page = html.unescape(re.sub(r"<[^>]+>", " ", render(release)))
    assert re.search(r"The smallest group has \d+ people, the largest \d+\.", page)
    assert "people in the group" in page
    assert "records in the group" not in page
    commands = re.findall(r"voronym anonymize INPUT -o OUTPUT --key[^\n]*", page)
    assert commands
    for one in commands:
        assert "--identifier mail --person who" in one
        assert "--step 'top age=70'" in one
        assert "--option suppress=5%" in one
