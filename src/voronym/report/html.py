"""One self-contained HTML page about a release, or about a comparison of methods."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

from voronym.errors import InputError, WriteError
from voronym.report import comparison as comparisons
from voronym.report import internal, masks, public, tradeoff
from voronym.report.parts import Page, Section
from voronym.report.public import View
from voronym.report.story import Story

Audience = Literal["internal", "public"]


def render(release: Any, *, audience: Audience = "internal") -> str:
    """Return a page about a release as HTML text.

    Guarantee: the page loads nothing from elsewhere and runs no script. The public page is built from a
    `View` of the release: no original record, no original distribution, nobody's loss.

    Parameters
    ----------
    release : Release
        What to tell about.
    audience : {"internal", "public"}
        The internal page compares with the originals; it is for the data holder. Without originals in
        memory it has the public sections only.

    Returns
    -------
    str

    Examples
    --------
    >>> import voronym as vr
    >>> patients = vr.datasets.hospital(60, seed=1)
    >>> release = vr.anonymize(patients, keys=["age", "sex"], drop_undeclared=True, k=5)
    >>> page = render(release, audience="public")
    >>> "Every combination of keys is shared by at least" in page
    True
    """
    if audience not in ("internal", "public"):
        raise InputError(f"audience must be 'internal' or 'public', not {audience!r}")
    view = View.of(release)
    if audience == "public":
        return fill("report.html", public_page(view))
    return fill("report.html", internal_page(view, release))


def public_page(view: View) -> Page:
    """Put the public page together, from the view alone."""
    story = masks.story_of(view)
    if story is not None:
        notes = tuple(note for note in view.warnings if not _for_the_holder(note))
        return _masked_page(replace(view, warnings=notes), story)
    sections = [
        public.plane(view),
        public.risk(view),
        public.sizes(view),
        public.distributions(view),
        public.repeat(view),
        public.limits(view),
    ]
    return _page(view, sections, kind="public", banner="")


def internal_page(view: View, release: Any) -> Page:
    """Put the internal page together, from the view and the originals where they are in memory."""
    evidence = release._evidence
    if evidence is None:
        banner = "The originals are not in memory: this report has nothing to compare with."
        page = public_page(view)
        return Page(**{**page.__dict__, "kind": "internal", "banner": banner})
    banner = (
        "Internal: this page shows distributions of the original data and single records as dots. Do not "
        "publish it."
    )
    story = masks.story_of(view)
    if story is not None:
        return _masked_inside(replace(view, figures=release.figures), story, release, banner)
    sections = [
        internal.plane(evidence),
        internal.losses(evidence, view.loss, release.utility),
        internal.costs(release.costs),
        internal.risk(view, evidence),
        tradeoff.of_release(view, release),
        public.sizes(view),
        public.distributions(view, evidence.original),
        internal.statistics(release.utility),
        public.repeat(view, internal.steps(evidence), internal.fates(evidence), public=False),
        public.limits(view),
    ]
    return _page(view, sections, kind="internal", banner=banner)


def _masked_page(view: View, story: Story) -> Page:
    """Put the public page about a method without cells together."""
    sections = [
        *story.sections(view),
        public.plane(view),
        public.distributions(view),
        public.repeat(view, (), story.fates(view), done=story.done(view)),
        public.limits(view, story.limits(view)),
    ]
    return _page(view, sections, kind="public", banner="", story=story)


def _masked_inside(view: View, story: Story, release: Any, banner: str) -> Page:
    """Put the internal page about a method without cells together."""
    evidence = release._evidence
    sections = [
        *story.inside(view, release),
        tradeoff.of_release(view, release, **story.told(view, release)),
        public.distributions(view, evidence.original, words=story.moved),
        internal.statistics(release.utility, words=story.statistics),
        public.repeat(view, internal.steps(evidence), story.fates(view), public=False, done=story.done(view)),
        public.limits(view, story.limits(view)),
    ]
    return _page(view, sections, kind="internal", banner=banner, story=story)


def _for_the_holder(note: str) -> bool:
    """Say whether a warning is about the seed, which the public page does not tell."""
    return "was given a seed" in note


def render_comparison(comparison: Any, *, title: str = "Comparison of methods") -> str:
    """Return a page that compares methods as HTML text.

    Parameters
    ----------
    comparison : Comparison or iterable
        What `voronym.compare` gives; or rows, mappings or objects with ``method``, ``k``, ``loss`` (percent),
        ``linkage`` (share, or None), ``seconds``, ``cells`` and ``largest``.
    title : str
        Head of the page.

    Examples
    --------
    >>> row = dict(method="mdav", k=3, loss=5.7, linkage=0.2, seconds=0.1, cells=360, largest=5)
    >>> "mdav" in render_comparison([row])
    True
    """
    rows = getattr(comparison, "rows", comparison)
    plain = [dict(row) if isinstance(row, Mapping) else dict(vars(row)) for row in rows]
    extra = (getattr(comparison, "skipped", None), getattr(comparison, "plane", None))
    return fill("report.html", comparisons.page(plain, title, *extra))


def write_report(release: Any, path: str | Path, *, audience: Audience = "internal") -> Path:
    """Write the page to a file that appears whole or not at all."""
    return write_page(render(release, audience=audience), path)


def write_page(text: str, path: str | Path) -> Path:
    """Write a page beside its place and move it there when it is complete."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise WriteError(f"cannot write the report {target}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)  # mkstemp makes files for their owner alone
        Path(name).replace(target)
    except OSError as error:
        raise WriteError(f"cannot write the report {target}: {error.strerror}") from None
    finally:
        Path(name).unlink(missing_ok=True)
    return target


def fill(template: str, page: Page) -> str:
    """Fill a template; texts are escaped, drawings are our own."""
    return _environment().get_template(template).render(page=page)


def _page(
    view: View,
    sections: Sequence[Section | None],
    *,
    kind: str,
    banner: str,
    story: Story | None = None,
) -> Page:
    said = public if story is None else story
    versions = dict(getattr(view.recipe, "versions", None) or {})
    return Page(
        title="Release report",
        kind=kind,
        verdict=said.verdict(view),
        support=said.support(view),
        holds=all(f.holds for f in view.findings),
        facts=said.facts(view),
        banner=banner,
        warnings=view.warnings,
        sections=tuple(section for section in sections if section is not None),
        versions=tuple((str(name), str(value)) for name, value in versions.items()),
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("voronym.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
