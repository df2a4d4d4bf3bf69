"""Every model keeps the contract; the contract catches models that do not."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from voronym.privacy import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DifferentialPrivacy,
    Finding,
    KAnonymity,
    KMap,
    LDiversity,
    MutualInformation,
    PSensitive,
    TCloseness,
    base,
    models,
    register,
)
from voronym.privacy.contract import check_model

CASES = {
    "k-anonymity": (KAnonymity(3), lambda v: KAnonymity(int(v))),
    "p-sensitive": (PSensitive(2), lambda v: PSensitive(int(v))),
    "p-sensitive, one column": (PSensitive(2, column="label"), None),
    "l-diversity": (LDiversity(2), lambda v: LDiversity(int(v))),
    "entropy": (LDiversity(1.7, "entropy"), lambda v: LDiversity(v, "entropy")),
    "recursive": (LDiversity(2, "recursive", c=2), lambda v: LDiversity(2, "recursive", c=v)),
    "t-closeness": (TCloseness(0.3), TCloseness),
    "equal": (TCloseness(0.3, distance="equal"), lambda v: TCloseness(v, distance="equal")),
    "kl": (TCloseness(0.3, distance="kl"), lambda v: TCloseness(v, distance="kl")),
    "delta-disclosure": (DeltaDisclosure(1), DeltaDisclosure),
    "alpha-k": (AlphaK(0.5), AlphaK),
    "beta-likeness": (BetaLikeness(1), BetaLikeness),
    "enhanced": (BetaLikeness(1, kind="enhanced"), lambda v: BetaLikeness(v, kind="enhanced")),
    "k-map": (KMap(3), lambda v: KMap(int(v))),
    "delta-presence": (DeltaPresence(0.5), DeltaPresence),
    "mutual-information": (MutualInformation(0.2), MutualInformation),
    "bits": (MutualInformation(0.2, unit="bits"), lambda v: MutualInformation(v, unit="bits")),
    "dp": (DifferentialPrivacy(1.0), None),
    "joint": (MutualInformation(0.2, joint=True), lambda v: MutualInformation(v, joint=True)),
}
TREE = {f"secret-label-{i}": ("low" if i < 2 else "high", "all") for i in range(3)}


@pytest.mark.parametrize("name", CASES)
def test_contract(name):
    model, at = CASES[name]
    check_model(model, at=at)


def test_contract_of_a_taxonomy():
    check_model(
        TCloseness(0.3, column="label", taxonomy=TREE),
        at=lambda v: TCloseness(v, column="label", taxonomy=TREE),
    )


@pytest.mark.parametrize("name", sorted(models()))
def test_every_registered_model_measures_without_a_requirement(name):
    check_model(models()[name].parse(None))


@dataclass(frozen=True)
class Bad(PSensitive):
    """A model with one fault."""

    fault: str = ""

    def judge(self, levels):
        judge = super().judge(levels)
        if self.fault == "merging":  # fewest values: merging makes it worse
            return replace(judge, at_most=True)
        if self.fault == "rounding":
            return replace(judge, measure=lambda runs, levels: judge.measure(runs, levels) + len(runs.sizes))
        return judge

    def measure(self, table):
        result, frame = super().measure(table), table.frame
        if self.fault == "leak":
            return replace(result, worst=({"value": frame["label"][0]},))
        if self.fault == "order":
            return replace(result, value=float(sum(frame["key"][0].encode()) + len(set(frame["number"][:3]))))
        if self.fault == "verdict":
            return replace(result, holds=not result.holds)
        if self.fault == "infinite":
            return replace(result, detail={"x": "secret-label-1"})
        return result


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("merging", "merging"),
        ("rounding", "one cell alone"),
        ("leak", "shows a value"),
        ("infinite", "shows a value"),
        ("order", "order of the rows"),
        ("verdict", "contradicts its judges"),
    ],
)
def test_the_contract_catches(fault, message, monkeypatch):
    monkeypatch.setattr(base.MODELS, "_entries", dict(base.MODELS._entries))
    monkeypatch.setitem(base.MODELS._entries, "p-sensitive", Bad)
    with pytest.raises(AssertionError, match=message):
        check_model(Bad(2, fault=fault))


def test_the_contract_catches_a_text_that_builds_another_model():
    class Forgetful(PSensitive):
        def __str__(self):
            return "p-sensitive=3"

    with pytest.raises(AssertionError, match="text"):
        check_model(Forgetful(2))


def test_the_contract_catches_a_threshold_that_is_refused_when_met():
    with pytest.raises(AssertionError, match="exactly"):
        check_model(TCloseness(0.3), at=lambda v: TCloseness(v * (1 - 1e-6)))


def test_register_is_what_joins_a_model(monkeypatch):
    monkeypatch.setattr(base.MODELS, "_entries", dict(base.MODELS._entries))

    @register("never")
    @dataclass(frozen=True)
    class Never:
        """Never holds, and asks for nothing: a contradiction."""

        name = "never"
        required = None

        def measure(self, table):
            return Finding("never", float(np.float64(1.0)), None, False)

        def __str__(self):
            return "never"

        @classmethod
        def parse(cls, text):
            assert text is None
            return cls()

    with pytest.raises(AssertionError, match="nothing is required"):
        check_model(Never())
