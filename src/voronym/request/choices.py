"""All choices of a run, each declared once.

A choice has a name, a type, a check, a sentence, a flag and a purpose. `voronym.anonymize`, the command line,
recipes, the page, proposed commands, help pages and the tables of the documentation are made from these
declarations. To add a choice, add a field here and write the code that obeys it.

`ColumnChoices` describe the columns. `ReleaseChoices` describe the release and are stored in its recipe.
`RunChoices` say where the work is done and never change the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voronym.core.options import (
    Options,
    by_column,
    column,
    columns,
    entry_of,
    few,
    number,
    one_of,
    option,
    share,
    whole,
    yes_or_no,
)
from voronym.request.checks import (
    EVERY,
    bounds,
    by_name,
    by_option,
    file,
    fraction,
    path,
    places,
    seconds,
    texts,
    trees,
    ways,
    weights_column,
)

COLUMNS, PROTECTION, METHOD, PUBLISHING = "Columns", "Protection", "Method", "Publishing"
SURVEY, EARLIER, PARTS = "Samples and strata", "Earlier releases", "Many parts"
PURPOSES = (COLUMNS, PROTECTION, METHOD, PUBLISHING, SURVEY, EARLIER, PARTS)
"""The purposes of choices, in the order of help pages."""


@dataclass(frozen=True, kw_only=True)
class ColumnChoices(Options):
    """The roles and kinds of the columns of a table."""

    keys: tuple[str, ...] = option(
        (), "Columns that an intruder may know. A release masks them.", check=columns, shape="columns",
        flag="--key", purpose=COLUMNS, value="COLUMNS", accepts="Sequence[str]", label="the role key",
    )  # fmt: skip
    confidential: tuple[str, ...] = option(
        (), "Columns that an intruder wants to learn. A release keeps them unchanged.", check=columns,
        shape="columns", purpose=COLUMNS, value="COLUMNS", accepts="Sequence[str]",
        label="the role confidential",
    )  # fmt: skip
    identifiers: tuple[str, ...] = option(
        (), "Columns that name a person. A release drops them.", check=columns, shape="columns",
        flag="--identifier", purpose=COLUMNS, value="COLUMNS", accepts="Sequence[str]",
        label="the role identifier",
    )  # fmt: skip
    other: tuple[str, ...] = option(
        (), "Harmless columns. A release keeps them unchanged.", check=columns, shape="columns",
        purpose=COLUMNS, value="COLUMNS", accepts="Sequence[str]", label="the role other",
    )  # fmt: skip
    drop_undeclared: bool = option(
        False, "Drop columns that have no role. Otherwise such a column is an error.", check=yes_or_no,
        shape="switch", purpose=COLUMNS, label="the role identifier",
    )  # fmt: skip
    kinds: Mapping[str, Any] | None = option(
        None, "The kind of a column: numeric, ordinal, nominal or datetime.", check=by_column,
        shape="by column", flag="--kind", purpose=COLUMNS, value="COLUMN=KIND",
        accepts="Mapping[str, Kind] | None", label="“Kind”",
    )  # fmt: skip
    orders: Mapping[str, Sequence[str]] | None = option(
        None, "The levels of an ordinal column, lowest first.", check=by_column, shape="by column",
        flag="--order", purpose=COLUMNS, value="COLUMN=low<mid<high", label="“Order, lowest first”",
    )  # fmt: skip
    locations: tuple[tuple[str, str], ...] = option(
        (), "Two key columns that are a place: latitude and longitude in degrees.", check=places,
        shape="pairs", flag="--location", purpose=COLUMNS, value="LAT,LON",
        accepts="Sequence[tuple[str, str]]", label="“Latitude” and “Longitude”",
    )  # fmt: skip
    person: str | None = option(
        None, "The column of people, if a person can have several rows: k counts people.",
        check=column, purpose=COLUMNS, value="COLUMN", label="“Rows of one person share”",
    )  # fmt: skip
    household: str | None = option(
        None, "The column of households: k counts households.", check=column,
        purpose=COLUMNS, value="COLUMN", label="“Rows of one household share”",
    )  # fmt: skip
    pseudonyms: bool = option(
        False, "Keep the columns of person and household, with random codes instead of their values.",
        check=yes_or_no, shape="switch", purpose=COLUMNS, label="“keep fresh random names for people”",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ReleaseChoices(Options):
    """How a release is made. A recipe keeps these choices."""

    k: int | None = option(
        None, "The least number of records that share a combination of keys.", check=whole(1), flag="-k",
        purpose=PROTECTION, value="N", usual="5; none for channel, dp and records", label="k",
    )  # fmt: skip
    models: tuple[str, ...] = option(
        (), "A further guarantee, such as t-closeness=0.2.",
        check=texts("t-closeness=0.2"), shape="texts", flag="--model", purpose=PROTECTION, value="NAME=VALUE",
        accepts="Model | str | Sequence[Model | str] | Mapping[str, Any]", label="“Further guarantees”",
    )  # fmt: skip
    bounds: Mapping[str, Any] | None = option(
        None, "The bounds of a column, known without the data: 0..120, or all its values as F|M. The "
        "model dp needs them.",
        check=bounds, shape="by column", purpose=PROTECTION, value="COLUMN=LOW..HIGH",
        accepts="Mapping[str, Sequence[Any] | str] | None", label="“What it could hold”",
    )  # fmt: skip
    intruder: str = option(
        "keys", "The intruder that models must hold against: one who knows the keys, or also the method.",
        check=one_of("keys", "method"), purpose=PROTECTION, value="keys|method", accepts="str",
        label="“The intruder knows”",
    )  # fmt: skip
    policy: str | None = option(
        None, "Satisfy a policy, by its name or a file. It completes the run, and refuses a release if a "
        "demand fails.",
        check=path, purpose=PROTECTION, value="NAME|FILE", accepts="str | Path | None",
        label="“Policy”",
    )  # fmt: skip
    facts: Mapping[str, str] | None = option(
        None, "A table that the policy needs, such as zip-populations=FILE.", check=by_name(path),
        shape="by column", purpose=PROTECTION, value="TABLE=FILE",
    )  # fmt: skip
    enforce: str = option(
        "auto", "The way to make groups obey models. auto keeps the least lossy of merge, swap and "
        "confidential-first; for the intruder 'method' it takes blind.",
        check=entry_of("way to enforce models", "auto"), purpose=PROTECTION, value="WAY", accepts="str",
    )  # fmt: skip
    allow_near_unique: tuple[str, ...] = option(
        (), "Allow these keys to publish a value that only one person has.", check=columns, shape="columns",
        purpose=PROTECTION, value="COLUMNS", accepts="Sequence[str]",
        label="check “it may publish a value that only one person has”",
    )  # fmt: skip
    allow_loss: tuple[str, ...] = option(
        (), "Publish these keys although nearly all their detail is lost.", check=columns, shape="columns",
        purpose=PROTECTION, value="COLUMNS", accepts="Sequence[str]",
        label="check “it may lose nearly all its detail”",
    )  # fmt: skip
    allow_unit_columns: tuple[str, ...] = option(
        (), "Keep these columns although their values join the rows of a household or a person.",
        check=columns, shape="columns", purpose=PROTECTION, value="COLUMNS", accepts="Sequence[str]",
        label="check “it may show which rows belong together”",
    )  # fmt: skip
    like: str | None = option(
        None, "Publish like another tool: sdcmicro (true values or gaps, by local suppression), or arx "
        "(ranges, and levels of given hierarchies).",
        check=one_of("sdcmicro", "arx", case=False), purpose=METHOD, value="sdcmicro|arx",
        accepts="str | None",
    )  # fmt: skip
    method: str = option(
        "auto", "The method that makes groups, or masks the table. `voronym methods` lists them.",
        check=entry_of("method"), purpose=METHOD, value="NAME", accepts="str", label="“Method”",
    )  # fmt: skip
    blocks: tuple[str, ...] = option(
        (), "A method for some of the keys, such as 'roof,walls: local-suppression' and 'income: mdav'. "
        "Later parts are made within the classes of earlier ones, so that k holds for all keys together.",
        check=texts("roof,walls: local-suppression"), shape="texts", flag="--part", purpose=METHOD,
        value="COLUMNS: METHOD", accepts="str | Sequence[str]",
    )  # fmt: skip
    options: Mapping[str, Any] | None = option(
        None, "An option of the method. `--NAME VALUE` does the same.", check=by_option, shape="by column",
        flag="--option", purpose=METHOD, value="NAME=VALUE",
    )  # fmt: skip
    space: str = option(
        "euclidean", "The distance between records. euclidean: keys become numbers; mixed: every key has "
        "its own metric; ranges: groups have narrow ranges.",
        check=entry_of("space of keys"), purpose=METHOD, value="SPACE", accepts="str", label="“Space”",
    )  # fmt: skip
    metrics: Mapping[str, Any] | None = option(
        None, "The metric of a key in the space mixed, such as nominal or taxonomy=tree.csv.",
        check=by_column, shape="by column", purpose=METHOD, value="COLUMN=METRIC",
    )  # fmt: skip
    importance: Mapping[str, float] | None = option(
        None, "The weight of a key's differences, such as age=2; 1 for all others.",
        check=by_name(number(0.0)), shape="by column", purpose=METHOD, value="COLUMN=NUMBER",
    )  # fmt: skip
    time_limit: float | None = option(
        None, "Seconds for the whole run. Searches return the best release found by then.",
        check=seconds, purpose=METHOD, value="SECONDS", label="“Seconds to search”",
    )  # fmt: skip
    seed: int | None = option(
        None, "Seed of the random choices.", check=whole(0), purpose=METHOD, value="N",
        usual="0; drawn afresh for channel, records and local-suppression, none for dp", label="“Seed”",
    )  # fmt: skip
    device: str = option(
        "cpu", "Device that makes the groups: cpu, cuda (a GPU), or auto (a GPU if there is one).",
        check=entry_of("device"), purpose=METHOD, value="DEVICE", accepts="str",
        label="“Groups are made on”",
    )  # fmt: skip
    steps: tuple[str, ...] = option(
        (), "Change a column before groups are made, such as 'top age=90'; 'after ...' changes what they "
        "publish.",
        check=texts("top age=90"), shape="texts", flag="--step", purpose=PUBLISHING, value="STEP",
        accepts="ColumnStep | str | Sequence[ColumnStep | str]", label="“Steps, one a line”",
    )  # fmt: skip
    publish: Mapping[str, str] | None = option(
        None, "The published value of a group's keys: mean, median, interval (such as 30–39), or hierarchy.",
        check=ways, shape="by column", purpose=PUBLISHING, value="[COLUMN=]WAY", usual="mean",
        accepts="str | Mapping[str, str] | None", label="“Groups publish”",
    )  # fmt: skip
    hierarchies: Mapping[str, Any] | None = option(
        None, "The hierarchy of a key: a file with value;level 1;level 2;... in a line.", check=trees,
        shape="by column", flag="--hierarchy", purpose=PUBLISHING, value="COLUMN=FILE",
    )  # fmt: skip
    widths: Mapping[str, float] | None = option(
        None, "The least width of the intervals of a key; days for dates.",
        check=by_name(number(above=0.0)), shape="by column", purpose=PUBLISHING, value="COLUMN=NUMBER",
    )  # fmt: skip
    ends: str = option(
        "rounded", "Ends of intervals: rounded, so that at least k people could have each end, or "
        "exact, which shows somebody's value.",
        check=one_of("rounded", "exact"), purpose=PUBLISHING, value="rounded|exact", accepts="str",
    )  # fmt: skip
    weights: str | None = option(
        None, "The column with the number of people behind each record. Means and loss are weighted.",
        check=weights_column, purpose=SURVEY, value="COLUMN", label="“Weights”",
    )  # fmt: skip
    publish_weights: str = option(
        "auto", "The published weights: own (unchanged), mean (of each group), or auto (the mean if fewer "
        "than k records share a weight).",
        check=one_of("auto", "own", "mean"), purpose=SURVEY, value="WAY", accepts="str",
    )  # fmt: skip
    strata: tuple[str, ...] = option(
        (), "Keys whose values groups do not mix. Models hold within each stratum.", check=columns,
        shape="columns", purpose=SURVEY, value="COLUMNS", accepts="Sequence[str]", label="“Strata”",
    )  # fmt: skip
    suppress: float = option(
        0.0, "The largest share of the records that may be left out, such as 1%: those that cost most.",
        check=few, purpose=SURVEY, value="SHARE", accepts="float | str",
        label="“Records that may be left out”",
    )  # fmt: skip
    sampling_fraction: float | None = option(
        None, "The share of the population that is in the table, such as 5%, for the risk in the population.",
        check=fraction, purpose=SURVEY, value="SHARE", accepts="float | str | None",
    )  # fmt: skip
    population: str | None = option(
        None, "A file with a table of the whole population, for the risk in it.", check=file,
        purpose=SURVEY, value="FILE",
    )  # fmt: skip
    keep_groups: bool = option(
        False, "Build on the groups of the releases in the ledger: those that still have k people are kept.",
        check=yes_or_no, shape="switch", purpose=EARLIER,
    )  # fmt: skip
    headroom: int = option(
        0, "People beyond k in a new group, so that it outlives some of them.", check=whole(0),
        purpose=EARLIER, value="N",
    )  # fmt: skip
    dissolved: str | None = option(
        None, "Treatment of people whose kept group fell below k. rejoin: they join new groups, where an "
        "intruder who recognises rows can follow them. retire: they are not published again.",
        check=one_of("rejoin", "retire"), purpose=EARLIER, value="rejoin|retire", accepts="str",
        usual="rejoin",
    )  # fmt: skip
    waiting: float = option(
        0.04, "The largest share of people who are left out of a release until similar people arrive.",
        check=share, purpose=EARLIER, value="SHARE",
    )  # fmt: skip
    changed: str = option(
        "refuse", "Refuse or publish a release in which fewer than k people of a group have new values "
        "outside the keys, or noise is drawn again for the same values: two such files together reveal more.",
        check=one_of("refuse", "publish"), purpose=EARLIER, value="refuse|publish", accepts="str",
    )  # fmt: skip
    engine: str = option(
        "local", "Engine for many parts: local processes, dask or spark.",
        check=entry_of("engine"), purpose=PARTS, value="ENGINE", accepts="str",
    )  # fmt: skip
    leaf: int | None = option(
        None, "Records that are grouped together, with many parts.", check=whole(20),
        purpose=PARTS, value="N", usual="250000",
    )  # fmt: skip
    rounds: int | None = option(
        None, "Number of cuts into leaves, each with other borders, for methods that search.", check=whole(1),
        purpose=PARTS, value="N", usual="3",
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Check every value, and replace defaults by the values of the profile."""
        super().__post_init__()
        for name, value in self._profile().items():
            if getattr(self, name) == self.declared()[name].default:
                object.__setattr__(self, name, value)

    def _profile(self) -> dict[str, Any]:
        """Return the choices that imitate another tool."""
        if self.like == "sdcmicro":
            return {"method": "local-suppression"}
        if self.like == "arx":
            trees = dict.fromkeys(self.hierarchies or {}, "hierarchy")
            return {"publish": {**trees, EVERY: "interval"}}
        return {}

    def way(self, key: str, usual: str = "mean") -> str:
        """Return how a key is published."""
        given = self.publish or {}
        return given.get(key, given.get(EVERY, usual))


@dataclass(frozen=True, kw_only=True)
class RunChoices(Options):
    """The workplace and the memory of a run: the release does not depend on these."""

    ledger: str | None = option(
        None, "A file that remembers the groups of every release. A release that exposes people is refused.",
        check=path, purpose=EARLIER, value="FILE", accepts="str | Path | None",
    )  # fmt: skip
    strangers: bool = option(
        False, "Accept that the ledger knows nearly nobody of the table, because these are other people.",
        check=yes_or_no, shape="switch", purpose=EARLIER,
    )  # fmt: skip
    address: str | None = option(
        None, "The address of the Dask scheduler or the Spark master. Without it a cluster starts here.",
        check=column, purpose=PARTS, value="ADDRESS",
    )  # fmt: skip
    workers: int | None = option(
        None, "The number of tasks at a time.", check=whole(1), purpose=PARTS, value="N",
        usual="the number of processors",
    )  # fmt: skip
    memory: int | str = option(
        "4GB", "Memory limit for all workers together, such as 8GB.", purpose=PARTS, value="SIZE",
    )  # fmt: skip
    work: str | None = option(
        None, "The work folder, or an address such as s3://bucket/work. All workers must reach it.",
        check=path, purpose=PARTS, value="FOLDER",
        accepts="str | Path | None", usual="beside the output",
    )  # fmt: skip
    resume: bool = option(
        False, "Continue an interrupted run, and keep its work when this one is interrupted.",
        check=yes_or_no, shape="switch", purpose=PARTS,
    )  # fmt: skip
    log: str | None = option(
        None, "A file for the log of the run. It holds no value of the data.", check=path, purpose=PARTS,
        value="FILE", accepts="str | Path | None",
    )  # fmt: skip
    log_level: str = option(
        "info", "Detail of the log.", check=one_of("debug", "info", "warning", "error"), purpose=PARTS,
        value="LEVEL",
    )  # fmt: skip
    prometheus: str | None = option(
        None, "A file for figures of the run in the text form of Prometheus, updated during the run.",
        check=path, purpose=PARTS, value="FILE", accepts="str | Path | None",
    )  # fmt: skip


OTHER_WORDS = {
    "quasi_identifiers": "keys", "qi": "keys", "qis": "keys", "key": "keys", "identifier": "identifiers",
    "direct_identifiers": "identifiers", "sensitive": "confidential", "sensitive_attributes": "confidential",
    "insensitive": "other", "model": "models", "step": "steps", "option": "options", "file": "data",
}  # fmt: skip
"""Other tools' names for the arguments of `anonymize`."""
