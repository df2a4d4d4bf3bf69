"""The role and the kind of each column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from voronym.core.display import chip, html_table, text_table
from voronym.core.registry import meant
from voronym.core.validate import checked
from voronym.errors import SchemaError, hint
from voronym.table.frame import listing
from voronym.table.kinds import check_kind, find_kind
from voronym.table.values import Columns

if TYPE_CHECKING:
    from voronym.table.proposal import Proposal

Role = Literal["identifier", "key", "confidential", "other"]
Kind = Literal["numeric", "ordinal", "nominal", "datetime", "location", "text"]

_TINTS = {"identifier": "red", "key": "blue", "confidential": "amber", "other": "grey"}
RECODED = "recoded to ranges"
"""The reason noted for ordinal columns of ranges made by a step, whose ranges are known beforehand."""


@dataclass(frozen=True)
class Column:
    """One column: its role, its kind, and the reason for the kind.

    Parameters
    ----------
    name : str
        The column's name in the table.
    role : {"identifier", "key", "confidential", "other"}
        Identifiers are dropped; keys are masked; confidential and other columns are kept as they are.
    kind : {"numeric", "ordinal", "nominal", "datetime", "location", "text"}
        The kind of values, which decides the encoding of a key.
    categories : tuple of str, optional
        The order of an ordinal column, lowest first.
    partner : str, optional
        The other coordinate of a location.
    axis : {"lat", "lon"}, optional
        Which coordinate of a location this is.
    note : str
        Why this kind.
    ranges : bool
        Whether its texts are ranges of numbers or dates made by voronym: a text file writes them in its own
        form, like numbers and dates.
    """

    name: str
    role: Role
    kind: Kind
    categories: tuple[str, ...] | None = None
    partner: str | None = None
    axis: Literal["lat", "lon"] | None = None
    note: str = ""
    ranges: bool = False

    @property
    def declared(self) -> bool:
        """Whether a person chose the kind; otherwise the dtype suggested it."""
        return self.note in ("declared", "")

    def details(self) -> str:
        """Describe in a line why this kind, with the order of levels or the other coordinate."""
        result = [self.note] if self.note else []
        if self.categories is not None:
            levels = self.categories
            few = levels if len(levels) <= 6 else (*levels[:3], "…", levels[-1])
            result.append(" < ".join(few))
        if self.partner is not None:
            result.append(f"{self.axis}, with {self.partner}")
        return "; ".join(result)


@dataclass(frozen=True)
class Schema:
    """A table's columns, each with exactly one role and one kind.

    Build one with `Schema.build`, or let `Schema.infer` propose one.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"name": ["Ann", "Bob"], "age": [30, 40], "disease": ["flu", "cold"]})
    >>> schema = Schema.build(table, keys=["age"], confidential=["disease"], identifiers=["name"])
    >>> schema.keys, schema["age"].kind
    (('age',), 'numeric')
    """

    columns: tuple[Column, ...]
    person: str | None = None
    """The identifier of people: a person may have several rows, and k counts people."""
    household: str | None = None
    """The identifier of households: k counts households."""
    pseudonyms: bool = False
    """Whether these two columns are kept, with fresh random numbers in place of their values."""

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise SchemaError(f"every column has one role; these are declared twice: {listing(repeated)}")
        if not self.keys:
            raise SchemaError(
                "no column has the role 'key'; name at least one that could single a person out, with "
                f"{hint('keys')}"
            )
        for what, name in self.units.items():
            if name not in names or self[name].role != "identifier":
                raise SchemaError(f"the {what} column {name!r} must be an identifier of the table")
        if self.pseudonyms and not self.units:
            raise SchemaError(
                "pseudonyms need a column of people or households: name it as person or household"
            )

    @property
    def units(self) -> dict[str, str]:
        """The columns that identify people and households, by unit: "person", "household"."""
        given = {"person": self.person, "household": self.household}
        return {what: name for what, name in given.items() if name is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, in the order of the table."""
        return tuple(column.name for column in self.columns)

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that an intruder may know; a release masks them."""
        return self._of("key")

    @property
    def confidential(self) -> tuple[str, ...]:
        """Columns whose values the release should not link to a person."""
        return self._of("confidential")

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Columns that are dropped."""
        return self._of("identifier")

    @property
    def other(self) -> tuple[str, ...]:
        """Columns that are kept unchanged."""
        return self._of("other")

    def _of(self, role: Role) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.role == role)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(f"no column is called {name!r}; there are: {listing(self.names)}")

    def location(self, name: str, among: Sequence[str]) -> tuple[str, str]:
        """Return the latitude and longitude columns of a coordinate, if both are given."""
        column = self[name]
        if column.partner is None or column.partner not in among or column.axis is None:
            raise SchemaError(
                f"location {name!r} has no partner among the columns used; declare the pair in locations"
            )
        return (name, column.partner) if column.axis == "lat" else (column.partner, name)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __repr__(self) -> str:
        named = {"keys": self.keys, "confidential": self.confidential, "identifiers": self.identifiers}
        roles = "; ".join(
            f"{role} {', '.join(names)}" for role, names in {**named, "other": self.other}.items() if names
        )
        units = "".join(f"; {what}s by {name}" for what, name in self.units.items())
        return f"Schema({len(self.columns)} columns: {roles}{units})"

    def __str__(self) -> str:
        head = ("column", "role", "kind", "note")
        return text_table(head, [(c.name, c.role, c.kind, c.note) for c in self.columns])

    def _repr_html_(self) -> str:
        rows = [(c.name, chip(c.role, _TINTS[c.role]), c.kind, c.details()) for c in self.columns]
        return str(html_table(("column", "role", "kind", "note"), rows, wide=["note"]))

    @classmethod
    @checked
    def build(
        cls,
        frame: Any,
        *,
        keys: Sequence[str] | str,
        confidential: Sequence[str] | str = (),
        identifiers: Sequence[str] | str = (),
        other: Sequence[str] | str = (),
        kinds: Mapping[str, Kind] | None = None,
        orders: Mapping[str, Sequence[str]] | None = None,
        locations: Sequence[tuple[str, str]] = (),
        drop_undeclared: bool = False,
        person: str | None = None,
        household: str | None = None,
        pseudonyms: bool = False,
    ) -> Schema:
        """Give every column of a table one role and one kind, and check that both fit the values.

        Parameters
        ----------
        frame : pandas, Polars, PyArrow or narwhals frame
            The table.
        keys, confidential, identifiers, other : names
            The roles. Every column needs exactly one.
        kinds : mapping, optional
            Kinds that differ from the dtype's suggestion, such as ``{"zip": "nominal"}``.
        orders : mapping, optional
            Levels of ordinal columns, lowest first.
        locations : pairs of names
            ``(latitude, longitude)`` columns, in degrees; both must be keys.
        drop_undeclared : bool
            Treat columns without a role as identifiers, which drops them. Otherwise they are an error.
        person, household : str, optional
            The column of people, if a person may have several rows; the column of households. k then counts
            people, or households. Both are identifiers, and dropped.
        pseudonyms : bool
            Keep these two columns, with fresh random numbers in place of their values.

        Returns
        -------
        Schema
        """
        table = Columns.at_door(frame)
        kinds, orders = dict(kinds or {}), dict(orders or {})
        identifiers = _with_units(identifiers, person, household)
        declared: list[tuple[Role, Sequence[str] | str]] = [
            ("key", keys),
            ("confidential", confidential),
            ("identifier", identifiers),
            ("other", other),
        ]
        roles = _roles(table.columns, declared)
        if len(table) == 0:
            raise SchemaError("the table has no rows; there is nothing to anonymize")
        undeclared = [name for name in table.columns if name not in roles]
        if undeclared and not drop_undeclared:
            raise SchemaError(no_role(undeclared, len(table.columns)))
        roles.update(dict.fromkeys(undeclared, "identifier"))
        if not any(role == "key" for role in roles.values()):
            raise SchemaError(
                "no column has the role 'key'; name at least one that could single a person out, with "
                f"{hint('keys')}"
            )
        pairs = _pairs(locations, roles, kinds)
        for what, given in (("kinds", kinds), ("orders", orders)):
            unknown = [name for name in given if name not in roles]
            if unknown:
                raise SchemaError(f"{what} names columns that the table does not have: {listing(unknown)}")
        columns = []
        for name in table.columns:
            partner, axis = pairs.get(name, (None, None))
            wanted: Any = "location" if axis else kinds.get(name, "ordinal" if name in orders else None)
            if wanted is not None and wanted not in get_args(Kind):
                raise SchemaError(f"{wanted!r} is no kind; the kinds are: {', '.join(get_args(Kind))}")
            kind = find_kind(table[name], wanted=wanted, order=orders.get(name), role=roles[name])
            column = Column(name, roles[name], kind.kind, kind.categories, partner, axis, kind.note)
            check_kind(table[name], column)
            columns.append(column)
        return cls(tuple(columns), person, household, pseudonyms)

    @staticmethod
    def infer(frame: Any) -> Proposal:
        """Propose a schema, with a reason for every column; a person must confirm it.

        No column is ever proposed as "other": only a person can decide that a column is safe
        unmasked.

        Examples
        --------
        >>> import polars as pl
        >>> table = pl.DataFrame({"name": ["Ann", "Bob", "Eve"], "age": [30, 40, 50]})
        >>> Schema.infer(table).schema["name"].role
        'identifier'
        """
        from voronym.table.infer import infer

        return infer(frame)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, strings and dicts, fit for TOML and JSON."""
        out = []
        for column in self.columns:
            row: dict[str, Any] = {"name": column.name, "role": column.role, "kind": column.kind}
            if column.categories is not None:
                row["categories"] = list(column.categories)
            row |= {key: value for key in ("partner", "axis", "note") if (value := getattr(column, key))}
            out.append(row)
        kept = {"pseudonyms": True} if self.pseudonyms else {}
        return {**self.units, **kept, "columns": out}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """Rebuild a schema from `to_dict`.

        Examples
        --------
        >>> schema = Schema((Column("age", "key", "numeric"),))
        >>> Schema.from_dict(schema.to_dict()) == schema
        True
        """
        rows = data.get("columns") if isinstance(data, Mapping) else None
        if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
            raise SchemaError("a schema has a list 'columns' with name, role and kind of each column")
        columns = []
        for row in rows:
            unknown = sorted(set(row) - set(Column.__dataclass_fields__))
            if unknown or not {"name", "role", "kind"} <= set(row):
                raise SchemaError(
                    f"a column needs name, role and kind; unknown entries: {listing(unknown) or 'none'}"
                )
            if row["role"] not in get_args(Role) or row["kind"] not in get_args(Kind):
                raise SchemaError(f"column {row['name']!r} has an unknown role or kind")
            categories = row.get("categories")
            columns.append(Column(**{**row, "categories": None if categories is None else tuple(categories)}))
        strange = sorted(set(data) - {"columns", "person", "household", "pseudonyms"})
        if strange:
            raise SchemaError(f"a schema has no entry {listing(strange)}")
        person, household = (data.get(what) for what in ("person", "household"))
        return cls(tuple(columns), person, household, data.get("pseudonyms", False) is True)


def no_role(undeclared: Sequence[str], columns: int) -> str:
    """Return the advice, and the text to type, if some columns have no role."""
    return (
        f"{len(undeclared)} of {columns} columns have no role: {listing(undeclared)}; say what each is with "
        f"{hint('keys')}, {hint('confidential')}, {hint('identifiers')} or {hint('other')}, or leave them "
        f"out with {hint('drop_undeclared')}. `voronym inspect FILE` proposes roles"
    )


def _with_units(identifiers: Sequence[str] | str, *units: str | None) -> list[str]:
    """Return the identifiers, including the columns of people and households."""
    listed = [identifiers] if isinstance(identifiers, str) else list(identifiers)
    for name in units:
        if name is not None and not isinstance(name, str):
            raise SchemaError(f"person and household each take the name of one column, not {name!r}")
        listed += [name] if name is not None and name not in listed else []
    return listed


def check_present(present: Sequence[str], named: Iterable[str]) -> None:
    """Refuse names that are no columns of the table."""
    unknown = list(dict.fromkeys(name for name in named if name not in present))
    if unknown:
        raise SchemaError(
            f"the table has no column {listing(unknown)}; its columns are: {listing(present)}"
            + meant(unknown[0], present)
        )


def _roles(present: Sequence[str], declared: Sequence[tuple[Role, Sequence[str] | str]]) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    twice: list[str] = []
    for role, names in declared:
        for name in [names] if isinstance(names, str) else names:
            if name in roles:
                twice.append(name)
            else:
                roles[name] = role
    check_present(present, roles)
    if twice:
        raise SchemaError(
            f"every column has one role; these are declared twice: {listing(dict.fromkeys(twice))}"
        )
    return roles


def _pairs(
    locations: Sequence[tuple[str, str]], roles: Mapping[str, Role], kinds: Mapping[str, Kind]
) -> dict[str, tuple[str, Literal["lat", "lon"]]]:
    pairs: dict[str, tuple[str, Literal["lat", "lon"]]] = {}
    for pair in locations:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or pair[0] == pair[1]:
            raise SchemaError("a location is a pair of two columns: (latitude, longitude)")
        lat, lon = pair
        for name in pair:
            if roles.get(name) != "key":
                raise SchemaError(f"location column {name!r} must be a key, like its partner")
            if name in pairs:
                raise SchemaError(f"column {name!r} is in two locations")
        pairs[lat], pairs[lon] = (lon, "lat"), (lat, "lon")
    alone = [name for name, kind in kinds.items() if kind == "location" and name not in pairs]
    if alone:
        raise SchemaError(
            f"kind 'location' needs a pair; name the other coordinate of {listing(alone)} in locations"
        )
    return pairs
