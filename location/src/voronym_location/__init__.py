"""The location anonymizer: people share a place *and a history* with at least k - 1 others.

A trusted party knows the homes of people. It forms groups of at least k neighbours, and gives every member
the same place. Under a pseudonym, people send this place to any provider instead of their home, as often as
they like; the service sees no queries. People may join and leave at any time.

The pure part, without server and database:

``population``  `Population`: the active people, their homes, and their groups
``epochs``      `Settings`, `Standing`, `plan`: from one epoch to the next; ``renewing`` regroups small
                areas, ``designing`` whole towns; ``forming`` makes new groups, ``snapping`` their places
``checking``    `check`: count the promise again before anything is published
``policies``    `cohort`, the default; for comparison `reuse`, from the paper, and `afresh`
``intruders``   the number of people with the same history, for each kind of intruder
``town``        made-up towns
``simulate``    a town over epochs, and a page about it
``model``       a quantizer from public figures; devices find their cell by ``client``

The promise: at every epoch, everybody with a place shares the whole history of their pseudonym with at least
k people who are active now, including themselves. Nobody joins an existing group, and its place never moves.
A group below k is dissolved before anything is published; its people and the newcomers wait for a new group,
under new pseudonyms. By induction, all members of a group have published the same places since it was formed,
and there are at least k of them.
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
