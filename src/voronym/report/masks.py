"""Which story belongs to which mask."""

from __future__ import annotations

from collections.abc import Mapping

from voronym.report import perturbed, stirred
from voronym.report.public import View
from voronym.report.story import Story, unknown

STORIES: Mapping[str, Story] = {"channel": perturbed.STORY, "records": stirred.STORY}


def story_of(view: View) -> Story | None:
    """Return the story of the method that made a release; None where it made cells."""
    if not getattr(view.recipe, "masks", False):
        return None
    return STORIES.get(view.recipe.method) or unknown(view.recipe.method)
