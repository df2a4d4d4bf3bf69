"""Models that are measured on every table without being requested."""

from __future__ import annotations

from collections.abc import Sequence

from voronym.privacy.base import MODELS, Model


def unasked(asked: Sequence[Model], *, confidential: bool, notes: list[str]) -> list[Model]:
    """Return the unrequested models that need the table alone, the weaker promises first.

    Parameters
    ----------
    asked : sequence of Model
        The requested models.
    confidential : bool
        Whether a confidential column is named; without one, models about such columns are omitted.
    notes : list of str
        Gets a sentence about the omitted models.
    """
    known = {model.name for model in asked}
    rest = [cls.parse(None) for name, cls in MODELS.items() if name not in known and cls.unasked]
    rest.sort(key=lambda model: (model.strength, model.name))
    if confidential:
        return rest
    gone = [model.name for model in rest if model.confidential]
    if gone:
        notes.append(f"not measured, since no confidential column is named: {', '.join(gone)}")
    return [model for model in rest if model.name not in gone]
