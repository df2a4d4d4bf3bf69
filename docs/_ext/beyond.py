"""Pictures of what goes past the papers: one for each step, drawn when the documentation is built.

``{gallery} density`` cells of a density, ``{gallery} diverse`` groups with their share of every diagnosis,
``{gallery} crowded`` k and a limit on information together, ``{gallery} regression`` a bound for any law,
``{gallery} limits`` how much of the possible gain is realised, ``{gallery} million`` linkage by size. The
last two are drawn from the papers' results that are kept.
"""

from __future__ import annotations

import re
from math import pi, sqrt

import numpy as np


def crowded() -> tuple[str, str]:
    """Return the least distortion for each limit on the risk, without and with a least share of a letter."""
    from voronym.channel import crowded_channel
    from voronym.report.curves import Series, chart
    from voronym.report.plot import standalone

    x = np.linspace(-2, 2, 21)
    law = np.exp(-np.square(x) / 2) / np.exp(-np.square(x) / 2).sum()
    ill = 1 / (1 + np.exp(-3 * x))
    p_wx, d = np.stack([(1 - ill) * law, ill * law]), np.square(x[:, None] - np.linspace(-1.5, 1.5, 6))
    limits = (0.0, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2)
    series = [
        Series(name, [(r, crowded_channel(p_wx, d, max_risk=r, least=share).distortion) for r in limits])
        for name, share in (("no k", 0.0), ("k/n = 0.1", 0.1), ("k/n = 0.16", 0.16))
    ]
    drawn = chart(
        series, title="Least distortion with both", desc="The curves fall as the limit on the risk rises.",
        x_name="limit on the risk, nats", y_name="least distortion",
    )  # fmt: skip
    words = (
        "Six published values of a key that tells about an illness. Below each curve there is no rule, to "
        "within one in ten thousand: proven for every point drawn."
    )
    return standalone(drawn), words


def density() -> tuple[str, str]:
    """Return sixteen cells of equal probability of a normal density, designed without a sample."""
    from voronym.quantize import design_integral
    from voronym.report.maps import cells
    from voronym.report.plot import standalone

    def normal(points: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * np.square(points).sum(axis=1)) / (2 * np.pi)

    made = design_integral(normal, 16, (-6.0, -6.0, 6.0, 6.0), iterations=15)
    points, bounds = np.random.default_rng(0).standard_normal((1500, 2)), (-3.2, -3.2, 3.2, 3.2)
    drawn = cells(
        points, made.assign(points), made.centroids, bounds=bounds, polygons=made.diagram(bounds),
        title="Sixteen cells of equal probability", desc="Cells of a normal density are convex polygons.",
    )  # fmt: skip
    words = (
        "A quantizer of the plane: sixteen cells of a normal density, each with a probability of 1/16, with "
        "their centroids. The points were not used: they are drawn to show how many fall into a cell."
    )
    return standalone(drawn), words


def regression() -> tuple[str, str]:
    """Return what a rule tells at least: the paper's formula, the bound for any law, and the truth."""
    from voronym.channel import privacy_distortion, regression_bound, scalar_risk
    from voronym.report.curves import Series, chart
    from voronym.report.plot import standalone

    x, p = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0.1, 0.4, 0.4, 0.1])
    g = np.array([-1.0, 0.0, 0.0, 1.0]) * sqrt(2 / pi)
    signs = np.array([[1.0, 0.5, 0.5, 0.0], [0.0, 0.5, 0.5, 1.0]]) * p
    d, variance = np.square(x[:, None] - np.linspace(-2.0, 2.0, 41)), float(p @ x**2)
    rho = float(p @ (x * g)) / sqrt(variance)
    shares = np.linspace(0.0, 0.6, 25).tolist()
    series = [
        Series("the least there is", [
            (s, privacy_distortion(signs, d, max_distortion=s * variance).risk) for s in shares[::2]
        ]),
        Series("bound for any law", [
            (s, regression_bound(x[:, None], p, g, s * variance, variance=1.0)) for s in shares
        ]),
        Series("the paper's formula", [(s, scalar_risk(rho, s)) for s in shares]),
    ]  # fmt: skip
    drawn = chart(
        series, title="What a rule tells at least", desc="The paper's formula crosses the truth near 0.1.",
        x_name="distortion, share of the variance", y_name="information, nats",
    )  # fmt: skip
    words = (
        "A law that is not normal: the sign of W is that of X where X is two away, and a coin's where it is "
        "one away. From a tenth of the variance on, the paper's formula asks for more than there is; the "
        "bound never does."
    )
    return standalone(drawn), words


def diverse() -> tuple[str, str]:
    """Return the diagnoses in the groups of PCL, and in groups that have their share of each by design."""
    import pictures

    import voronym as vr
    from voronym.report.bars import stacked
    from voronym.report.plot import standalone

    levels, looks, out, losses = ["asthma", "fracture", "stroke"], ("a", "k1", "b"), [], []
    for title, wanted in (
        ("k alone", {}),
        ("k and shares", {"options": {"diverse": 1.0}, "models": ["t-closeness=0.3"]}),
    ):
        release = vr.anonymize(
            pictures.people(), keys=pictures.KEYS, confidential=["diagnosis"], k=6, method="pcl", seed=0,
            **wanted,
        )  # fmt: skip
        table = release.table.sort(pictures.KEYS)
        rows = table.partition_by(pictures.KEYS, maintain_order=True)
        names = [f"{own['age'][0]}, {own['weight'][0]:.0f} kg" for own in rows]
        shares = [[(own["diagnosis"] == level).mean() for level in levels] for own in rows]
        drawn = stacked(names, shares, list(zip(levels, looks, strict=True)), title=f"Groups with {title}")
        out.append(standalone(drawn))
        losses.append(release.information_loss)
    words = (
        "Sixty people in groups of six, each a bar with its diagnoses. Above: groups by age and weight "
        f"alone, {losses[0]:.1f} % lost. Below: every group has its share of every diagnosis, "
        f"{losses[1]:.1f} % lost."
    )
    return "".join(out), words


def kept(paper: str, pattern: str, full: bool | None = None) -> list[tuple[re.Match[str], float]]:
    """Return the figures of kept runs whose description a pattern matches, full runs before quick ones."""
    from voronym_papers import PAPERS
    from voronym_papers.stored import results

    runs = sorted(results(PAPERS[paper]).items(), key=lambda item: not item[0][1])
    return [
        (match, float(mark.ours))
        for (_, whole), run in runs
        if full is None or whole == full
        for mark in run.marks
        if mark.ours is not None and (match := re.fullmatch(pattern, mark.what))
    ]


def limits() -> tuple[str, str]:
    """Return how much of the possible gain over MDAV the published search realises, and ours, by k."""
    from voronym.report.curves import Series, chart
    from voronym.report.plot import standalone

    series = []
    for who, name in (("ICSM as published", "ICSM"), ("our best search", "ours")):
        pattern = rf"share of it that {who} realises, at least, (\w+), k = (\d+)"
        own = kept("icsm", pattern, full=True)
        for data in dict.fromkeys(match[1] for match, _ in own):
            points = sorted((float(match[2]), value) for match, value in own if match[1] == data)
            series.append(Series(f"{data}, {name}", points))
    drawn = chart(
        series, title="Share of the possible gain", desc="Ours realises more than the published search.",
        x_name="k", y_name="share of the gain that nothing exceeds, %",
    )  # fmt: skip
    words = (
        "Nothing gains more over MDAV than 100 %: that is proven for each table and k. The share is at least "
        "what is drawn, because the proven limit may lie above the optimum."
    )
    return standalone(drawn), words


def million() -> tuple[str, str]:
    """Return how many people are found again after pushing back and shuffling, by the size of the table."""
    from voronym.report.curves import Series, chart
    from voronym.report.plot import standalone

    whole, leaves = (
        sorted({
            int(match[1].replace(",", "")): value for match, value in reversed(kept("crowd", pattern))
        }.items())
        for pattern in (
            r"found again of ([\d,]+) \(1/\(m\+1\) at most\)",
            r"found again of ([\d,]+) in leaves of [\d,]+ \(1/\(m\+1\) = 20 % at most\)",
        )
    )  # fmt: skip
    sizes = [n for n, _ in (*whole, *leaves)]
    series = [
        Series("proven limit", [(min(sizes), 20.0), (max(sizes), 20.0)]),
        Series("in one piece", [(float(n), value) for n, value in whole]),
        Series("leaf by leaf", [(float(n), value) for n, value in leaves]),
    ]
    drawn = chart(
        series, title="People found again", desc="All points lie below the proven limit of a fifth.",
        x_name="patients", y_name="found again, %", log="x",
    )  # fmt: skip
    words = (
        "An intruder knows everybody's keys and links each person to the nearest released record, in every "
        "leaf. m = 4: no more than one in five is found, whatever the size."
    )
    return standalone(drawn), words


PICTURES = {
    "crowded": crowded, "density": density, "diverse": diverse, "limits": limits, "million": million,
    "regression": regression,
}  # fmt: skip
