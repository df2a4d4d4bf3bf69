"""Hierarchies above the columns of Adult, made for these benchmarks from what the categories mean."""

from __future__ import annotations

import polars as pl

_GROUPS: dict[str, dict[str, list[str]]] = {
    "workclass": {
        "Government": ["Federal-gov", "Local-gov", "State-gov"],
        "Private": ["Private"],
        "Self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
        "Without pay": ["Never-worked", "Without-pay"],
    },
    "marital-status": {
        "Married": ["Married-AF-spouse", "Married-civ-spouse"],
        "Once married": ["Divorced", "Married-spouse-absent", "Separated", "Widowed"],
        "Never married": ["Never-married"],
    },
    "occupation": {
        "Office": ["Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"],
        "Manual": [
            "Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving",
        ],
        "Service": ["Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"],
    },
    "education": {
        "Primary": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
        "Secondary": ["9th", "10th", "11th", "12th", "HS-grad"],
        "Undergraduate": ["Some-college", "Assoc-acdm", "Assoc-voc", "Bachelors", "Prof-school"],
        "Graduate": ["Masters", "Doctorate"],
    },
    "native-country": {
        "North America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)", "Puerto-Rico"],
        "Latin America": [
            "Columbia", "Cuba", "Dominican-Republic", "Ecuador", "El-Salvador", "Guatemala", "Haiti",
            "Honduras", "Jamaica", "Mexico", "Nicaragua", "Peru", "Trinadad&Tobago",
        ],
        "Europe": [
            "England", "France", "Germany", "Greece", "Holand-Netherlands", "Hungary", "Ireland", "Italy",
            "Poland", "Portugal", "Scotland", "Yugoslavia",
        ],
        "Asia": [
            "Cambodia", "China", "Hong", "India", "Iran", "Japan", "Laos", "Philippines", "South", "Taiwan",
            "Thailand", "Vietnam",
        ],
    },
}  # fmt: skip
COLUMNS = (
    "age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country",
    "income",
)  # fmt: skip
"""Nine columns; the first eight are those of the searches for ranges."""


def trees(adult: pl.DataFrame, columns: tuple[str, ...] = COLUMNS) -> dict[str, dict[str, list[str]]]:
    """Return the ancestors of every value of some columns."""
    made = {}
    for name in columns:
        values = [str(value) for value in adult[name].drop_nulls().unique().to_list()]
        if name == "age":
            made[name] = {
                value: [*(_step(int(value), width) for width in (5, 10, 20)), "*"] for value in values
            }
        else:
            above = {one: group for group, members in _GROUPS.get(name, {}).items() for one in members}
            made[name] = {v: [above.get(v, v), "*"] if name in _GROUPS else ["*"] for v in values}
    return made


def _step(value: int, width: int) -> str:
    low = value // width * width
    return f"{low}–{low + width - 1}"
