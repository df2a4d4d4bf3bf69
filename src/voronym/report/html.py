"""One self-contained HTML page about a release, or about a comparison of methods."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

from voronym.errors import InputError, WriteError
from voronym.report import comparison as comparisons
from voronym.report import internal, public, tradeoff
from voronym.report.parts import Page, Section
from voronym.report.public import View

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
    banner = (
        "Internal: this page shows distributions of the original data and single records as dots. Do not "
        "publish it."
    )
    return _page(view, sections, kind="internal", banner=banner)


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


def _page(view: View, sections: Sequence[Section | None], *, kind: str, banner: str) -> Page:
    versions = dict(getattr(view.recipe, "versions", None) or {})
    return Page(
        title="Release report",
        kind=kind,
        verdict=public.verdict(view),
        support=public.support(view),
        holds=all(f.holds for f in view.findings),
        facts=public.facts(view),
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
