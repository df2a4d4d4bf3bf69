"""Privacy models, their findings, and the registry of models."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from voronym.core.registry import Registry
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.table.table import Table

if TYPE_CHECKING:
    from voronym.privacy.cells import Judge


@dataclass(frozen=True)
class Finding:
    """The result of a privacy model on a table.

    Parameters
    ----------
    model : str
        Name of the model, such as "k-anonymity".
    value : float
        The measured value.
    required : float or None
        The requirement; None if the model only measured.
    holds : bool
        Whether the table meets the requirement. True without a requirement.
    worst : tuple of dict
        The places furthest from the requirement, as counts. Never a person's values.
    detail : dict
        Further figures, JSON-able.
    about : str
        A few words about the value, such as the column; printed after it.
    strict : bool
        Whether the requirement itself is refused: the value must be below it.
    at_most : bool
        Whether the value must not be above the requirement, rather than not below it.
    additive : bool
        Whether the value is a sum over classes, rather than that of the worst class.

    Examples
    --------
    >>> print(Finding("k-anonymity", 3.0, 5.0, False))
    k-anonymity: 3, required 5: does not hold
    """

    model: str
    value: float
    required: float | None
    holds: bool
    worst: tuple[dict[str, object], ...] = ()
    detail: dict[str, object] = field(default_factory=dict)
    about: str = ""
    strict: bool = False
    at_most: bool = True
    additive: bool = False

    @property
    def columns(self) -> dict[str, dict[str, Any]] | None:
        """The figures of each confidential column; None if the model uses none."""
        given = self.detail.get("columns")
        return given if isinstance(given, dict) else None

    @property
    def column(self) -> str | None:
        """The worst of the confidential columns."""
        given = self.detail.get("column")
        return given if isinstance(given, str) else None

    @property
    def counted(self) -> str | None:
        """The counted unit, if it is not records: people or households."""
        given = self.detail.get("counted")
        return given if isinstance(given, str) else None

    def to_dict(self) -> dict[str, object]:
        """Return the finding as plain types for JSON.

        Infinite measures become None, and so does ``holds`` if nothing was required.
        """
        return {
            "model": self.model,
            "value": _finite(self.value),
            "required": self.required,
            "holds": None if self.required is None else self.holds,
            "worst": [_finite(place) for place in self.worst],
            "detail": _finite(self.detail),
        }

    def __str__(self) -> str:
        value = "infinite" if math.isinf(self.value) else f"{self.value:g}"
        about = f" ({self.about})" if self.about else ""
        if self.required is None:
            return f"{self.model}: {value}{about}"
        limit = f"{'below ' if self.strict else ''}{self.required:g}"
        verdict = "holds" if self.holds else "does not hold"
        return f"{self.model}: {value}{about}, required {limit}: {verdict}"


def _finite(data: Any) -> Any:
    """Return the data with None for every infinite or NaN float."""
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


Needs = Literal["sizes", "groups", "whole", "method"]
"""The part of a table that a model needs: group sizes, each group, the whole table, or its making."""


@runtime_checkable
class Model(Protocol):
    """A privacy model: it measures the released, decoded table, never the internals of a method.

    A model is built by its class, or by ``parse`` from the text after ``=`` in ``"name=text"``. Each
    model reads its own text, so it may have several parameters. ``str`` returns the whole text, and
    ``parse_model(str(m)) == m``; recipes rely on this.

    Attributes that a model does not declare come from `DEFAULTS` when it is registered; models derived
    from `voronym.privacy.text.TextModel` inherit them.
    """

    unasked: ClassVar[bool]
    """Whether the model can be measured on the table alone, and so is measured without a request."""

    @property
    def name(self) -> str:
        """The name in the registry."""
        ...

    @property
    def required(self) -> float | None:
        """The requirement on the table; None to measure only."""
        ...

    def measure(self, table: Table) -> Finding:
        """Measure a table."""
        ...

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Build the model from the text after ``=``; None if there is no ``=``."""
        ...

    @property
    def needs(self) -> Needs:
        """The parts of a table it must see."""
        ...

    @property
    def additive(self) -> bool:
        """Whether its value is a sum over groups, so that a single group cannot satisfy it."""
        ...

    @property
    def confidential(self) -> bool:
        """Whether it concerns confidential columns, and compares groups with the whole table."""
        ...

    @property
    def column(self) -> str | None:
        """The confidential column it applies to; None for all columns, or for a model without one."""
        ...

    @property
    def weights(self) -> str | None:
        """The column of sampling weights that the model reads; None without one."""
        ...

    @property
    def group_size(self) -> int | None:
        """The group size it demands, if that is its only demand."""
        ...

    @property
    def merging(self) -> bool:
        """Whether groups are merged until it holds: then it has judges."""
        ...

    @property
    def strength(self) -> int:
        """The rank in listings: weaker promises come first."""
        ...

    def of_sizes(
        self,
        size: NDArray[np.int64],
        many: NDArray[np.int64],
        records: int,
        keys: Sequence[str],
        counted: str | None = None,
    ) -> Finding:
        """Return the finding from the number of groups of each size, for models that need only sizes."""
        ...

    def judges(self, table: Table) -> tuple[Judge, ...]:
        """Return the demands of enforcement on groups of people, or of rows if these are people."""
        ...

    def row_judges(self, table: Table) -> tuple[Judge, ...]:
        """Return the demands of enforcement on groups of rows."""
        ...


MODELS: Registry[type[Model]] = Registry("privacy model")
M = TypeVar("M", bound=type[Model])


def _none(model: Model, table: Table) -> tuple[Judge, ...]:  # noqa: ARG001 - whatever the table
    """Return no judges: groups are not changed for the model."""
    return ()


def _unsized(model: Model, *sizes: object, **more: object) -> Finding:
    """Refuse to measure by the sizes of groups alone."""
    raise NotImplementedError(f"{model.name} needs more than the sizes of groups")


DEFAULTS: Mapping[str, object] = {
    "needs": "groups", "additive": False, "confidential": False, "column": None, "weights": None,
    "group_size": None, "merging": False, "unasked": True, "strength": 9,
    "judges": _none, "row_judges": _none, "of_sizes": _unsized,
}  # fmt: skip
"""Defaults for attributes that a model does not declare."""


def register(name: str) -> Callable[[M], M]:
    """Register a class of models under the name that users type, and set its ``name``."""

    def add(cls: M) -> M:
        for attribute, usual in DEFAULTS.items():
            if not hasattr(cls, attribute):
                setattr(cls, attribute, usual)
        MODELS.add(name, cls)
        cls.name = name  # type: ignore[method-assign, assignment]
        return cls

    return add


def models() -> Mapping[str, type[Model]]:
    """Return the registered privacy models, by name.

    Examples
    --------
    >>> "k-anonymity" in models()
    True
    """
    return MODELS


@checked
def parse_model(text: str) -> Model:
    """Build a privacy model from ``"name"`` (measure only) or ``"name=value"`` (required).

    Examples
    --------
    >>> parse_model("k-anonymity=5")
    KAnonymity(k=5)
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    cls = MODELS[name]
    if equals and not value:
        raise InputError(f"{text!r} has nothing behind '='; write {name}=VALUE, or {name} to measure only")
    return cls.parse(value if equals else None)


def beyond_sizes(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of models that look into groups, and so may have changed them."""
    return [
        finding
        for finding in findings
        if finding.required is not None and parse_model(finding.model).needs not in ("sizes", "method")
    ]


def summary(cls: type[Model]) -> str:
    """Return the first line of a model's docstring."""
    return (inspect.getdoc(cls) or "").split("\n", 1)[0]
