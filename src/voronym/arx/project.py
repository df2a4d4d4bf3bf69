"""Read a project of ARX: its columns, hierarchies and criteria.

Read from ``metadata.xml``, ``project.xml``, ``input/config.xml``, ``input/definition.xml`` and
``input/hierarchies/*.csv``, in the vocabulary 2.0 that ARX writes since version 2.0, up to 3.9.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from voronym.arx.archive import Archive, opened
from voronym.errors import ReadError

VOCABULARIES = ("1.0", "2.0")
MOST_COLUMNS = 10_000


@dataclass(frozen=True)
class Attribute:
    """A column, as the project has it.

    Parameters
    ----------
    name, role, datatype : str
        Such as "age", "QUASI_IDENTIFYING_ATTRIBUTE" and "Integer".
    format : str
        Format of dates; for ordinal values, their order.
    levels : tuple of str
        The smallest and the largest level of generalisation; "All" means no limit.
    aggregate : str
        The function of a microaggregated column; "" for others.
    """

    name: str
    role: str
    datatype: str = "String"
    format: str = ""
    levels: tuple[str, str] = ("All", "All")
    aggregate: str = ""


@dataclass(frozen=True)
class Project:
    """Everything that voronym takes from a project file.

    Parameters
    ----------
    name, version : str
        Name of the project, and version of the ARX that wrote it.
    attributes : tuple of Attribute
        The columns, in their order.
    hierarchies : mapping
        For each column, rows of a value and its ancestors.
    criteria : tuple of str
        Criteria in ARX's words: "5-anonymity".
    suppression : float
        The share of records that may be suppressed.
    weights : mapping
        For each column, the weight of its loss.
    metric : str
        ARX's measure of quality.
    delimiter : str
        Delimiter of the table in the project.
    has_data : bool
        Whether there is one.
    """

    name: str
    version: str
    attributes: tuple[Attribute, ...]
    hierarchies: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    criteria: tuple[str, ...] = ()
    suppression: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)
    metric: str = ""
    delimiter: str = ";"
    has_data: bool = False


def read_project(path: str | Path) -> Project:
    """Read a project file of ARX, without the table in it.

    Raises
    ------
    ReadError
        It is no such file, it is damaged, or it unpacks to far more than a project would.
    """
    with opened(Path(path)) as archive:
        for needed in ("input/definition.xml", "input/config.xml"):
            if needed not in archive:
                raise ReadError(
                    f"{archive.name!r} is no project of ARX that can be read: it lacks {needed!r}. Save "
                    "it with ARX 2.0 or later"
                )
        version, vocabulary = _metadata(archive)
        if vocabulary not in VOCABULARIES:
            raise ReadError(
                f"{archive.name!r} is written in a vocabulary {vocabulary!r} that is not known here; known "
                f"are {' and '.join(VOCABULARIES)}"
            )
        about = archive.xml("project.xml") if "project.xml" in archive else None
        delimiter = _text_of(about, "separator", strip=False) or ";"
        config = archive.xml("input/config.xml")
        attributes = tuple(map(_attribute, archive.xml("input/definition.xml").iter("assigment")))
        if not attributes or len(attributes) > MOST_COLUMNS:
            raise ReadError(
                f"{archive.name!r} declares {len(attributes):,} columns: nothing was taken from it"
            )
        return Project(
            name=_text_of(about, "name"),
            version=version,
            attributes=attributes,
            hierarchies=_hierarchies(archive, attributes, delimiter[0]),
            criteria=tuple(entry.text.strip() for entry in config.iter("criterion") if entry.text),
            suppression=_number(_text_of(config, "relativeMaxOutliers"), 0.0),
            weights={
                _text_of(item, "attribute"): _number(_text_of(item, "weight"), 1.0)
                for item in config.iter("attributeWeight")
            },
            metric=_text_of(config, "metric"),
            delimiter=delimiter[0],
            has_data="data/input.csv" in archive,
        )


def _metadata(archive: Archive) -> tuple[str, str]:
    if "metadata.xml" not in archive:  # the first versions
        return "", VOCABULARIES[0]
    about = archive.xml("metadata.xml")
    return _text_of(about, "version"), _text_of(about, "vocabulary") or VOCABULARIES[0]


def _attribute(given: Element) -> Attribute:
    name = _text_of(given, "name", strip=False)
    if not name:
        raise ReadError("a column of the project has no name: nothing was taken from it")
    return Attribute(
        name,
        _text_of(given, "type"),
        _text_of(given, "datatype") or "String",
        _text_of(given, "format"),
        (_text_of(given, "min") or "All", _text_of(given, "max") or "All"),
        _text_of(given, "microAggregationFunction"),
    )


def _hierarchies(
    archive: Archive, attributes: tuple[Attribute, ...], delimiter: str
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Read the hierarchies of the columns from the entries with their names."""
    out = {}
    for attribute in attributes:
        entry = f"input/hierarchies/{attribute.name}.csv"
        if entry not in archive:
            continue
        text = archive.text(entry)
        try:
            rows = tuple(tuple(row) for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row)
        except csv.Error:
            raise ReadError(f"{entry!r} in {archive.name!r} is no text of cells as ARX writes it") from None
        if rows and max(map(len, rows)) > 1:  # else ARX made it up: the values themselves
            out[attribute.name] = rows
    return out


def _text_of(given: Element | None, name: str, *, strip: bool = True) -> str:
    result = None if given is None else given.findtext(f".//{name}")
    return "" if result is None else result.strip() if strip else result


def _number(text: str, otherwise: float) -> float:
    try:
        return float(text)
    except ValueError:
        return otherwise
