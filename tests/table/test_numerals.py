"""Which texts are read as numbers: amounts are, numbers to dial are not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from voronym.table.numerals import find_number


def spaced(numbers: np.ndarray, before: str = "") -> pl.Series:
    return pl.Series([before + f"{number:,}".replace(",", " ") for number in numbers.tolist()])


@pytest.mark.parametrize("before", ["", "+"])
def test_telephone_numbers_are_no_amounts(before: str) -> None:
    numbers = np.random.default_rng(1).integers(600_000_000, 799_999_999, 50)
    assert find_number(spaced(numbers, before)) is None


def test_amounts_with_spaces_are_numbers() -> None:
    numbers = np.random.default_rng(1).integers(1_000, 2_000_000_000, 50)
    form = find_number(spaced(numbers))
    assert form is not None
    assert form.read(spaced(numbers)).to_list() == numbers.tolist()


def test_who_says_the_sign_is_obeyed() -> None:
    numbers = np.random.default_rng(1).integers(600_000_000, 799_999_999, 50)
    assert find_number(spaced(numbers), thousands=" ") is not None
