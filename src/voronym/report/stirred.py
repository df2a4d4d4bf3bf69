"""Pages about mixed records: what the method promises, and the sections that everybody may see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from voronym.report import figures, heat, stirred_inside
from voronym.report.parts import Block, Fact, Section, Table, decimal, names, plural, share, svg
from voronym.report.public import View
from voronym.report.story import Story, own
from voronym.report.svg import clean, percent

MOST_BARS = 40
MEASURES = {"kl": "Kullback–Leibler divergence, nats", "emd": "earth mover’s distance, 0 to 1"}
KINDS = (("moved into the crowd", "k1"), ("another value of its cluster", "a"), ("the same value", "b"))


def handled(view: View) -> tuple[list[str], list[str], list[str]]:
    """Return the keys that were flattened, shuffled, and left alone."""
    options = view.recipe.options
    flat = _with_partner(view, options.get("flatten", ()))
    asked = options.get("shuffle", "keys")
    mixed = [k for k in view.keys if k not in flat] if asked == "keys" else _with_partner(view, asked)
    left = [k for k in view.keys if k not in flat and k not in mixed]
    return [k for k in view.keys if k in flat], [k for k in view.keys if k in mixed], left


def _with_partner(view: View, given: Any) -> set[str]:
    out = set(given)
    return out | {view.schema[name].partner for name in out if name in view.schema.names} - {None}


def least(view: View) -> int | None:
    """Return the size of the smallest cluster, as measured."""
    found = view.figures.get("clusters_after")
    return None if found is None else int(found["smallest"])


def _crowded(view: View) -> bool:
    """Say whether the table is k-anonymous for the size of the smallest cluster: all keys are flattened."""
    size = least(view)
    return size is not None and view.k is not None and view.k >= size


def verdict(view: View) -> str:
    """Say what protects the records."""
    broken = [f for f in view.findings if not f.holds]
    if broken:
        return f"This table does not keep its promise: {names([f.model for f in broken])} does not hold."
    size, (_, _, left) = least(view), handled(view)
    if size is None:
        return "Records were blended into clusters and stirred; the figures are not in memory."
    if _crowded(view):
        return f"Every combination of keys is shared by at least {view.k} records."
    if left:
        return (
            f"Every record stands in a cluster of at least {size}, but {names(left, 3)} can tell them apart."
        )
    return f"Who knows a person’s keys finds their record with a chance of at most 1 in {size}."


def support(view: View) -> tuple[str, ...]:
    """Say how, and what it is not."""
    found = view.figures
    flat, mixed, left = handled(view)
    out = []
    if found.get("clusters_after"):
        out.append(
            f"{plural(found['records'], 'record')} stand in "
            f"{plural(found['clusters_after']['count'], 'cluster')} "
            f"of records that are alike; {plural(found['outliers'], 'outlier')} "
            f"{'was' if found['outliers'] == 1 else 'were'} moved into a cluster first."
        )
    if mixed:
        out.append(f"Inside each cluster the values of {names(mixed, 6)} were shuffled.")
    if flat:
        out.append(f"{names(flat, 6)} {'is' if len(flat) == 1 else 'are'} the same for the whole cluster.")
    if left:
        out.append(f"{names(left, 6)} {'was' if len(left) == 1 else 'were'} not shuffled.")
    if not _crowded(view):
        out.append(own(view))
    if view.risk is not None and view.risk.unique and not left:
        out.append(
            "A combination is put together from the values of several people: it leads to a cluster, not "
            "to a person."
        )
    return tuple(out)


def facts(view: View) -> tuple[Fact, ...]:
    """Pick the numbers that stand out."""
    found, size = view.figures, least(view)
    out = []
    if size is not None:
        out.append(Fact(str(size), "smallest cluster", f"{found['m'] + 1} required"))
    if "linkage" in found:
        linked = found["linkage"]["after"]
        words = (
            f"{share(linked['low'])} to {share(linked['high'])} at {100 * linked['confidence']:.0f}\u202f%"
        )
        out.append(Fact(share(linked["value"]), "linked by an attack", words))
    if "outliers" in found:
        out.append(Fact(f"{found['outliers']:,}", "outliers", "moved into a cluster"))
    if view.risk is not None:
        clusters = found.get("clusters_after", {}).get("count")
        out.append(
            Fact(
                f"{view.risk.records:,}",
                "records",
                "" if clusters is None else f"in {plural(clusters, 'cluster')}",
            )
        )
    return tuple(out)


def changed(view: View) -> Section | None:
    """Show what share of each column's values moved, was shuffled, or stayed."""
    columns = view.figures.get("columns")
    if not columns:
        return None
    n = int(view.figures["records"])
    rows = []
    for name, one in list(columns.items())[:MOST_BARS]:
        moved, same = int(one.get("blended", 0)), int(one["unchanged"])
        moved = min(moved, n - same)
        rows.append((name, moved / n, (n - same - moved) / n, same / n, one))
    drawing = heat.stacked(
        [clean(name) for name, *_ in rows],
        [row[1:4] for row in rows],
        KINDS,
        title="What became of the values of each column",
        desc=f"Shares of the values of {len(rows)} columns that were moved, shuffled, or stayed.",
    )
    table = Table.of(
        ("column", "moved", "shuffled", "the same", "distribution moved"),
        [
            (name, *(share(v) for v in (a, b, c)), share(one["total_variation"]))
            for name, a, b, c, one in rows
        ],
    )
    lead = (
        "Outliers gave up the values that made them stand out. Then a shuffled column got the value of "
        "somebody "
        "in the cluster, and a flattened one the value at its centre. A value can stay the same by chance, "
        "or "
        "because everybody in the cluster has it."
    )
    note = (
        "Distribution moved: the total variation between the column’s distribution in the original and in "
        "the release. Shuffling does not move it."
    )
    return Section(
        "changed",
        "Values changed in each column",
        lead,
        (Block(figure=svg(drawing), table=table, note=note),),
    )


def protected(view: View, before: Any = None) -> Section | None:
    """Show how often a nearest-record attack is right, against the promise."""
    if "linkage" not in view.figures:
        return None
    now, m = view.figures["linkage"]["after"], int(view.figures["m"])
    (_, _, left), promise = handled(view), 100 / (int(view.figures["m"]) + 1)
    rows = [
        (
            "Original records linked to the right record",
            None if before is None else 100 * before["value"],
            100 * now["value"],
            (100 * now["low"], 100 * now["high"]),
        )
    ]
    drawing = figures.dot_ranges(
        rows,
        title="How often an attack is right",
        desc="Share of records that an attack links to the right one; the table has the figures.",
        unit=" %",
        limit=(promise, f"promised: at most {percent(promise)}") if not left else None,
    )
    old = () if before is None else ("before",)
    table_rows: list[tuple[object, ...]] = [
        (
            "linked to the right record",
            *((share(before["value"]),) if before is not None else ()),
            share(now["value"]),
        ),
        (
            f"its {100 * now['confidence']:.0f} % interval",
            *(("–",) if before is not None else ()),
            f"{share(now['low'])} to {share(now['high'])}",
        ),
    ]
    if not left:
        blank = ("–",) if before is not None else ()
        table_rows.append((f"promised, for clusters of more than {m}", *blank, percent(promise)))
    table_rows += (
        [
            (
                "records with keys of their own",
                *(("–",) if before is not None else ()),
                share(view.risk.uniqueness),
            )
        ]
        if view.risk is not None
        else []
    )
    measured = (
        f"all {plural(now['n'], 'record')}"
        if now["n"] == now["population"]
        else f"{now['n']:,} of {plural(now['population'], 'record')}"
    )
    lead = (
        "Somebody who holds the original keys takes, for each person, the nearest released record by the "
        "same "
        "distances, and guesses among those equally near."
    )
    if left:
        ties = "ties" if len(left) == 1 else "tie"
        lead += f" {names(left, 4)} {ties} records to people: no limit is promised."
    note = f"Measured on {measured}; the interval is Hoeffding’s."
    return Section(
        "risk",
        "Risk of re-identification",
        lead,
        (
            Block(
                figure=svg(drawing),
                table=Table.of(("attack", *old, "after" if old else "value"), table_rows),
                note=note,
                legend=before is not None,
            ),
        ),
    )


def kept(view: View) -> Section | None:
    """Show how far the shape of the clusters moved, against the bound."""
    found = view.figures.get("divergence")
    if not found:
        return None
    bound, largest = float(found["bound"]), float(found["largest"])
    top = 1.15 * max(bound, largest) or 1.0
    drawing = figures.dot_ranges(
        [
            ("Largest of all clusters", None, largest, None),
            ("Mean over the clusters", None, float(found["mean"]), None),
        ],
        title="How far the distances to the centre moved",
        desc="Divergence of the distances to the centre, largest and mean; the line is the bound.",
        limits=(0.0, top),
        limit=(bound, f"bound {decimal(bound, 2)}"),
    )
    table = Table.of(
        (MEASURES.get(found["measure"], found["measure"]), "value"),
        [
            ("bound", decimal(bound)),
            ("reached, largest of all clusters", decimal(largest)),
            ("reached, mean", decimal(float(found["mean"]))),
            *stirred_inside.repairs(found),
        ],
    )
    lead = (
        "Shuffling must not change what a cluster looks like. In every cluster the distances of its "
        "records to its centre keep their distribution, up to the bound."
    )
    return Section("kept", "The shape of the clusters", lead, (Block(figure=svg(drawing), table=table),))


def done(view: View) -> list[str]:
    """Say what was done."""
    found = view.figures
    flat, mixed, _ = handled(view)
    metrics = [
        f"{clean(name)} ({clean(one['metric'])})"
        for name, one in found.get("columns", {}).items()
        if "metric" in one
    ]
    out = [f"Measured distances between records: {names(metrics)}."] if metrics else []
    if "m" in found:
        out.append(
            "Grouped records that are alike in every key, and moved the "
            f"{plural(found['outliers'], 'record')} of "
            f"clusters of at most {found['m']} into larger ones, changing only values outside their range "
            f"(“{clean(found['blend'])}”)."
        )
    if flat:
        out.append(f"Set {names(flat)} to the value at the centre of each cluster.")
    if mixed:
        out.append(f"Permuted {names(mixed)} inside each cluster, at random.")
    return out


def fates(view: View) -> dict[str, str]:
    """Say what happened to each column."""
    options = view.recipe.options
    flat, mixed, left = handled(view)
    out = dict.fromkeys(flat, "blended; then the same for the whole cluster")
    out |= dict.fromkeys(mixed, "blended; then permuted inside each cluster")
    out |= dict.fromkeys(left, "blended; not permuted")
    for name in view.schema.confidential:
        if name in options.get("flatten", ()):
            out[name] = "the same for the whole cluster"
        elif options.get("shuffle", "keys") != "keys" and name in options["shuffle"]:
            out[name] = "permuted inside each cluster, by itself"
    return out


def limits(view: View) -> list[str]:
    """Say what is not promised."""
    out = [
        f"It is {'not' if _crowded(view) else 'not k-anonymity and not'} differential privacy. It hides "
        "which record is whose among a cluster, from somebody who knows the keys and nothing else.",
        "Rare values stay in the table. That somebody has them can be seen; which other values are theirs "
        "cannot.",
        "Whoever is known to be in a cluster whose records share a confidential value is known to have it.",
        "How columns go together inside a cluster is lost. Between clusters it stays. Do not fit models to "
        "single "
        "records.",
    ]
    if view.recipe.seed is not None:
        out.append("The seed of this release undoes it, and must stay with the data holder.")
    return out


def sections(view: View) -> Sequence[Section | None]:
    """Return the sections that need no originals."""
    return (protected(view), changed(view), kept(view))


def inside(view: View, release: Any) -> Sequence[Section | None]:
    """Return the sections for the data holder."""
    figures_of = release.figures
    return (
        stirred_inside.plane(release),
        stirred_inside.sizes(release),
        protected(view, figures_of.get("linkage", {}).get("before")),
        changed(view),
        stirred_inside.epsilon(release),
        kept(view),
    )


def told(view: View, release: Any) -> dict[str, Any]:
    """Return the clusters: with all keys stirred they are what the published keys lead to."""
    made = release._evidence.masked
    if handled(view)[2] or getattr(made, "after", None) is None:
        return {}
    return {"clusters": made.after.partition.labels}


STORY = Story(
    verdict=verdict,
    support=support,
    facts=facts,
    done=done,
    fates=fates,
    limits=limits,
    sections=sections,
    inside=inside,
    told=told,
    moved="Counts of records for each key. Values are shuffled inside clusters, so a column’s distribution "
    "only "
    "moves where outliers gave up a value.",
    statistics="Columns keep their means and spreads, but for the outliers. How columns go together "
    "is kept "
    "between clusters and lost inside them, so correlations shrink.",
)
