"""The location anonymizer: people share a place *and a history* with k others, as long as they stay.

A trusted party knows the homes of its people, forms groups of k neighbours or more, and tells everybody one
place: their group's. It stands in for the home, under a pseudonym, with any provider and as often as one
likes; the service is not in the way of queries. People come and go.

The pure part, without server and without database:

``population``  `Population`: active people, where they live, in which group
``epochs``      `Settings`, `Standing`, `plan`: from one epoch to the next; ``renewing`` regroups small
                areas, ``designing`` whole towns; ``forming`` sees that groups obey, ``snapping`` where a
                place is put
``checking``    `check`: the promise, counted again before anything is published
``policies``    `cohort`, and what to compare it with: `reuse`, the paper's, and `afresh`
``intruders``   how many people share all that an intruder saw, for each kind of intruder
``town``        made-up towns
``simulate``    a town over epochs, and a page about it
``model``       a quantizer from public figures, with which devices help themselves; ``client`` is theirs

The promise. At every epoch, everybody who is served shares the whole history of their pseudonym with at least
k people who are active now. Nobody joins a group that lives; its place never moves; one that falls below k is
dissolved before anything is published, and its people wait with the newcomers for a new group, under new
pseudonyms. By induction, all members of a living group have published the same places ever since it was
formed, and they are k or more.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voronym_location._public import *  # noqa: F403
    from voronym_location._public import __all__ as __all__
else:
    FUNCTIONS = ("check", "plan")
    """Public names in small letters: all others are modules, which must not load the rest."""

    def __getattr__(name: str) -> Any:
        """Load the rest on first use: the help of the command line does without it."""
        if (name.startswith("_") and name != "__all__") or (name.islower() and name not in FUNCTIONS):
            raise AttributeError(f"module 'voronym_location' has no attribute {name!r}")
        from voronym_location import _public

        return getattr(_public, name)
