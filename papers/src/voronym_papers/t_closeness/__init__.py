"""Rebollo-Monedero, Forné and Domingo-Ferrer 2010: privacy risk against distortion.

``published``  the paper's figures                 ``function``  figures 5, 6 and 7: the best rules
``counted``    figures 8 and 9: microaggregation with its counted risk; several keys
``places``     section 4.4: X is a user's place, W the user's identity
"""

from __future__ import annotations

from collections.abc import Iterator

from voronym.core.context import Context
from voronym_papers.base import Exhibit, paper
from voronym_papers.items import Item
from voronym_papers.t_closeness import published

PAPER = paper(
    "t-closeness",
    number="002",
    code=("voronym_papers.t_closeness", "voronym_papers.solvers", "voronym.channel", "voronym.partitioners"),
    reference=published.REFERENCE,
    subject="Privacy risk against distortion",
    exhibits=(
        Exhibit("Figure 1", "perturbation of key attributes", where="channel.md"),
        Exhibit("Figure 2", "the privacy-distortion problem", where="channel.md"),
        Exhibit("Figure 3", "the rate-distortion problem", where="channel.md"),
        Exhibit("Figure 4", "its single-letter form", where="channel.md"),
        Exhibit("Section 4.4", "location-based services: W is a user"),
        Exhibit("Figure 5", "the best noise for normal data"),
        Exhibit("Figure 6", "the privacy-distortion function"),
        Exhibit("Figure 7", "the shape of the best rule"),
        Exhibit("Figure 8", "MDAV on scalar data"),
        Exhibit("Figure 9", "μ-Approx on scalar data"),
        Exhibit("Section 6.2", "several keys: farther from the bound?"),
    ),
)


@PAPER.experiment("places", "Places, and W a user", shows=("Section 4.4",))
def _places(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.t_closeness import places

    yield from places.users(11 if full else 7, 12 if full else 6, ctx)


@PAPER.experiment("noise", "The best noise for normal data", shows=("Figure 5",))
def _noise(_: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.t_closeness import function

    yield from function.figure_5(ctx)


@PAPER.experiment("function", "The privacy-distortion function", shows=("Figure 6",))
def _function(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.t_closeness import function

    yield from function.figure_6(published.STEPS if full else published.STEPS // 4, ctx)


@PAPER.experiment("shape", "The shape of the best rule", shows=("Figure 7",))
def _shape(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.t_closeness import function

    steps = published.STEPS
    yield from function.figure_7((steps, 4 * steps) if full else (steps // 4,), ctx)


@PAPER.experiment("scalar", "Microaggregation of one key", shows=("Figure 8",))
def _scalar(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.t_closeness import counted

    yield from counted.figures_8_9(published.RECORDS, full, ctx, ("MDAV", "univariate"))


@PAPER.experiment("scalar-mu", "Microaggregation of one key by μ-Approx", shows=("Figure 9",))
def _scalar_mu(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.t_closeness import counted

    yield from counted.figures_8_9(published.RECORDS, full, ctx, ("μ-Approx",))


@PAPER.experiment("keys", "Microaggregation of several keys", shows=("Section 6.2",))
def _keys(full: bool, ctx: Context) -> Iterator[Item]:
    from voronym_papers.t_closeness import counted

    for d in (2, 3, 5) if full else (2, 3):
        yield from counted.several_keys(
            d, published.RECORDS if full else published.RECORDS // 8, 5.0 if full else 0.5, ctx
        )
