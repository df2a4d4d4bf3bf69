"""The sections of a release's pages, by subject. Importing this package registers them all."""

from voronym.report.sections import (
    closing,
    clusters,
    columns,
    frontier,
    known,
    looking,
    losses,
    places,
    policy,
    population,
    private,
    risks,
    rules,
    steps,
)

__all__ = [
    "closing",
    "clusters",
    "columns",
    "frontier",
    "known",
    "looking",
    "losses",
    "places",
    "policy",
    "population",
    "private",
    "risks",
    "rules",
    "steps",
]
