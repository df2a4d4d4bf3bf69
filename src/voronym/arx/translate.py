"""Translate an ARX project into a recipe, and list the settings without a counterpart."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voronym.arx.archive import DATA_LIMIT, opened
from voronym.arx.project import Attribute, Project, read_project
from voronym.core.atomic import placed
from voronym.core.percent import percent
from voronym.errors import InputError, WriteError, hint
from voronym.generalize.hierarchy import Hierarchy
from voronym.privacy import BetaLikeness, DeltaDisclosure, LDiversity, Model, TCloseness
from voronym.request.recipe import Recipe
from voronym.table.schema import Column, Kind, Role, Schema

ROLES: dict[str, Role] = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "key",
    "SENSITIVE_ATTRIBUTE": "confidential",
    "INSENSITIVE_ATTRIBUTE": "other",
}
KINDS: dict[str, Kind] = {"Integer": "numeric", "Decimal": "numeric", "Date/Time": "datetime"}
MOST_SUPPRESSED = 0.49
_N = r"([0-9.]+(?:[eE][-+]?[0-9]+)?)"
_FOR = r" for attribute '(.*)'"


def _entropy(l: str, column: str) -> Model:  # noqa: E741 - the name of the model
    return LDiversity(float(l), "entropy", column=column)


CRITERIA: tuple[tuple[str, Callable[..., Model]], ...] = (
    (rf"distinct-{_N}-diversity{_FOR}", lambda l, column: LDiversity(int(float(l)), column=column)),  # noqa: E741
    (rf"(?:[a-z]+-)?entropy-{_N}-diversity{_FOR}", _entropy),
    (
        rf"recursive-\({_N}, ?{_N}\)-diversity{_FOR}",
        lambda c, l, column: LDiversity(int(float(l)), "recursive", float(c), column),  # noqa: E741
    ),
    (
        rf"{_N}-closeness with equal (?:ground-)?distance{_FOR}",
        lambda t, column: TCloseness(float(t), "equal", column),
    ),
    (
        rf"{_N}-closeness with ordered (?:ground-)?distance{_FOR}",
        lambda t, column: TCloseness(float(t), "ordered", column),
    ),
    (rf"{_N}-disclosure privacy{_FOR}", lambda d, column: DeltaDisclosure(float(d) * math.log(2), column)),
    (rf"basic-{_N}-likeness{_FOR}", lambda b, column: BetaLikeness(float(b), "basic", column)),
    (rf"enhanced-{_N}-likeness{_FOR}", lambda b, column: BetaLikeness(float(b), "enhanced", column)),
)
"""Patterns of ARX's criteria, each with the model that means the same here."""

REASONS = (
    ("-map", "k-map asks for a population: add the model k-map=K,population=FILE or weights=COLUMN"),
    ("-presence", "δ-presence asks for a population: add the model delta-presence=D,population=FILE"),
    (
        "differential privacy",
        "ARX's differential privacy samples records, which has no counterpart here: see the model dp",
    ),
    ("inclusion", "a research subset: release a file that holds only these records"),
    ("subset", "a research subset: release a file with these records alone"),
    ("risk", "a limit on an average risk: choose k, and look at the risk in the report"),
    ("uniqueness", "a limit on unique records: with k of 2 or more there are none"),
    ("profitability", "a model of an intruder's costs, which is not offered"),
)


@dataclass
class Imported:
    """A project as a recipe.

    Parameters
    ----------
    project : Project
        The project.
    schema : Schema
        Its columns.
    k : int
        The k of k-anonymity; 2 if the project demands none.
    models : list of Model
        The other criteria that have a like here.
    trees : dict
        The hierarchy of each column.
    taken, left : list of str
        Sentences about translated settings, and about settings without a counterpart.
    """

    project: Project
    schema: Schema
    k: int = 2
    models: list[Model] = field(default_factory=list)
    trees: dict[str, Hierarchy] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    by_tree: dict[str, float] = field(default_factory=dict)
    """The t of each confidential column whose t-closeness is measured along its hierarchy."""

    def write(self, folder: str | Path, *, groups: bool = False) -> tuple[Path, ...]:
        """Write the hierarchies and the recipe into a folder, under names of our own making.

        Parameters
        ----------
        folder : str or Path
            It may exist; files of these names must not.
        groups : bool
            Whether each group publishes its own lowest common ancestors, which loses less. By default all
            records have the same levels, as in ARX.
        """
        place = Path(folder)
        names = file_names(self.trees)
        made = [place / names[column] for column in self.trees]
        there = [str(path) for path in (*made, place / "recipe.toml") if path.exists()]
        if there:
            raise WriteError(f"{', '.join(there)} exists already; name another folder")
        try:
            place.mkdir(parents=True, exist_ok=True)
            for path, tree in zip(made, self.trees.values(), strict=True):
                with placed(path) as temporary:
                    temporary.write_text(text_of_tree(tree), encoding="utf-8", newline="")
        except OSError as error:
            raise WriteError(f"cannot write to {str(place)!r}: {error.strerror}") from None
        files = dict(zip(self.trees, map(str, made), strict=True))
        self.recipe(files, groups=groups).save(place / "recipe.toml")
        return (*made, place / "recipe.toml")

    def recipe(self, files: Mapping[str, Any], *, groups: bool = False) -> Recipe:
        """Return the recipe; ``files`` maps columns to hierarchies, as paths or trees."""
        keys = [name for name in self.schema.keys if name in files]
        choices: dict[str, Any] = {"hierarchies": {name: files[name] for name in keys}} if keys else {}
        if self.project.suppression > 0.0:
            choices["suppress"] = min(self.project.suppression, MOST_SUPPRESSED)
        weights = {name: weight for name, weight in self.project.weights.items() if name in self.schema.keys}
        if groups:
            choices |= {"publish": dict.fromkeys(keys, "hierarchy")} if keys else {}
            weights = {name: weight for name, weight in weights.items() if weight > 0.0}
        if len(set(weights.values())) > 1:
            choices["importance"] = weights
        models = [*self.models]
        models += [TCloseness(t, "hierarchical", column, files[column]) for column, t in self.by_tree.items()]
        return Recipe(
            schema=self.schema,
            k=self.k,
            method="auto" if groups else "lattice",
            **choices,
            models=tuple(map(str, models)),
            reading=self.reading,
        )


def import_project(path: str | Path) -> Imported:
    """Translate a project file of ARX.

    Examples
    --------
    >>> made = import_project("hospital.deid")  # doctest: +SKIP
    >>> made.write("hospital")  # doctest: +SKIP
    """
    project = read_project(path)
    left: list[str] = []
    reading: dict[str, Any] = {}
    schema = Schema(tuple(_column(attribute, left) for attribute in project.attributes))
    made = Imported(project, schema, left=left, reading=reading)
    _dates(project, made)
    _trees(project, made)
    _criteria(project, made)
    _settings(project, made)
    return made


def text_of_tree(tree: Hierarchy) -> str:
    """Write a hierarchy as ARX does: each line has a value and its ancestors."""
    out = io.StringIO()
    csv.writer(out, delimiter=";", lineterminator="\n").writerows(tree.paths.values())
    return out.getvalue()


def copy_data(path: str | Path, target: Path) -> None:
    """Write the table inside a project file to a separate file."""
    with opened(Path(path)) as archive, placed(target) as temporary, temporary.open("wb") as file:
        for piece in archive.pieces("data/input.csv", DATA_LIMIT):
            file.write(piece)


def file_names(columns: Any) -> dict[str, str]:
    """Return a name for the hierarchy of each column: letters, digits and little else, all different.

    Examples
    --------
    >>> file_names(["age", "../age", "AGE"])
    {'age': 'age.csv', '../age': '_age.csv', 'AGE': 'AGE-2.csv'}
    """
    out: dict[str, str] = {}
    used: set[str] = set()
    for column in columns:
        plain = re.sub(r"[^\w-]+", "_", column)[:60] or "column"
        name, number = plain, 1
        while name.lower() in used:
            number += 1
            name = f"{plain}-{number}"
        used.add(name.lower())
        out[column] = f"{name}.csv"
    return out


def _column(attribute: Attribute, left: list[str]) -> Column:
    """Translate a column; the format of an ordinal column lists its values in order."""
    role = ROLES.get(attribute.role, "identifier")
    if attribute.role not in ROLES:
        left.append(f"column {attribute.name!r} has an unknown type: it is dropped, as an identifier")
    if attribute.datatype == "Ordinal":
        levels = tuple(dict.fromkeys(text.strip() for text in attribute.format.splitlines() if text.strip()))
        if len(levels) > 1:
            return Column(attribute.name, role, "ordinal", levels, note="declared")
        left.append(
            f"column {attribute.name!r} is ordinal, but the project gives no order: it is nominal here; "
            f"give the order ({hint('orders')}), or write the order into the recipe"
        )
    return Column(attribute.name, role, KINDS.get(attribute.datatype, "nominal"), note="declared")


def _dates(project: Project, made: Imported) -> None:
    formats = {
        attribute.format
        for attribute in project.attributes
        if attribute.datatype == "Date/Time" and attribute.format
    }
    plain = {text for text in formats if re.fullmatch(r"[dMy]+([./ -][dMy]+)*", text)}
    if len(formats) == 1 and plain:
        made.reading["date_format"] = plain.pop().lower()
    elif formats:
        wanted = hint("date_format")
        made.left.append(f"formats of dates ({', '.join(sorted(formats))}): say {wanted} where needed")


def _trees(project: Project, made: Imported) -> None:
    for attribute in project.attributes:
        rows = project.hierarchies.get(attribute.name)
        if rows is None or attribute.role not in ("QUASI_IDENTIFYING_ATTRIBUTE", "SENSITIVE_ATTRIBUTE"):
            continue
        try:
            made.trees[attribute.name] = Hierarchy(rows)
        except InputError as error:
            made.left.append(f"the hierarchy of {attribute.name!r}: {error}")
            continue
        made.taken.append(
            f"the hierarchy of {attribute.name!r}: {len(made.trees[attribute.name].values):,} values, "
            f"{made.trees[attribute.name].height} levels above them"
        )
    for attribute in project.attributes:
        if attribute.levels != ("All", "All") and attribute.name in made.trees:
            made.left.append(
                f"limits of the levels of {attribute.name!r} ({attribute.levels[0]} to "
                f"{attribute.levels[1]}): cut these levels from its hierarchy instead"
            )
        if attribute.aggregate:
            made.left.append(
                f"microaggregation of {attribute.name!r} by {attribute.aggregate}: voronym anonymize "
                f"publishes means of groups"
            )


def _criteria(project: Project, made: Imported) -> None:
    least = None
    for text in project.criteria:
        if match := re.fullmatch(r"(\d+)-anonymity", text):
            least = max(int(match[1]), least or 0)
            continue
        model = _model(text, made)
        if model is not None:
            made.models.append(model)
        if model is not None and "disclosure" in text:
            made.left.append(
                f"{text}: δ was turned from bits into nats; unlike in ARX, a class that lacks a value "
                "breaks it"
            )
        if model is not None and text.startswith("grassberger"):
            made.left.append(f"{text}: the entropy of the counts is asked for, not Grassberger's estimate")
    if least is None or least < 2:
        made.left.append(
            "no k-anonymity of 2 or more is asked for: the recipe asks for k = 2, the smallest possible"
        )
    made.k = max(2, least or 0)
    made.taken.append(", ".join([f"k-anonymity={made.k}", *map(str, made.models)]))
    made.taken += [f"t-closeness={t} of {column!r}, by its hierarchy" for column, t in made.by_tree.items()]


def _model(text: str, made: Imported) -> Model | None:
    """Return the model for a criterion; if there is none, note the reason and return None."""
    try:
        tree = re.fullmatch(rf"{_N}-closeness with hierarchical (?:ground-)?distance{_FOR}", text)
        if tree and tree[2] in made.trees:
            TCloseness(float(tree[1]))  # raises with the reason
            made.by_tree[tree[2]] = float(tree[1])
            return None
        for pattern, build in CRITERIA:
            if match := re.fullmatch(pattern, text):
                return _known(build(*match.groups()), made.schema)
    except (InputError, ValueError) as error:
        made.left.append(f"{text}: {error}")
        return None
    reason = next((explanation for word, explanation in REASONS if word in text.lower()), "not known here")
    made.left.append(f"{text}: {reason}")
    return None


def _known(model: Model, schema: Schema) -> Model:
    column = model.column
    if column not in schema.confidential:
        raise InputError(f"it is about {column!r}, which is no sensitive column of the project")
    return model


def _settings(project: Project, made: Imported) -> None:
    limit, most = project.suppression, MOST_SUPPRESSED
    if limit > most:
        made.left.append(
            f"a suppression limit of {percent(limit)}: less than half can be suppressed here, {percent(most)}"
        )
    elif limit > 0:
        made.taken.append(f"a suppression limit of {percent(limit)}")
    if project.metric:
        made.left.append(
            f"ARX's measure of quality, {project.metric}: voronym minimises the certainty penalty, which "
            "is ARX's Loss with suppressed records counted in full"
        )
