"""Demands on groups: how many share their keys, the remaining risk, and the models that hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voronym.core.options import number, one_of, option, whole
from voronym.core.percent import percent
from voronym.core.promise import meets
from voronym.errors import InputError, hint
from voronym.policy.base import Demand, Item, demand, text
from voronym.privacy import parse_model

if TYPE_CHECKING:
    from voronym.policy.case import Case
    from voronym.policy.complete import Draft
    from voronym.privacy import Finding

chance = number(0.0, 1.0)


def _chance(name: str, value: Any) -> float:
    """Check for a probability; 9 instead of 0.09 is refused."""
    try:
        return float(chance(name, value))
    except InputError:
        hint = ""
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 1 < value <= 100:
            hint = f"; {value:g} percent are written {value / 100:g}"
        raise InputError(f"{name} must be a probability from 0 to 1, not {value!r}{hint}") from None


def _model(name: str, value: Any) -> str:
    return str(parse_model(text(name, value)))


@demand("groups", "k", needed=("least",))
@dataclass(frozen=True)
class K(Demand):
    """Every combination of keys is shared by enough records."""

    least: int = option(5, "records, people or households that share it", check=whole(2))

    def judge(self, case: Case) -> Item:
        """Count the smallest class."""
        if not case.keys:
            return self.item(
                "open", "no keys are named", change=f"name them: {hint('keys')}", decide=case.keys_decide
            )
        result = case.risk.k
        fine = result >= self.least
        return self.item(
            "holds" if fine else "fails",
            f"k = {result:,}",
            evidence=f"counted over {case.keys_said}",
            change="" if fine else f"make larger groups: -k {self.least}",
            value=float(result),
            required=float(self.least),
            decide=case.keys_decide,
        )

    def complete(self, draft: Draft) -> None:
        """Require this k."""
        draft.need_k(self.least, self)


@demand("groups", "risk", needed=("most",))
@dataclass(frozen=True)
class GroupRisk(Demand):
    """The risk of re-identification stays below a threshold."""

    most: float = option(0.2, "the largest probability", check=_chance)
    intruder: str = option("prosecutor", "who looks", check=one_of("prosecutor", "journalist", "marketer"))
    figure: str = option("max", "the largest or the mean over all records", check=one_of("max", "mean"))

    def check(self) -> None:
        """Refuse a threshold that no table meets."""
        if self.most == 0.0:
            raise InputError("most must be above 0: a table with records in it has a risk")

    def about(self) -> tuple[Any, ...]:
        """Return the subject of the demand."""
        return (self.section, self.name, self.intruder, self.figure)

    def judge(self, case: Case) -> Item:
        """Compare the risk that the sizes of classes give."""
        if not case.keys:
            return self.item(
                "open", "no keys are named", change=f"name them: {hint('keys')}", decide=case.keys_decide
            )
        risk, bound, evidence = case.risk, "", f"counted over {case.keys_said}"
        if self.intruder == "journalist" and risk.journalist is not None:
            result = float(risk.journalist["mean" if self.figure == "mean" else "max"])
        elif self.intruder == "marketer" or self.figure == "mean":
            result = risk.marketer
        else:
            result = risk.prosecutor_max
        if self.intruder == "journalist" and risk.journalist is None:
            bound = "at most "
            evidence += (
                f"; without a table of the population, in which more people share them ({hint('population')})"
            )
        fine = bool(meets(result, self.most))
        least = math.ceil(1.0 / self.most - 1e-9)
        which = "largest" if self.figure == "max" and self.intruder != "marketer" else "mean"
        return self.item(
            "holds" if fine else "fails",
            f"{which} risk {bound}{result:.4f}",
            evidence=evidence,
            change="" if fine else f"make larger groups: -k {least}, by a method that makes groups",
            value=result,
            required=self.most,
            decide=case.keys_decide,
        )

    def complete(self, draft: Draft) -> None:
        """Require the k that bounds the risk."""
        least = math.ceil(1.0 / self.most - 1e-9)
        if self.figure == "max" and self.intruder == "prosecutor":
            draft.need_k(least, self)
        else:
            draft.wish_k(least, self)


@demand("groups", "model", needed=("model",))
@dataclass(frozen=True)
class Guarantee(Demand):
    """A privacy model holds for the confidential columns."""

    model: str = option("", "the model, such as l-diversity=2", check=_model)

    def about(self) -> tuple[Any, ...]:
        """Return the subject of the demand."""
        return (self.section, self.name, parse_model(self.model).name)

    def judge(self, case: Case) -> Item:
        """Measure the model."""
        if not case.confidential:
            return self.item(
                "nothing", "no confidential column", decide="that no column of the table is confidential"
            )
        if not case.keys:
            return self.item(
                "open", "no keys are named", change=f"name them: {hint('keys')}", decide=case.keys_decide
            )
        try:
            finding = next((item for item in case.findings if self._answers(item)), None)
            if finding is None and case.counted is not None:
                return self.item(
                    "open",
                    "not measured",
                    evidence="it was not requested for the run over many files",
                    change=hint("models", self.model),
                )
            if finding is None:
                finding = parse_model(self.model).measure(case.table)
        except InputError as error:
            return self.item("open", "not measured", evidence=str(error), decide=case.keys_decide)
        return self.item(
            "holds" if finding.holds else "fails",
            str(finding).removesuffix(": holds"),
            evidence=f"measured over {case.keys_said}; confidential: {', '.join(case.confidential)}",
            change="" if finding.holds else f"{hint('models', self.model)}",
            value=float(finding.value),
            required=None if finding.required is None else float(finding.required),
            decide=case.keys_decide,
        )

    def _answers(self, finding: Finding) -> bool:
        """Whether a finding is of this model, with at least the demanded strictness."""
        model = parse_model(self.model)
        return finding.model == model.name and finding.required == model.required

    def complete(self, draft: Draft) -> None:
        """Require the model if there is a confidential column and the user did not choose this model."""
        name = parse_model(self.model).name
        given = [parse_model(model).name for model in draft.models]
        if draft.of("confidential") and name not in given:
            draft.model(self.model, self)


@demand("groups", "sample", needed=("most",))
@dataclass(frozen=True)
class Sample(Demand):
    """The table is a sample of the population, and small enough."""

    most: float = option(0.1, "the largest share of the population", check=_chance)

    def judge(self, case: Case) -> Item:
        """Compare the sampling fraction with the limit, if it is known."""
        share = case.sampling_fraction
        if share is None:
            return self.item(
                "person", "not given",
                decide=f"that the table has at most {percent(self.most)} of the population",
                change=f"{hint('sampling_fraction', 'SHARE')}",
            )  # fmt: skip
        fine = bool(meets(share, self.most))
        return self.item(
            "holds" if fine else "fails",
            f"{percent(share)} of the population",
            evidence=f"as given by {hint('sampling_fraction')}",
            change="" if fine else "publish a sample of the records",
            value=share,
            required=self.most,
        )
