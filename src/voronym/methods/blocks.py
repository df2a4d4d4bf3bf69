"""Several methods in one release: each block of keys has its own method, and k counts all keys together.

Independent blocks would promise nothing: k records share their categories and k share their numbers, and yet
a record may be unique in both. So blocks are nested. The first makes classes of at least k; each later one
makes groups of at least k *inside* each class. An intruder who knows all keys of a person finds a group of
the last block, which has k.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core import grammar
from voronym.core.context import Context
from voronym.core.figures import NOTHING
from voronym.core.options import Options, read_value
from voronym.errors import InputError, hint
from voronym.keyspaces import DEFAULT_SPACE
from voronym.method import METHODS, release_method
from voronym.methods.crowd import Crowd
from voronym.methods.demands import demands_of, make_obey
from voronym.methods.figures import BlockFigures, BlocksFigures
from voronym.methods.grouped import group, publish_groups
from voronym.partition import Partition
from voronym.privacy import Model
from voronym.problem import Problem
from voronym.request.checks import EVERY
from voronym.request.choices import ReleaseChoices
from voronym.result import Grouped
from voronym.table.table import Table
from voronym.table.values import first_rows

Ints = NDArray[np.int64]
NAME = "blocks"
"""The method that runs the methods of the blocks."""


@dataclass(frozen=True)
class Block:
    """Some keys, and the method that masks them.

    Parameters
    ----------
    columns : tuple of str
        The keys.
    method : str
        A method that makes groups.
    options : mapping
        Options of the method.
    """

    columns: tuple[str, ...]
    method: str
    options: Mapping[str, Any]

    @classmethod
    def parse(cls, text: str) -> Block:
        """Read ``COLUMNS: METHOD OPTION=VALUE ...``.

        Examples
        --------
        >>> Block.parse("roof, walls: local-suppression exact=true")
        Block(columns=('roof', 'walls'), method='local-suppression', options={'exact': True})
        """
        head, *rest = grammar.split(text, ":", 1)
        columns = tuple(grammar.unquoted(name.strip()) for name in grammar.split(head, ",") if name.strip())
        words = rest[0].split() if rest else []
        if not columns or not words:
            raise InputError(
                f"a part is written COLUMNS: METHOD, such as 'roof,walls: local-suppression', not {text!r}"
            )
        method = METHODS[words[0]]
        if not method.keeps_k or method.name == NAME:
            able = ", ".join(name for name, item in METHODS.items() if item.keeps_k and name != NAME)
            raise InputError(
                f"part {text!r}: method {method.name!r} makes no groups, and k counts the keys of all parts "
                f"together. Take one of {able}; noise, PRAM and swaps are steps "
                f"({hint('steps', 'pram job=0.2')})"
            )
        given = grammar.pairs(words[1:], f"part {text!r}")
        options = {name.replace("-", "_"): read_value(value) for name, value in given.items()}
        method.options.of(method.name, options)
        return cls(columns, method.name, options)

    def __str__(self) -> str:
        names = ",".join(f'"{name}"' if re.search(r'[",:\s]', name) else name for name in self.columns)
        more = "".join(f" {name}={_written(value)}" for name, value in self.options.items())
        return f"{names}: {self.method}{more}"


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_blocks(blocks: Sequence[Block], keys: Sequence[str]) -> None:
    """Refuse blocks that share a column, name a column that is no key, or omit a key."""
    named = [name for block in blocks for name in block.columns]
    for name in named:
        if name not in keys:
            raise InputError(
                f"part: {name!r} is no key, or a stratum, which stays as it is: make it a key "
                f"({hint('keys', [name])}), or take a step for it"
            )
        if named.count(name) > 1:
            raise InputError(f"part: {name!r} is in two parts, and a key has one method")
    lacking = [name for name in keys if name not in named]
    if lacking:
        raise InputError(
            f"part: key {', '.join(map(repr, lacking))} is in no part: name it in one of them "
            f"({hint('blocks', lacking[0] + ': auto')})"
        )


@release_method(
    NAME,
    guarantee="k records or more share all published keys, whatever the methods of the parts are",
    cost="the sum over the parts; later parts run within each class of earlier ones",
    reference="this project",
    timed=True,
)
def blocks(
    table: Table, ctx: Context, options: Options, *, choices: ReleaseChoices, k: int, models: Sequence[Model]
) -> Grouped:
    """Mask blocks of keys, each by its own method, later ones within the classes of earlier ones."""
    del options  # options of the parts are in their texts
    parsed = [Block.parse(text) for text in choices.blocks]
    check_blocks(parsed, table.keys)
    demands = demands_of(table, models)
    labels = np.zeros(table.n, np.int64)
    columns: dict[str, nw.Series[Any]] = {}
    made: list[Grouped] = []
    for number, block in enumerate(parsed):
        here = ctx.part(number / len(parsed), (number + 1) / len(parsed), time=1 / (len(parsed) - number))
        own = _choices(choices, block)
        some = _keyed(table, block)
        held = METHODS[block.method].options.of(block.method, dict(block.options))
        if METHODS[block.method].groups:
            masked, labels = _grouped(some, labels, here, own, held, k, demands)
        else:
            masked, labels = _released(some, labels, here, own, held, k, models)
        columns |= {name: masked.frame[name] for name in block.columns}
        made.append(masked)
    kept = [name for name in table.columns if name in table.schema]
    return Grouped(
        table.frame.select(kept).with_columns(**columns),
        figures=_figures(table, parsed, made),
        notes=tuple(dict.fromkeys(note for entry in made for note in entry.notes)),
        public_notes=tuple(dict.fromkeys(note for element in made for note in element.public_notes)),
        log=_log(table, parsed, made, labels, k),
        partition=Partition(labels),
        published_as={name: way for item in made for name, way in item.published_as.items()},
        schema=_schema(table, parsed, made),
    )


def _choices(choices: ReleaseChoices, block: Block) -> ReleaseChoices:
    """Return the choices of a run for one of its blocks; choices for other columns are removed."""

    def only(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
        return {
            name: value for name, value in (given or {}).items() if name in (*block.columns, EVERY)
        } or None

    plain = {name: getattr(choices, name) for name in ReleaseChoices.names()}
    if not METHODS[block.method].groups:  # it compares no records
        plain |= {"space": DEFAULT_SPACE, "metrics": None}
    return ReleaseChoices(
        **plain
        | {"blocks": (), "method": block.method, "options": dict(block.options) or None, "strata": ()}
        | {name: only(plain[name]) for name in ("importance", "publish", "hierarchies", "widths", "metrics")}
    )


def _keyed(table: Table, block: Block) -> Table:
    """Return the table with only the keys of a block as keys; other keys keep their values."""
    columns = tuple(
        replace(column, role="other") if column.role == "key" and column.name not in block.columns else column
        for column in table.schema.columns
    )
    schema = replace(table.schema, columns=columns)
    return Table(table.frame, schema, table.labels, source=table.source, units=table.units)


def _grouped(
    table: Table,
    classes: Ints,
    ctx: Context,
    choices: ReleaseChoices,
    options: Options,
    k: int,
    demands: Sequence[tuple[str, tuple[Any, ...]]],
) -> tuple[Grouped, Ints]:
    """Make groups within each class by a method that makes groups, and publish their centres."""
    crowd = Crowd.of(table, ctx, choices).at(k)
    crowd.check(k)
    problem = Problem(crowd.keys.records, k)
    of = classes if crowd.of_row is None else classes[first_rows(crowd.of_row, crowd.table.n)]
    labels, many, done = np.empty(problem.n, np.int64), 0, 0
    whole = not of.any()  # the first block: nothing is divided yet
    for item in range(int(of.max()) + 1):
        who = np.flatnonzero(of == item)
        here = ctx.part(done / problem.n, 1.0, time=len(who) / (problem.n - done))
        here = here if whole else here.quiet()
        some = problem.subset(who)
        part = group(some, METHODS[choices.method], options, here)
        own = [(name, tuple(judge.subset(who) for judge in judges)) for name, judges in demands]
        asked = [*crowd.only(who).demands(k), *(demands if whole else own)]
        part = make_obey(some, part, asked, here, choices.enforce if demands else "merge")
        labels[who] = part.labels + many
        many, done = many + part.n_cells, done + len(who)
    part = Partition(labels)
    published = publish_groups(crowd, part, choices, k)
    rows = crowd.spread(part)
    frame = published.frame[rows.labels]
    return Grouped(
        nw.maybe_reset_index(frame),
        figures=published.figures,
        notes=crowd.notes,
        log=published.log,
        partition=rows,
        group_loss=crowd.loss(part),
        published_as=published.published_as,
        schema=published.schema,
    ), rows.labels


def _released(
    table: Table,
    classes: Ints,
    ctx: Context,
    choices: ReleaseChoices,
    options: Options,
    k: int,
    models: Sequence[Model],
) -> tuple[Grouped, Ints]:
    """Mask each class by a method that decides on the published values of its groups."""
    function = METHODS[choices.method].function
    if not classes.any():
        made: Grouped = function(table, ctx, options, choices=choices, k=k, models=models)
        assert made.partition is not None  # noqa: S101 - these methods make groups
        return made, made.partition.labels
    labels, many = np.empty(table.n, np.int64), 0
    result, order = [], []
    for entry in range(int(classes.max()) + 1):
        rows = np.flatnonzero(classes == entry)
        made = function(table.rows(rows), ctx.quiet(), options, choices=choices, k=k, models=models)
        assert made.partition is not None  # noqa: S101
        labels[rows] = made.partition.labels + many
        many += made.partition.n_cells
        result.append(made)
        order.append(rows)
    place = np.argsort(np.concatenate(order), kind="stable")
    frame = nw.maybe_reset_index(nw.concat([item.frame for item in result])[place.tolist()])
    return replace(result[0], frame=frame, figures=NOTHING, log=(), partition=Partition(labels)), labels


def _figures(table: Table, parsed: Sequence[Block], made: Sequence[Grouped]) -> BlocksFigures:
    """Return the figures of each part."""
    parts = tuple(
        BlockFigures(
            columns=tuple(block.columns),
            method=block.method,
            groups=None if item.partition is None else item.partition.n_cells,
            loss=item.group_loss,
            gaps=sum(int(item.frame[name].null_count() - table.frame[name].null_count())
                     for name in block.columns),
        )
        for block, item in zip(parsed, made, strict=True)
    )  # fmt: skip
    return BlocksFigures(parts, tuple(item.figures for item in made if item.figures != NOTHING))


def _log(
    table: Table, parsed: Sequence[Block], made: Sequence[Grouped], labels: Ints, k: int
) -> tuple[str, ...]:
    heads = "records" if table.units is None else table.units.counted
    listed = "; then, within each of its classes, ".join(
        f"{', '.join(block.columns)} by {block.method}" for block in parsed
    )
    lost = [
        f"{', '.join(block.columns)} lost {item.group_loss:.3g} % of the variance in the groups"
        for block, item in zip(parsed, made, strict=True)
        if item.group_loss is not None
    ]
    return (
        f"Keys were masked in {len(parsed)} parts: {listed}. So {k} {heads} or more share the keys of all "
        "parts together.",
        f"Together they make {int(labels.max()) + 1:,} groups.",
        *(f"{entry}." for entry in lost),
        *(sentence for element in made for sentence in element.log),
    )


def _schema(table: Table, parsed: Sequence[Block], made: Sequence[Grouped]) -> Any:
    """Return the published schema, if a part changes kinds."""
    if all(entry.schema is None for entry in made):
        return None
    of = {name: item for block, item in zip(parsed, made, strict=True) for name in block.columns}
    columns = tuple(
        replace(of[column.name].schema[column.name], role="key")  # type: ignore[index]
        if column.name in of and of[column.name].schema is not None
        else column
        for column in table.schema.columns
    )
    return replace(table.schema, columns=columns)
