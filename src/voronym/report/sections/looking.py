"""The first things people look at: rows, one group unfolded, a map, and the cost of another k."""

from __future__ import annotations

from collections.abc import Sequence

from voronym.dossier import Dossier
from voronym.dossier.other_k import OtherK
from voronym.dossier.places import PlaceMap
from voronym.dossier.rows import Samples, Unfolded
from voronym.privacy.base import beyond_sizes
from voronym.report.atlas import atlas
from voronym.report.language import term
from voronym.report.section import Data, section
from voronym.report.squares import ladder
from voronym.report.svg import percent
from voronym.report.write import Table, share


@section(
    "rows", "Rows before and after", needs=("inside.samples",), audience="internal", place=5, shape="text"
)
def rows(d: Dossier, samples: Samples) -> Data:
    """Show a few people before and after."""
    what = "row" if _several(d) else "person"
    numbered = [(str(i + 1), *row) for i, row in enumerate(samples.before)]
    after = [(str(i + 1), *row) for i, row in enumerate(samples.after)]
    head = (what, *samples.columns)
    beside = [name for name in samples.columns if name not in d.public.names("key")]
    return {
        "kept": [name for name in beside if name in d.public.kept],
        "changed": [name for name in beside if name not in d.public.kept],
        "what": what,
        "before": Table(head, tuple(numbered), "Before", numeric=False),
        "after": Table(
            head, tuple(after), f"After: the same {'rows' if what == 'row' else 'people'}", numeric=False
        ),
    }


def _several(d: Dossier) -> bool:
    """Whether a person may have several rows."""
    return d.inside is not None and bool(d.inside.recipe.get("schema", {}).get("person"))


@section(
    "unfolded", "One group unfolded", needs=("inside.unfolded",), audience="internal", place=12, shape="text"
)
def unfolded(_: Dossier, result: Unfolded) -> Data:
    """Show the people of one group, and the published keys that they share."""
    both = zip(result.people, result.originals, result.kept, strict=True)
    people = [(str(number), *own, *kept) for number, own, kept in both]
    published = (term("published"), *result.published, *(term("as above") for _ in result.confidential))
    head = ("person", *result.keys, *result.confidential)
    return {
        "found": result,
        "table": Table(head, (*people, published), numeric=False),
        "alike": result.shared,
        "different": [name for name in result.confidential if name not in result.shared],
    }


@section("map:inside", "On the map", needs=("inside.places",), audience="internal", place=14)
def inside_map(d: Dossier, place_map: PlaceMap) -> Data:
    """Show the original and the published places of records, and the distance in metres."""
    inside = d.inside
    ways = () if inside is None else inside.utility.ways
    own = next((way for way in ways if way.location == ",".join(place_map.columns)), None)
    result = {} if own is None else {"moved by, on average": own.mean, "moved by, at most": own.largest}
    return {**_map(place_map, [(what, f"{far:,.0f} m") for what, far in result.items()]), "way": own}


@section("map:public", "On the map", needs=("public.places",), audience="public", place=14)
def public_map(_: Dossier, place_map: PlaceMap) -> Data:
    """Show where records are published."""
    return _map(place_map)


def _map(place_map: PlaceMap, more: Sequence[tuple[str, object]] = ()) -> Data:
    sizes = sorted(place_map.sizes)
    table: list[tuple[str, object]] = [
        ("published places", place_map.found),
        ("drawn", len(place_map.places)),
        ("records at a place, least", sizes[0]),
        ("half of the places have at most", sizes[len(sizes) // 2]),
        ("most", sizes[-1]),
        *more,
    ]
    lat, lon = place_map.columns
    return {
        "figure": atlas(place_map, title=f"Places by {lat} and {lon}"),
        "table": Table.of(("figure", "value"), table),
        "found": place_map,
    }


@section("other-k", "What another k would cost", needs=("inside.other_k",), audience="internal", place=23)
def another(d: Dossier, other_k: OtherK) -> Data:
    """Show the estimated loss at other sizes of groups, and the place of this release."""
    rows = [
        (
            f"{k} (this release)" if k == other_k.here else str(k),
            f"about {percent(loss)}" if k != other_k.here else percent(loss),
            f"1 in {k}",
        )
        for k, loss in other_k.points
    ]
    return {
        "figure": ladder(other_k.points, other_k.here, title="Information loss at other k, estimated"),
        "table": Table.of(("k", "information loss", "chance to pick the right record"), rows),
        "found": other_k,
        "sampled": other_k.records < d.public.records,
        "models": beyond_sizes(d.public.findings),
        "share": share(other_k.records / max(1, d.public.records)),
    }
