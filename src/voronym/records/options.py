"""The options of the method, shared by its stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from voronym.core.options import Options, by_column, columns, number, one_of, option, whole
from voronym.errors import InputError
from voronym.records.fields import Choice

SHARE = 0.05
"""Share of the records that may be in small clusters when epsilon is chosen from the data."""

TARGETS = 2000
"""Number of originals to attack; if there are more, a sample is drawn without replacement."""

Epsilon = float | Mapping[str, float] | None


def _check_epsilon(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {column: number(0.0)(f"{name} of {column!r}", limit) for column, limit in value.items()}
    try:
        return number(0.0, 1.0)(name, value)
    except InputError as error:
        raise InputError(f"{error}; or a mapping with a distance per column, such as {{'age': 5}}") from None


def _check_shuffle(name: str, value: Any) -> Any:
    return value if isinstance(value, str) and value == "keys" else columns(name, value)


def _yes_or_no(name: str, value: Any) -> bool:
    if value not in (True, False):
        raise InputError(f"{name} must be true or false, not {value!r}")
    return bool(value)


@dataclass(frozen=True)
class RecordsOptions(Options):
    """Options of the method records, and of its stages.

    Parameters
    ----------
    m : int
        A cluster of at most m records is small: its members are outliers, and it is dissolved.
    epsilon : mapping, float or None
        How far apart two members of a cluster may be. By column, in units of its metric; columns that are not
        named are not limited. A number q from 0 to 1 takes the q-quantile of the pairwise distances in every
        column. None chooses: keys that explain much of other columns are narrowed first, the most informative
        key first, until half of ``share`` of the records are in small clusters. Then the others get a common
        q: 0.95, 0.90, ... while at most ``share`` of the records are, then three halvings of the last step.
    share : float
        See ``epsilon``.
    blend : {"element", "centroid", "noise"}
        A value outside the radius of its new cluster becomes that of a random member (equation 8), that of
        the centroid (7), or a value of the column about as far from the centroid as members are (6).
    unit : {"record", "cluster"}
        Move record by record, or small clusters as a whole. A whole one may also join another small one, if
        they have more than m together.
    flatten : sequence of str
        Keys or confidential columns that become the centroid's value in every cluster.
    shuffle : sequence of str or "keys"
        Keys or confidential columns to permute inside each cluster; by default all keys that are not
        flattened. A confidential column gets a permutation of its own.
    divergence, bound : {"kl", "emd"}, float
        The divergence that shuffling and blending by noise limit, and its bound, in nats or from 0 to 1.
    hierarchies : mapping, optional
        Hierarchies of columns: without a metric, the distance is the number of steps up to a common ancestor.
    metrics : mapping, optional
        By column: a metric's name, a metric, a function of two values, or labels and a matrix; otherwise the
        kind decides (`voronym.records.DEFAULTS`).
    importance : mapping, optional
        By column, for adding up distances; 1 by default.
    reference : {"normal", "uniform"} or array
        The reference for mapping distances, see `voronym.space.mapping.DistanceMap`.
    targets : int
        Records that the linkage attack tries.
    despite_loss : bool
        Release although MDAV with k = m + 1 would lose less.
    """

    m: int = option(4, "clusters of at most m records are dissolved", check=whole(1))
    epsilon: Epsilon = option(
        None,
        "how far apart two values of a column may be in a cluster; by column, or one for all",
        check=_check_epsilon,
    )
    share: float = option(
        SHARE,
        "share of a column's values that blending may change, where epsilon is not given",
        check=number(0.0, 1.0),
    )
    blend: Literal["element", "centroid", "noise"] = option(
        "element",
        "what a moved record takes over: element (only what stands out), centroid or noise",
        check=one_of("element", "centroid", "noise"),
    )
    unit: Literal["record", "cluster"] = option(
        "record", "what is moved at a time: record or cluster", check=one_of("record", "cluster")
    )
    flatten: Sequence[str] = option(
        (), "keys or confidential columns that become the same in a cluster", check=columns, shape="columns"
    )
    shuffle: Sequence[str] | Literal["keys"] = option(
        "keys",
        "columns to permute inside each cluster; by default all keys not flattened",
        check=_check_shuffle,
        shape="columns",
    )
    divergence: Literal["kl", "emd"] = option(
        "kl", "what shuffling keeps within the bound: kl or emd", check=one_of("kl", "emd")
    )
    bound: float = option(0.1, "that bound, in nats or from 0 to 1", check=number(0.0))
    metrics: Mapping[str, Choice] | None = option(
        None, "by column, its metric where the kind should not decide", check=by_column, shape="by column"
    )
    hierarchies: Mapping[str, Any] | None = option(
        None, "by column, the hierarchy by which its values are near each other", check=by_column,
        shape="by column",
    )  # fmt: skip
    importance: Mapping[str, float] | None = option(
        None, "by column, how much it counts; 1 by default", check=by_column, shape="by column"
    )
    reference: str | ArrayLike = option("normal", "what distances are mapped to: normal or uniform")
    targets: int = option(TARGETS, "records that the linkage attack tries", check=whole(1))
    despite_loss: bool = option(
        False, "release although MDAV with k = m + 1 would lose less, for real values", check=_yes_or_no
    )
