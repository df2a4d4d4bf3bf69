"""Pages about channels: what the keys tell, what it cost, and the rules that analysts correct with."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voronym.report import figures, heat, perturbed_inside
from voronym.report.parts import Block, Fact, Section, Table, decimal, names, plural, share, svg
from voronym.report.public import View
from voronym.report.story import Story, losses, own
from voronym.report.svg import clean, percent

KINDS = {"noise": "noise", "pram": "a matrix"}
OTHERS = "all others"
_CONDITION = 1e4  # solving magnifies errors by up to this; beyond it a correction says nothing


def nats(value: float | None) -> str:
    """Write a risk; everything can be told where there is no finite figure."""
    if value is None or not np.isfinite(value):
        return "∞"
    return f"{value:.3g}" if value >= 0.001 or value == 0.0 else "< 0.001"


def about(view: View) -> str:
    """Name what is protected."""
    return names(tuple(view.schema.confidential), 3)


def verdict(view: View) -> str:
    """Say what the keys tell now."""
    broken = [f for f in view.findings if not f.holds]
    if broken:
        return f"This table does not keep its promise: {names([f.model for f in broken])} does not hold."
    parts = view.figures.get("parts")
    if not parts:
        return "The keys were randomised; the figures are not in memory."
    if len(parts) == 1:
        risk = nats(view.figures["risk"])
        model = "By the normal model, the" if parts[0]["kind"] == "noise" else "The"
        return f"{model} published keys tell at most {risk} nats about {about(view)}, on average."
    return (
        f"Summed over the rules, what the keys tell about {about(view)} fell from "
        f"{nats(view.figures['information'])} to "
        f"{nats(view.figures['risk'])} nats."
    )


def support(view: View) -> tuple[str, ...]:
    """Say how, and what it is not."""
    parts = view.figures.get("parts", ())
    out = []
    if len(parts) == 1:
        out.append(f"As they were they told {nats(view.figures['information'])}.")
    elif parts:
        out.append(
            f"There are {len(parts)} rules, each on keys of its own; together the keys may tell more than "
            "the "
            "sum."
        )
    if any(part["kind"] == "noise" for part in parts):
        out.append("The risk of noise is that of normal data with the same covariances.")
    if "distortion" in view.figures:
        lost = percent(100 * view.figures["distortion"], fine=True)
        out.append(f"It cost {lost} of the keys’ variance.")
    out.append(own(view))
    if view.risk is not None and view.risk.unique:
        out.append("A person’s keys are blurred, not hidden: a value that tells little may stand as it was.")
    return tuple(out)


def facts(view: View) -> tuple[Fact, ...]:
    """Pick the numbers that stand out."""
    out = []
    if "risk" in view.figures:
        word = f"told, instead of {nats(view.figures['information'])}"
        out.append(Fact(f"{nats(view.figures['risk'])} nats", "risk", word))
        lost = percent(100 * view.figures["distortion"], fine=True)
        out.append(Fact(lost, "distortion", "of the keys’ variance, measured"))
    if view.risk is not None:
        out.append(
            Fact(share(view.risk.uniqueness), "keys of their own", "share of the records: no k is promised")
        )
        out.append(Fact(f"{view.risk.records:,}", "records", plural(view.risk.n_classes, "combination")))
    return tuple(out)


def _columns(part: Mapping[str, Any]) -> str:
    return names([clean(name) for name in part["columns"]], 4)


def rules(view: View) -> Section | None:
    """Show what each rule does: what its keys told and tell, and planned against measured distortion."""
    parts = view.figures.get("parts")
    if not parts:
        return None
    known = [
        p["information"] for p in parts if p["information"] is not None and np.isfinite(p["information"])
    ]
    seen = view.figures.get("measured")
    dots: list[tuple[str, float | None, float | None, tuple[float, float] | None]] = [
        (
            f"{_columns(p)} ({KINDS.get(p['kind'], p['kind'])})",
            p["information"] if p["information"] in known else None,
            p["risk"],
            None,
        )
        for p in parts
    ]
    top = max([*known, *(p["risk"] for p in parts)])
    if seen:
        low, high = max(0.0, seen["interval"][0]), max(0.0, seen["interval"][1])
        dots.append((f"measured: {names(seen['keys'], 4)}", None, max(0.0, seen["excess"]), (low, high)))
        top = max(top, high, seen["excess"])
    told = figures.dot_ranges(
        dots,
        title="What the keys told and tell",
        desc="Risk in nats of each rule, unmasked and published; the table has the figures.",
        limits=(0.0, 1.08 * top or 1.0),
    )
    risks = Table.of(
        ("keys", "unmasked", "published", "proven within"),
        [(_columns(p), nats(p["information"]), nats(p["risk"]), _gap(p["gap"])) for p in parts],
        caption="Risk in nats",
    )
    high = 105.0 * max(max(p["planned_distortion"], p["distortion"]) for p in parts) or 1.0
    lost = figures.dot_ranges(
        [(_columns(p), 100 * p["planned_distortion"], 100 * p["distortion"], None) for p in parts],
        title="Planned and measured distortion",
        desc="Share of the variance lost by each rule, as planned and as measured; the table has the "
        "figures.",
        limits=(0.0, high),
        unit=" %",
        hints=("planned", "measured"),
    )
    distortions = Table.of(
        ("keys", "planned", "measured", "difference"),
        [
            (
                _columns(p),
                percent(100 * p["planned_distortion"], fine=True),
                percent(100 * p["distortion"], fine=True),
                _signed(100 * (p["distortion"] - p["planned_distortion"])),
            )
            for p in parts
        ],
        caption="Share of the variance",
    )
    lead = (
        f"Each rule is the one that tells least about {about(view)} for what it costs. The risk is the "
        "mutual "
        "information: 0 nats would be nothing at all. “Proven within” is how far the rule can be from the "
        "best one."
    )
    foot = " ".join(f"{_columns(p)}: {clean(p['note'])}." for p in parts)
    blocks = (
        Block("Risk", svg(told), risks, f"Grey: the keys unmasked. Blue: as published.{_measured(seen)}"),
        Block(
            "Distortion",
            svg(lost),
            distortions,
            "Grey: planned, as an expectation. Blue: measured in this table, after drawing, rounding and "
            "clipping.",
        ),
    )
    return Section("rules", "What the keys tell, and what it cost", lead, blocks, foot=foot)


def _measured(seen: Mapping[str, Any] | None) -> str:
    """Say what was measured in the released table, under no model."""
    if not seen:
        return ""
    low, high = (nats(max(0.0, end)) for end in seen["interval"])
    return (
        f" Measured in the released table, under no model: {names(seen['keys'], 4)} "
        f"{'tells' if len(seen['keys']) == 1 else 'tell'} {nats(max(0.0, seen['excess']))} nats above chance "
        f"about {names(seen['about'], 4)} ({low} to {high} at {100 * seen['confidence']:.0f}\u202f%), the "
        "most of "
        f"{plural(seen['looks'], 'look')} at single keys, pairs and all of them, in coarse cells."
    )


def _gap(value: float) -> str:
    return decimal(value, 1) if value > 0 else "0"


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−") + " points"


def letters(matrix: Mapping[str, Any]) -> list[str]:
    """Return the names of a matrix's rows; rare letters stand together in the last one."""
    out = [" · ".join("(missing)" if v is None else clean(v) for v in letter) for letter in matrix["letters"]]
    return [*out, OTHERS] if matrix["together"] else out


def as_csv(part: Mapping[str, Any]) -> str:
    """Write a transition matrix as CSV: a row for each true value, a column for each published one."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    called = letters(part["matrix"])
    writer.writerow([" · ".join(map(clean, part["columns"])), *called])
    for name, row in zip(called, part["matrix"]["rows"], strict=True):
        writer.writerow([name, *(f"{value:.6f}".rstrip("0").rstrip(".") for value in row)])
    return out.getvalue()


def matrices(view: View) -> Section | None:
    """Show the transition matrices, and give them as text: analysts need them to correct counts."""
    parts = [p for p in view.figures.get("parts", ()) if p["kind"] == "pram"]
    told = [p for p in parts if p.get("matrix")]
    if not parts:
        return None
    blocks, code = [], []
    for part in told:
        called = letters(part["matrix"])
        rows = part["matrix"]["rows"]
        title = _columns(part)
        stayed = [row[i] for i, row in enumerate(rows)]
        note = (
            "Shade and figures: the probability that a true value (row) is published as another (column)."
            if len(called) <= heat.MOST_LETTERS
            else "Too large to draw; it stands below as text."
        )
        if part["matrix"]["together"]:
            note += (
                f" “{OTHERS}” are {plural(part['matrix']['together'], 'value')} with few records, or that "
                "were never drawn: recode them as one before you correct."
            )
        note += _undoing(part["matrix"])
        drawing = (
            heat.heat_map(
                called,
                rows,
                title=f"Transition matrix of {title}",
                desc=f"{len(called)} rows and columns; the matrix stands below as text.",
            )
            if len(called) <= heat.MOST_LETTERS
            else None
        )
        shown = sorted(zip(called, stayed, strict=True), key=lambda one: one[1])[:12]
        table = Table.of(
            ("published as it was", "probability"),
            [(name, f"{value:.3f}") for name, value in shown],
            caption="" if len(shown) == len(called) else f"The {len(shown)} least of {len(called)}",
        )
        blocks.append(Block(title, None if drawing is None else svg(drawing), table, note))
        code.append((f"Matrix of {title}, as CSV", as_csv(part)))
    if told:
        code.append(("To correct counts, in Python", _recipe_to_correct(told[0])))
    lead = (
        "Categories were drawn at random from these rows. Whoever knows the matrix can correct counts for "
        "it, on "
        "average, and nobody can for a single person. Probabilities are rounded to millionths."
    )
    hidden = [_columns(p) for p in parts if not p.get("matrix")]
    foot = f"Not told, because each value has too few records: {names(hidden)}." if hidden else ""
    return Section("matrices", "The transition matrices", lead, tuple(blocks), code=tuple(code), foot=foot)


def _firm(rows: Sequence[Sequence[float]]) -> bool:
    """Say whether the shares before can be computed from those after, without a large error."""
    singular = np.linalg.svd(np.array(rows), compute_uv=False)
    return bool(singular[-1] * _CONDITION > singular[0])


def _undoing(matrix: Mapping[str, Any]) -> str:
    """Say what is lost for good, if anything."""
    if _firm(matrix["rows"]):
        return ""
    if matrix["together"] and _firm(matrix["rows"][:-1]):
        rows = np.array(matrix["rows"])
        weights = np.linalg.lstsq(rows[:-1].T, rows[-1], rcond=None)[0]  # whose records they pass for
        worst = float(matrix["share"] * np.abs(weights).max())
        return (
            " They are hardly ever published, so their share cannot be computed: leave out the last row when "
            f"you correct. They pass for others, and another share comes out wrong by up to {share(worst)}."
        )
    return " It cannot be undone: different values are published by nearly the same law."


def _recipe_to_correct(part: Mapping[str, Any]) -> str:
    columns = [clean(name) for name in part["columns"]]
    rows = "" if _firm(part["matrix"]["rows"]) or not part["matrix"]["together"] else "[:-1]  # no last row"
    value = (
        f"row[{columns[0]!r}]" if len(columns) == 1 else f'" · ".join(str(row[name]) for name in {columns!r})'
    )
    return (
        "import numpy as np\nimport polars as pl\nimport voronym as vr\n\n"
        'table = pl.read_csv("RELEASE.csv", infer_schema=False)\n'
        'matrix = pl.read_csv("MATRIX.csv", infer_schema=False)  # the text above\n'
        "letters = matrix[:, 0].to_list()\n"
        f"values = [{value} for row in table.iter_rows(named=True)]\n"
        "codes = np.array([letters.index(v) if v in letters else len(letters) - 1 for v in values])\n"
        f"rule = matrix[:, 1:].to_numpy().astype(float){rows}\n"
        "found = vr.channel.recover(codes, rule)\n"
        "for letter, share, error in zip(letters, found.shares, found.errors):\n"
        '    print(letter, round(share, 3), "±", round(error, 3))'
    )


def noise(view: View) -> Section | None:
    """Show the noise on each numeric column."""
    rows = [row for p in view.figures.get("parts", ()) for row in p.get("noise", ())]
    if not rows:
        return None
    called = [names([clean(name) for name in row["columns"]]) for row in rows]
    drawing = figures.loss_bars(
        called,
        [100 * row["lost"] for row in rows],
        total=None,
        title="Planned noise of each column",
        desc=f"Share of the variance lost in {len(rows)} columns, as planned.",
    )
    table = Table.of(
        ("column", "kept", "noise", "variance lost"),
        [
            (
                name,
                decimal(row["kept"], 2),
                decimal(row["noise_sd"], 2),
                percent(100 * row["lost"], fine=True),
            )
            for name, row in zip(called, rows, strict=True)
        ],
    )
    lead = (
        "A number is pulled towards the mean and noise is added: most where it says most about "
        f"{about(view)}. A column that says little may come out nearly unchanged."
    )
    note = (
        "Kept: what is left of a record’s own deviation from the mean, on average. Noise: its standard "
        "deviation, in "
        "standard deviations of the column. Variance lost: add so much of the column’s original variance "
        "to the "
        "published one to correct for the noise; before rounding."
    )
    return Section(
        "noise", "Noise on the numeric keys", lead, (Block(figure=svg(drawing), table=table, note=note),)
    )


def done(view: View) -> list[str]:
    """Say what was done."""
    limit = view.recipe.options
    asked = (
        f"at most {percent(100 * limit['max_distortion'], fine=True)} of the variance lost"
        if "max_distortion" in limit
        else f"at most {nats(limit['max_risk'])} nats of risk"
        if "max_risk" in limit
        else "a limit"
    )
    out = [f"Looked for the rules that tell least about {about(view)}, with {asked}."]
    for part in view.figures.get("parts", ()):
        how = "Added noise to" if part["kind"] == "noise" else "Drew new values by a matrix for"
        out.append(f"{how} {_columns(part)}, each record by itself.")
    return out


def fates(view: View) -> dict[str, str]:
    """Say what happened to each column."""
    words = {"noise": "noise added, rounded and clipped to its range", "pram": "drawn anew by a matrix"}
    return {
        name: words.get(part["kind"], "masked")
        for part in view.figures.get("parts", ())
        for name in part["columns"]
    }


def limits(view: View) -> list[str]:
    """Say what is not promised."""
    out = [
        "It hides what the keys tell, not who is who. It is not k-anonymity: a person may be found by keys "
        "that "
        "came out unchanged, and then the confidential columns are theirs.",
        "The limit is an average over the table. For a single record nothing is promised.",
        "For numbers the risk is computed as if the data were normal. Other data may tell more.",
        "Keys of several rules together may tell more than the sum of their risks.",
        "Averages and counts need the corrections given here. Single records are not true.",
    ]
    if view.recipe.seed is not None:
        out.append("The seed of this release takes the noise off, and must stay with the data holder.")
    return out


def sections(view: View) -> Sequence[Section | None]:
    """Return the sections that need no originals."""
    return (rules(view), noise(view), matrices(view))


def inside(view: View, release: Any) -> Sequence[Section | None]:
    """Return the sections for the data holder."""
    return (
        perturbed_inside.plane(release),
        rules(view),
        perturbed_inside.risk(view, release),
        noise(view),
        matrices(view),
        losses(release.utility),
    )


def stated(view: View, release: Any) -> dict[str, Any]:
    """Return the rules' own risk, where it is about one column, as the plane of loss and risk is."""
    del release
    alone = len(view.schema.confidential) == 1 and "risk" in view.figures
    return {"stated": float(view.figures["risk"])} if alone else {}


STORY = Story(
    verdict=verdict,
    support=support,
    facts=facts,
    done=done,
    fates=fates,
    limits=limits,
    sections=sections,
    inside=inside,
    told=stated,
    moved="Counts of records for each key. Noise pulls numbers towards their mean; rare categories give "
    "way to "
    "frequent ones, or the other way round, as the matrix says.",
    statistics="Noise shrinks spreads and correlations by what it takes away; means stay, up to chance and "
    "clipping.",
)
