"""Pictures of the documentation, drawn when it is built; the README's is kept in the repository.

``{picture} NAME`` is a figure of the made-up patients' report. ``{gallery} methods`` and ``{gallery} models``
show one picture for each that is registered, on sixty made-up people; ``{gallery} channel`` shows what
privacy costs, and the names in `beyond` what goes past the papers.
``python docs/_ext/pictures.py`` (`make pictures`) draws the README's picture again; a test says when it is
stale.
"""

from __future__ import annotations

import re
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import beyond
import numpy as np
import polars as pl

if TYPE_CHECKING:
    from voronym.release import Release

README = Path(__file__).parents[1] / "_static" / "readme.svg"
KEYS = ["age", "weight"]
MODELS: dict[str, tuple[float, ...]] = {
    "k-anonymity": (5,),
    "p-sensitive": (3,),
    "l-diversity": (2,),
    "t-closeness": (0.3, 0.4, 0.5),
    "delta-disclosure": (1.0, 1.5, 2.5),
    "mutual-information": (0.15, 0.3, 0.5),
    "alpha-k": (0.5, 0.6, 0.7),
    "beta-likeness": (0.5, 1.0, 2.0),
    "k-map": (3,),
    "delta-presence": (1,),
}
"""Thresholds to show each model with; the first that this small table can keep."""
OPTIONS: dict[str, dict[str, Any]] = {"channel": {"max_distortion": 0.3}, "records": {"despite_loss": True}}

MORE: dict[str, dict[str, Any]] = {
    "blocks": {"blocks": ["age: mdav", "weight: mdav"]},
    "dp": {"models": ["dp=10"], "bounds": {"age": (0, 120), "weight": (0, 150)}, "k": 5},
}
"""What else a method cannot do without."""


def people(n: int = 60) -> pl.DataFrame:
    """Make up people with an age, a weight and a diagnosis that goes with both."""
    rng = np.random.default_rng(3)
    parts = [rng.normal(12, 4, n // 3), rng.normal(45, 12, n // 3), rng.normal(78, 7, n - 2 * (n // 3))]
    age = np.concatenate(parts)
    weight = np.where(age < 20, 3 * age + 10, 74) + rng.normal(0, 9, n)
    ill = np.where(rng.random(n) < 0.45, np.digitize(age, [25, 62]), rng.integers(0, 3, n))
    return pl.DataFrame(
        {
            "age": np.clip(np.round(age), 1, 98).astype(int),
            "weight": np.round(np.clip(weight, 8, 120), 1),
            "diagnosis": [("asthma", "fracture", "stroke")[i] for i in ill],
        }
    )


def groups(method: str, k: int = 5) -> tuple[Any, float]:
    """Return the groups of a method in the plane, and what they lose in percent."""
    import voronym as vr

    X = people().select(KEYS).to_numpy().astype(float)
    Z = vr.standardize(X)
    if method == "univariate":  # a method for a single key
        Z = Z[:, :1]
    part = vr.microaggregate(Z, k=k, method=method, seed=0)
    return _map(X, part.labels), vr.information_loss(Z, part)


def _map(X: np.ndarray, labels: np.ndarray) -> Any:
    """Return people in the plane with their groups."""
    from voronym.dossier.parts import GroupMap

    pairs = lambda points: tuple((float(a), float(b)) for a, b in points)  # noqa: E731
    sizes = np.bincount(labels)
    centres = np.stack([np.bincount(labels, column) / sizes for column in X.T], axis=1)
    return GroupMap(
        pairs(X), tuple(labels.tolist()), pairs(centres), tuple(sizes.tolist()),
        len(X), len(sizes), ("age", "weight"), (0.5, 0.5), ((), ()), 2, True,
    )  # fmt: skip


def readme() -> str:
    """Draw people before and after, side by side."""
    from voronym.report.axes import Axes, Axis
    from voronym.report.maps import groups as draw
    from voronym.report.plot import _style
    from voronym.report.svg import spots, text

    found, _ = groups("mdav")
    after = str(
        draw(found, title="After", desc="Groups of five people, and the centre that is published for each.")
    )
    ages, weights = zip(*found.points, strict=True)
    axes = Axes(
        Axis.around(ages, "age", far=0.15, core=0.5), Axis.around(weights, "weight", far=0.15, core=0.5),
        height=340, top=12, right=12, bottom=32, left=12,
    ).panel()  # fmt: skip
    axes.add(spots(axes.at(found.points), "d c7"))
    before = str(axes.draw("Before", "Sixty people, each with an age and a weight of their own."))
    place = lambda drawn, x: drawn.replace("<svg ", f'<svg x="{x}" y="46" width="380" height="340" ', 1)  # noqa: E731
    words = [
        (2, 18, "Before: 60 people.", "s"), (2, 36, "Age and weight together lead to one of them.", ""),
        (412, 18, f"After: {found.groups} groups of 5 or more.", "s"),
        (412, 36, "Each is published as its centre, the ring.", ""),
    ]  # fmt: skip
    said = "".join(text(x, y, word, f"t {look}".strip()) for x, y, word, look in words)
    larger = ".fig text{font-size:12.5px}.fig .d{stroke-width:5}.fig .o{stroke-width:1.6}"
    return (
        '<svg class="fig" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 792 392" role="img">'
        f"<title>Sixty people before and after</title><style>{_style()}{larger}</style>"
        f'<rect width="100%" height="100%" fill="#fff"/>{said}{place(before, 0)}{place(after, 410)}</svg>\n'
    )


def rows() -> str:
    """Return four patients before and after, as the table of the README."""
    import voronym as vr

    table = vr.datasets.hospital(1000, seed=0)
    keys = ["age", "sex", "zip", "weight"]
    release = vr.anonymize(
        table, keys=keys, confidential=["diagnosis"], drop_undeclared=True, k=5, method="mdav", seed=0
    )
    found = release.dossier().inside.samples
    head = " | ".join([*found.columns, "", *found.columns])
    lines = [f"| {head} |", "|" + "---|" * (2 * len(found.columns) + 1)]
    for old, new in list(zip(found.before, found.after, strict=True))[:4]:
        after = [f"**{v}**" if name in keys else v for name, v in zip(found.columns, new, strict=True)]
        lines.append("| " + " | ".join([*old, "→", *after]) + " |")
    return "\n".join(lines) + "\n"


def with_rows(text: str) -> str:
    """Return the README with its table as it is now."""
    start, end = "<!-- rows -->\n", "<!-- end of rows -->"
    before, _, rest = text.partition(start)
    return f"{before}{start}\n{rows()}\n{end}{rest.partition(end)[2]}"


# -- for pages -------------------------------------------------------------------------------------------


@cache
def patients() -> Release:
    """Return the release that the tutorial is about."""
    import voronym as vr

    table = vr.datasets.hospital(1000, outliers=5, seed=0)
    keys = ["age", "sex", "zip", "nationality", "admitted", "weight"]
    kept, dropped = ["diagnosis", "days", "cost"], ["name", "patient_id"]
    return vr.anonymize(table, keys=keys, confidential=kept, identifiers=dropped, k=5, method="mdav")


def method_picture(name: str) -> tuple[str, str]:
    """Return a picture of a method on sixty people, and a few words."""
    import voronym as vr
    from voronym.method import METHODS
    from voronym.report.maps import groups as draw
    from voronym.report.plot import standalone

    if METHODS[name].groups:
        found, loss = groups(name)
        words = f"{found.groups} groups, {loss:.1f} % lost"
        return standalone(draw(found, title=f"Groups of {name}")), words
    with warnings.catch_warnings():  # about so small a table
        warnings.simplefilter("ignore")
        release = vr.anonymize(
            people(),
            keys=KEYS,
            confidential=["diagnosis"],
            method=name,
            options=OPTIONS.get(name),
            **MORE.get(name, {}),
        )
    found = release.dossier().inside.plane
    if found is None:  # ranges are no places: show who is published alike
        codes = release.table.select(pl.struct(KEYS).rank("dense") - 1).to_series().to_numpy().astype(int)
        labels = np.empty_like(codes)
        labels[release._evidence.order] = codes
        alike = _map(people().select(KEYS).to_numpy().astype(float), labels)
        words = f"{alike.groups} groups, published as ranges"
        return standalone(draw(alike, title=f"Groups of {name}")), words
    if not hasattr(found, "before"):
        return standalone(draw(found, title=f"Groups of {name}")), f"{found.groups} groups"
    return standalone(_ways(found, name)), f"{release.information_loss:.1f} % lost; no groups"


def _ways(found: Any, name: str) -> Any:
    """Draw where records were, where they are published, and the way between."""
    from voronym.report.axes import Axes, Axis
    from voronym.report.svg import line, spots

    every = [*found.before, *found.after]
    axes = Axes(
        Axis.around((a for a, _ in every), found.axes[0]), Axis.around((b for _, b in every), found.axes[1]),
        height=340, top=12, right=12, bottom=32, left=12,
    ).panel()  # fmt: skip
    old, new = axes.at(found.before), axes.at(found.after)
    axes.add(*(line(*a, *b, "mv") for a, b in zip(old, new, strict=True)))
    axes.add(spots(old, "dg"), spots(new, "d c0"))
    return axes.draw(f"Records before and after {name}")


def model_picture(name: str) -> tuple[str, str]:
    """Return the diagnoses in each group of a release that keeps a model, and a few words."""
    import voronym as vr
    from voronym.errors import VoronymError
    from voronym.report.bars import stacked
    from voronym.report.plot import standalone

    if name == "dp":
        return "", "a promise about how a table is made, which no picture of a table shows"
    for value in MODELS.get(name, (1.0,)):
        k = int(value) if name == "k-anonymity" else 3
        wanted = [] if name == "k-anonymity" else [f"{name}={value:g}"]
        try:
            release = vr.anonymize(
                people(), keys=KEYS, confidential=["diagnosis"], k=k, models=wanted, method="mdav", seed=0
            )
        except VoronymError:
            continue
        break
    else:
        return "", "no threshold tried here can be kept by so small a table"
    table = release.table.sort(KEYS)
    levels = sorted(table["diagnosis"].unique())
    rows = [
        (f"{own['age'][0]}, {own['weight'][0]:.0f} kg", [(own["diagnosis"] == one).mean() for one in levels])
        for own in table.partition_by(KEYS, maintain_order=True)
    ][:14]
    looks = [(one, look) for one, look in zip(levels, ("a", "k1", "b"), strict=True)]
    drawn = stacked(
        [one for one, _ in rows], [own for _, own in rows], looks, title=f"Groups that keep {name}"
    )
    found = next(one for one in release.findings if one.model == name)
    words = f"{found}; {release.information_loss:.1f} % lost"
    return standalone(drawn), words


def channel_picture() -> tuple[str, str]:
    """Return the least risk for each distortion, for the regions of the page on channels, and a few words."""
    from voronym.channel import privacy_distortion
    from voronym.report.curves import Series, chart
    from voronym.report.plot import standalone

    p_wx = np.array([[0.30, 0.15, 0.05], [0.05, 0.15, 0.30]])
    found = [
        (limit, privacy_distortion(p_wx, 1.0 - np.eye(3), max_distortion=limit).risk)
        for limit in np.linspace(0.0, 0.5, 11).tolist()
    ]
    drawn = chart(
        [Series("least risk", found)], title="Risk against distortion",
        desc="The more regions are published wrongly, the less they tell about illness.",
        x_name="distortion: share of people published in another region", y_name="risk, nats",
    )  # fmt: skip
    words = (
        "Healthy and ill people in three regions, as further down. On the left regions are published as they "
        "are; to the right they tell less, at the least price. No rule gets below the curve."
    )
    return standalone(drawn), words


def setup(app: Any) -> dict[str, bool]:
    """Register the directives."""
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    def shown(svg: str, words: str) -> nodes.Node:
        said = re.sub(r"&", "&amp;", words).replace("<", "&lt;")
        return nodes.raw(
            "", f'<figure class="drawn">{svg}<figcaption>{said}</figcaption></figure>', format="html"
        )

    class Picture(SphinxDirective):
        required_arguments = 1
        has_content = True

        def run(self) -> list[nodes.Node]:
            made = patients().plot(self.arguments[0])
            return [shown(made.svg, " ".join(self.content) or made.title)]

    class Gallery(SphinxDirective):
        required_arguments = 1

        def run(self) -> list[nodes.Node]:
            import voronym  # noqa: F401 - importing registers
            from voronym.method import METHODS
            from voronym.privacy.base import MODELS as REGISTERED

            alone = {"channel": channel_picture} | beyond.PICTURES
            if self.arguments[0] in alone:
                return [shown(*alone[self.arguments[0]]())]
            methods = self.arguments[0] == "methods"
            out: list[nodes.Node] = []
            for name in METHODS if methods else REGISTERED:
                svg, words = method_picture(name) if methods else model_picture(name)
                part = nodes.section(ids=[f"{'method' if methods else 'model'}-{name}"])
                part += nodes.title(text=name)
                if methods:
                    part += nodes.paragraph(text=METHODS[name].summary)
                part += shown(svg, words)
                out.append(part)
            return out

    app.add_directive("picture", Picture)
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    README.write_text(readme(), encoding="utf-8")
    page = Path(__file__).parents[2] / "README.md"
    page.write_text(with_rows(page.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{README}: {README.stat().st_size:,} bytes" + "\n")
