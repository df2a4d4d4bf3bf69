"""Membership: an intruder guesses who was in the table.

The intruder knows the whole record of a person and asks whether the person is in the table. They see how near
the release comes to the record. To know how near it comes to other people, they need people outside the
table: a control file, or the table's own people. In the second case the people are halved at random, each
half gets a release, and the intruder must tell the halves apart. With several such releases, the intruder
also learns how near a release without this person comes to them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from voronym.attacks.base import PRESENCE, Found, Inapplicable, attack
from voronym.attacks.interval import Share, share
from voronym.attacks.scene import Floats, Ints, Scene
from voronym.core import later
from voronym.core.context import Context
from voronym.core.percent import percent
from voronym.core.sentence import Sentence
from voronym.errors import VoronymError, hint
from voronym.evaluate.pair import codes, common, numbers, plain
from voronym.table.frame import as_frame

cdist = later.called("scipy.spatial.distance", "cdist")
special = later.module("scipy.special")

PAIRS, BRIEF_PAIRS = 5, 3
"""Number of times that the people are halved, with a release of each half. The second if time is short."""
LEAST = 25
"""Smallest number of people for a statement about false alarms."""
ALARMS = 0.01
"""Share of the people outside the table that may be taken for members."""
_BLOCK = 128
_BY_KEYS = ("keys", "keys, compared")
Bools = NDArray[np.bool_]


@attack(
    PRESENCE,
    level=2,
    knows="the whole record of a person, and of people like them",
    needs=("original",),
    cost="minutes",
    reference="Shokri, Stronati, Song, Shmatikov, S&P 2017; Carlini et al., S&P 2022",
    instead="by tossing a coin",
)
def membership(scene: Scene, ctx: Context) -> Found:
    """Decide which of two people is in the table, by how near the release comes to each.

    Success is the area under the curve (AUC): the rate of right answers about two people, one of them in
    the table. The sentence also reports how many members are recognised if 1 in 100 others is mistaken
    for one. The measure of nearness is chosen on half of the people and tested on the other half.
    """
    if scene.control is not None:
        trials, basis = _strangers(scene, ctx), "people who are not in the table"
    elif scene.rerun is not None and scene.table is not None:
        trials, basis = _halves(scene, ctx), f"releases of {2 * _pairs(scene)} random halves"
    else:
        raise Inapplicable(
            f"it needs people who are not in the table ({hint('control', 'FILE')}), or the recipe, to make "
            "releases "
            f"with and without a person ({hint('recipe', 'FILE')})"
        )
    half = ctx.rng.permutation(trials.people) % 2 == 0
    level = scene.confidence
    whole = trials.judged(trials.best(half, tuple(trials.signals)), ~half, level)
    keys = trials.judged(trials.best(half, _BY_KEYS), ~half, level)
    return Found(
        whole.auc.value,
        0.5,
        whole.auc.low - 0.5,
        whole.auc.high - 0.5,
        int((~half).sum()),
        _sentence(whole, keys, trials.people),
        details={
            "auc": whole.auc.value,
            "auc_interval": [whole.auc.low, whole.auc.high],
            "true_positives": whole.hits.value,
            "true_positives_interval": [whole.hits.low, whole.hits.high],
            "false_positives": ALARMS,
            "by_keys": {
                "auc": keys.auc.value,
                "auc_interval": [keys.auc.low, keys.auc.high],
                "true_positives": keys.hits.value,
                "true_positives_interval": [keys.hits.low, keys.hits.high],
            },
            "seen_by": whole.signal,
            "basis": basis,
            "people_in_a_table": trials.size,
        },
    )


def _sentence(whole: Verdict, keys: Verdict, people: int) -> str:
    return Sentence(
        "Of two people, one of them in the table, an intruder who knows both records names the right one "
        "in {whole} of the cases, by the keys alone in {keys}; if 1 in 100 outsiders is taken for a "
        "member, {hits} of the members are recognised ({low} to {high}), by the keys alone {by_keys}. "
        "{people} people were looked at.",
        whole=percent(whole.auc.value, whole=True),
        keys=percent(keys.auc.value, whole=True),
        hits=percent(whole.hits.value, whole=True),
        low=percent(whole.hits.low, whole=True),
        high=percent(whole.hits.high, whole=True),
        by_keys=percent(keys.hits.value, whole=True),
        people=f"{people:,}",
    )


@dataclass(frozen=True)
class Verdict:
    """How well a signal separates members from others."""

    signal: str
    auc: Share
    hits: Share


@dataclass(frozen=True, eq=False)
class Trials:
    """Releases, the people in each, and the signals that the intruder sees for everybody.

    ``signals`` and ``inside`` have a row for each release and a column for each person. ``clusters`` has
    the cluster of dependent people. ``size`` is the number of people in a release. Two releases from the
    halves of one draw form a pair.
    """

    signals: Mapping[str, Floats]
    inside: Bools
    clusters: Ints
    size: int

    @property
    def people(self) -> int:
        """The number of people, in a table or not."""
        return int(self.inside.shape[1])

    def best(self, among: Bools, names: tuple[str, ...]) -> str:
        """Return the signal that separates best, for some of the people."""
        there = [name for name in names if name in self.signals]
        return max(there, key=lambda name: float(np.mean([p.auc for p in self._placed(name, among)])))

    def judged(self, name: str, among: Bools, confidence: float) -> Verdict:
        """Return how well a signal separates some of the people, with intervals."""
        placed = self._placed(name, among)
        return Verdict(name, self._auc(placed, confidence), self._hits(name, among, confidence))

    def _placed(self, name: str, among: Bools) -> list[Placed]:
        return [
            Placed.of(row[among], here[among], self.clusters[among])
            for row, here in zip(self.signals[name], self.inside, strict=True)
        ]

    def _auc(self, placed: list[Placed], confidence: float) -> Share:
        """Return the mean AUC, and its variance between people plus that between draws.

        People are clusters, since each is seen in all releases (DeLong, DeLong and Clarke-Pearson 1988, with
        clusters as in Obuchowski 1997). The ends are taken on the scale of log odds.
        """
        each = np.array([item.auc for item in placed])
        value = float(each.mean())
        influence = np.mean([entry.influence for entry in placed], axis=0)
        totals = np.bincount(np.unique(placed[0].clusters, return_inverse=True)[1].reshape(-1), influence)
        g = len(totals)
        variance = g / max(1, g - 1) * float((totals**2).sum())
        freedom = g - 1.0
        if len(each) > 2:
            draws = each.reshape(-1, 2).mean(axis=1)
            between = float(draws.var(ddof=1)) / len(draws)
            whole = variance + between
            # Welch and Satterthwaite: many people, few draws
            parts = variance**2 / max(1, g - 1) + between**2 / (len(draws) - 1)
            freedom = whole**2 / parts if parts > 0 else freedom
            variance = whole
        least = min(element.least for element in placed)
        return _between(value, variance, freedom, least, confidence)

    def _hits(self, name: str, among: Bools, confidence: float) -> Share:
        """Return the share of members who score above all but 1 in 100 of the others.

        The threshold is estimated, too. So each end of the interval uses an end of the threshold's
        own interval, with half of the error probability.
        """
        scores, here = self.signals[name][:, among], self.inside[:, among]
        others = np.sort(scores[~here])
        members, whose = scores[here], np.broadcast_to(self.clusters[among], here.shape)[here]
        alone = int((~here).any(axis=0).sum())  # each counts once, in however many releases
        inner = (1.0 + confidence) / 2
        low, high = (float(item) for item in _limits(alone, inner))
        limits = [others[min(len(others) - 1, int(rank * len(others)))] for rank in (low, 1 - ALARMS, high)]
        shares = [share(members > limit, whose, confidence=inner) for limit in limits]
        if high >= 1.0:  # too few others to set a limit that 1 in 100 passes
            shares[2] = Share(0.0, 0.0, 0.0)
        return Share(shares[1].value, min(shares[2].low, shares[1].low), max(shares[0].high, shares[1].high))


@dataclass(frozen=True, eq=False)
class Placed:
    """The ranks of members among non-members, and of non-members among members."""

    auc: float
    influence: Floats
    clusters: Ints
    least: int

    @classmethod
    def of(cls, scores: Floats, inside: Bools, clusters: Ints) -> Placed:
        """Compare every member with everybody else; equal scores count one half."""
        members, others = scores[inside], scores[~inside]
        if len(members) == 0 or len(others) == 0:
            raise Inapplicable("there are too few people to tell members from others")
        above = _below(np.sort(others), members)
        auc = float(above.mean())
        influence = np.empty(len(scores))
        influence[inside] = (above - auc) / len(members)
        influence[~inside] = (1.0 - _below(np.sort(members), others) - auc) / len(others)
        return cls(auc, influence, clusters, min(len(members), len(others)))


def _below(ordered: Floats, scores: Floats) -> Floats:
    both = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return np.asarray(both / (2 * len(ordered)), np.float64)


def _between(value: float, variance: float, freedom: float, least: int, confidence: float) -> Share:
    """Return the interval of an AUC on the scale of log odds; by counting if the separation is perfect."""
    tail = (1 - confidence) / 2
    if value <= 0.0 or value >= 1.0 or variance <= 0.0:
        room = 1.0 - tail ** (1 / max(1, least))
        return Share(value, max(0.0, value - room), min(1.0, value + room))
    reach = float(special.stdtrit(max(1.0, freedom), 1 - tail)) * math.sqrt(variance) / (value * (1 - value))
    middle = math.log(value / (1 - value))
    low, high = (float(special.expit(middle + side * reach)) for side in (-1, 1))
    return Share(value, low, high)


def _limits(n: int, confidence: float) -> tuple[float, float]:
    """Return an interval, in shares of n people, for the threshold that 1 in 100 people exceed."""
    tail = (1 - confidence) / 2
    k = ALARMS * n
    high = float(special.betaincinv(k + 1, max(n - k, 1e-9), 1 - tail))
    low = float(special.betaincinv(max(k, 1e-9), n - k + 1, tail)) if k >= 1 else 0.0
    return 1 - high, 1 - low


# -- members and others ----------------------------------------------------------------------------------


def _strangers(scene: Scene, ctx: Context) -> Trials:
    """Compare the people of the table with people known to be outside it."""
    others = scene.control
    lacking = [name for name in scene.released.columns if others is None or name not in others.columns]
    if others is None or lacking:
        raise Inapplicable(f"the people who are not in the table lack {', '.join(map(repr, lacking))}")
    known = None if scene.own is None else np.flatnonzero(scene.own >= 0)
    members = scene.sample(ctx.rng, known)
    picked = np.sort(ctx.rng.permutation(len(others))[: scene.targets])
    if min(len(members), len(picked)) < LEAST:
        raise Inapplicable(f"{min(len(members), len(picked))} people are too few: it takes {LEAST} each")
    columns = []
    for name in scene.released.columns:
        inside, outside, _ = common(scene.people[name][members.tolist()], others[name][picked.tolist()])
        columns.append(pl.concat([inside, outside.alias(name)]))
    there = Scene.of(scene.released, scene.schema, original=pl.DataFrame(columns), own=_unknown(columns))
    seen = _signals(there, ctx)
    n = len(members) + len(picked)
    clusters = np.arange(n)
    if scene.own is not None:  # people of a group are recognised or missed together
        clusters[: len(members)] = n + scene.classes.labels[scene.own[members]]
    inside_ = np.arange(n) < len(members)
    return Trials(
        {name: item[None, :] for name, item in seen.items()}, inside_[None, :], clusters, len(members)
    )


def _halves(scene: Scene, ctx: Context) -> Trials:
    """Halve the people of the table several times, and make a release of each half."""
    table, rerun = scene.table, scene.rerun
    assert table is not None  # noqa: S101 - looked at before
    assert rerun is not None  # noqa: S101
    unit = _units(scene, table.n)
    everybody = int(unit.max()) + 1
    drawn = ctx.rng.permutation(everybody)
    rows_of = np.cumsum(np.bincount(unit)[drawn])
    chosen = drawn[: max(1, int(np.searchsorted(rows_of, 2 * scene.targets, "right")))]
    rows = np.flatnonzero(np.isin(unit, chosen))
    if len(chosen) < 2 * LEAST:
        raise Inapplicable(
            f"the attack splits the people into halves, and {len(chosen)} are too few: it takes {2 * LEAST}"
        )
    whose = np.unique(unit[rows], return_inverse=True)[1].reshape(-1)
    people = table.rows(rows)
    frame = pl.DataFrame([plain(people.frame[name]) for name in people.columns])
    pairs = _pairs(scene)
    inside = np.zeros((2 * pairs, len(chosen)), bool)
    for pair in range(pairs):
        inside[2 * pair] = ctx.rng.permutation(len(chosen)) < len(chosen) // 2
        inside[2 * pair + 1] = ~inside[2 * pair]

    def seen_of(here: Bools) -> dict[str, Floats]:
        """Make the release of a half, and return the signals of everybody."""
        try:
            released = as_frame(rerun(people.rows(np.flatnonzero(here[whose]))))
        except VoronymError as error:
            raise Inapplicable(f"no release can be made of half of the people: {error}") from None
        kept = [name for name in released.columns if name in frame.columns]
        there = Scene.of(released.select(kept), table.schema, original=frame, own=_unknown([frame[:, 0]]))
        return {
            name: np.bincount(whose, element, len(chosen)) / np.bincount(whose, minlength=len(chosen))
            for name, element in _signals(there, ctx).items()
        }

    made = ctx.map(seen_of, list(inside))
    signals = {name: np.array([seen[name] for seen in made]) for name in made[0]}
    signals |= {f"{name}, compared": _compared(entry, inside) for name, entry in signals.items()}
    return Trials(signals, inside, np.arange(len(chosen)), len(chosen) // 2)


def _pairs(scene: Scene) -> int:
    return PAIRS if scene.brief is None else BRIEF_PAIRS


def _units(scene: Scene, n: int) -> Ints:
    """Return the unit of each row; a household or a person is included as a whole."""
    units = None if scene.table is None else scene.table.units
    if units is None:
        return np.arange(n)
    return units.household if units.household is not None else np.asarray(units.person)


def _unknown(columns: list[pl.Series]) -> Ints:
    return np.full(sum(len(column) for column in columns[:1]), -1, np.int64)


def _compared(scores: Floats, inside: Bools) -> Floats:
    """Return by how much each score exceeds the same person's scores in releases without them."""
    without = np.where(inside, 0.0, scores)
    total, count = without.sum(axis=0), (~inside).sum(axis=0)
    return np.asarray(scores - (total - without) / np.maximum(1, count - ~inside))


def _signals(scene: Scene, ctx: Context) -> dict[str, Floats]:
    """Return the nearness of the release to each person: by keys, and by all published columns.

    A different value in another column adds 1 ("equal"); a number adds its difference in standard
    deviations, up to 1 ("near"). With "values", agreement in these columns comes first, and keys decide
    among rows that agree in equally many.
    """
    X, Y = scene.points
    beside: list[tuple[Floats, Floats, float]] = []
    for name in scene.beside:
        x, y = numbers(scene.people[name]), numbers(scene.released[name])
        width = 0.0
        if x is None or y is None:
            a, b, _, _ = codes(scene.people[name], scene.released[name])
            x, y = a.astype(np.float64), b.astype(np.float64)
        elif not np.isnan(x).all():
            width = float(np.nanstd(x))
        least = np.nanmin(np.concatenate([x, y, [0.0]])) - 1.0  # missing counts as a value of its own
        beside.append((np.nan_to_num(x, nan=least), np.nan_to_num(y, nan=least), width))
    names = ("keys", "equal", "near", "values") if beside else ("keys",)
    out = {name: np.empty(len(X)) for name in names}

    def look(start: int) -> None:
        here = slice(start, start + _BLOCK)
        far = cdist(X[here], Y, "sqeuclidean")
        out["keys"][here] = -far.min(axis=1)
        if not beside:
            return
        equal, near, values = far.copy(), far.copy(), far / (1.0 + far)
        for x, y, width in beside:
            apart = np.abs(x[here, None] - y[None, :])
            other = apart > 0
            equal += other
            values += other
            near += np.minimum(apart / width, 1.0) if width > 0 else other
        for name, item in (("equal", equal), ("near", near), ("values", values)):
            out[name][here] = -item.min(axis=1)

    ctx.map(look, range(0, len(X), _BLOCK))
    return out
