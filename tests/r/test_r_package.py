"""The R package: a release made from R keeps what the data frame was, and has the k that R counts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "r" / "voronym"

pytestmark = pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")

COUNT = """
for (path in commandArgs(TRUE)) source(path)
options(voronym.command = strsplit(Sys.getenv("VORONYM_WORDS"), "|", fixed = TRUE)[[1]])
people <- data.frame(
  age = c(rep(c(20L, 22L, 40L, NA), 5), 61L),
  school = factor(c(rep(c("low", "high"), 10), "mid"), c("low", "mid", "high"), ordered = TRUE),
  born = as.Date("1980-01-01") + 0:20,
  ill = c(rep(c("flu", "caf\\u00e9"), 10), NA)
)
release <- vr_anonymize(people, c("age", "school", "born"), confidential = "ill", k = 3)
stopifnot(
  identical(lapply(release, class), lapply(people, class)),
  identical(levels(release$school), levels(people$school)),
  identical(table(release$ill, useNA = "always"), table(people$ill, useNA = "always"))
)
wrong <- tryCatch(vr_anonymize(people, "agee"), voronym_error = conditionMessage)
cat(min(table(do.call(paste, release[1:3]))), attr(release, "voronym")$k, "\\n", wrong, "\\n", sep = " ")
"""


def test_r_counts_the_k_of_a_release_made_from_r(tmp_path: Path) -> None:
    script = tmp_path / "count.R"
    script.write_text(COUNT, encoding="utf-8")
    made = subprocess.run(
        ["Rscript", "--vanilla", str(script), *map(str, sorted((PACKAGE / "R").glob("*.R")))],
        env={**os.environ, "VORONYM_WORDS": f"{sys.executable}|-m|voronym"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    first, second = made.stdout.splitlines()[:2]
    counted, claimed = map(int, first.split())
    assert counted == claimed >= 3
    assert "the table has no column 'agee'" in second
    assert not second.strip().startswith("error")


def test_the_r_package_has_the_version_of_voronym() -> None:
    import voronym

    lines = (PACKAGE / "DESCRIPTION").read_text(encoding="utf-8").splitlines()
    assert f"Version: {voronym.__version__}" in lines
