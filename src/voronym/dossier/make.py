"""Build the dossier of a release: the only place that looks into a release and its evidence."""

from __future__ import annotations

from voronym.core.context import Context
from voronym.dossier.inside import inside_of
from voronym.dossier.parts import Dossier
from voronym.dossier.public import public_of
from voronym.release import Release


def dossier(release: Release, ctx: Context | None = None) -> Dossier:
    """Compute all figures about a release.

    Parameters
    ----------
    release : Release
        The release. Without originals in memory, the dossier has only a public part.
    ctx : Context, optional
        Hears how far the work is and may stop it.

    Returns
    -------
    Dossier
        The public part never looks at the evidence of the release.

    Examples
    --------
    >>> import voronym as vr
    >>> patients = vr.datasets.hospital(60, seed=1)
    >>> release = vr.anonymize(patients, keys=["age", "sex"], drop_undeclared=True, k=5)
    >>> found = dossier(release)
    >>> found.public.risk.k >= 5, found.inside.losses[0].key
    (True, 'age')
    """
    ctx = Context() if ctx is None else ctx
    release.prove(ctx.part(0.0, 0.2, stage="proving"))
    public = public_of(release, ctx.part(0.2, 0.3, stage="counting"))
    versions = {str(name): str(value) for name, value in (release.recipe.versions or {}).items()}
    evidence = release._evidence
    inside = None if evidence is None else inside_of(release, evidence, ctx.part(0.3, 1.0))
    return Dossier(public, inside, versions)
