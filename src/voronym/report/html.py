"""A self-contained HTML page about a release. It reads a dossier and computes nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    PackageLoader,
    PrefixLoader,
    StrictUndefined,
    Template,
)
from markupsafe import Markup, escape

from voronym.core.atomic import placed
from voronym.core.context import Context
from voronym.core.formats import program_version
from voronym.dossier import Dossier, public_of
from voronym.errors import InputError, WriteError
from voronym.intruder import expose
from voronym.report import sections as _registered  # for its decorators
from voronym.report import write
from voronym.report.front import Front
from voronym.report.language import SOURCE, Messages, phrase, reader, term, today
from voronym.report.section import Audience, sections
from voronym.report.svg import clean, percent

if TYPE_CHECKING:
    from voronym.release import Release

__all__ = ["Part", "add_templates", "fill", "part", "render", "write_page", "write_report"]
_WORDS = ("groups", "channel", "dp", "records")
_FOLDERS: dict[str, BaseLoader] = {}
del _registered


@dataclass(frozen=True)
class Part:
    """A section on a page."""

    anchor: str
    title: str
    body: Markup
    shape: str = "wide"
    special: bool = False


@dataclass(frozen=True)
class About:
    """A page's facts about itself: title, file, publisher and date."""

    title: str
    data: str = ""
    publisher: str = ""
    date: str = ""

    @classmethod
    def of(
        cls,
        given: Release | Dossier,
        audience: Audience,
        title: str | None,
        publisher: str | None,
        date: str | None,
    ) -> About:
        """Collect the facts; a public page does not name the original file, and no page names its folder."""
        source = None if isinstance(given, Dossier) or audience == "public" else given.source
        data = "" if source is None else source.file
        return cls(
            title or (phrase("Release of {data}", data=data) if data else term("Release report")),
            data,
            publisher or "",
            today() if date is None else date,
        )


def render(
    given: Release | Dossier,
    *,
    audience: Audience = "internal",
    title: str | None = None,
    publisher: str | None = None,
    date: str | None = None,
    language: str = SOURCE,
) -> str:
    """Return a page about a release as HTML text.

    Guarantee: the page loads nothing from elsewhere and runs no script. The public page is made from the
    public part of the dossier: no original record, no original distribution, nobody's loss.

    Parameters
    ----------
    given : Release or Dossier
        The subject; for a release, the dossier is made first.
    audience : {"internal", "public"}
        The internal page compares with the originals; it is for the data holder. Without originals in
        memory it has the public sections only.
    title, publisher, date : str, optional
        Texts about the page, see `Release.report`.
    language : {"en", "de", "fr", "es"}
        Language of the reader. Texts of methods and steps are in English.

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
    result = given if isinstance(given, Dossier) else _of_release(given, audience)
    seen = result if audience == "internal" else result.outside()
    with reader(language, [column.name for column in seen.public.columns]):
        words = _words(seen)
        return fill(
            "release.html",
            about=About.of(given, audience, title, publisher, date),
            d=seen,
            words=words,
            kind=audience,
            front=Front.of(seen),
            sections=_parts(seen, audience, words),
        )


@dataclass(frozen=True)
class Pieces:
    """The words and some sections of a page, for a place with its own frame."""

    verdict: Markup
    support: Markup
    facts: Markup
    parts: Sequence[Part]


def pieces(dossier: Dossier, *, only: Sequence[str]) -> Pieces:
    """Return the words of the internal page, and its named sections."""
    words = _words(dossier)
    result = (_flow(words.verdict()), _flow(words.support()), Markup(words.facts()))  # noqa: S704 - a template's
    return Pieces(*result, _parts(dossier, "internal", words, only))


def _words(seen: Dossier) -> Any:
    """Return the words for the story of a release."""
    story = seen.public.story if seen.public.story in _WORDS else "other"
    return _environment().get_template(f"words/{story}.html").make_module({"d": seen, "p": seen.public})


def _parts(seen: Dossier, audience: Audience, words: Any, only: Sequence[str] | None = None) -> list[Part]:
    """Return the sections of a page in their order; without originals, only the public ones."""
    whose: Audience = audience if seen.inside is not None else "public"
    parts = []
    for item in sorted(sections.values(), key=lambda section: section.place):
        data = item.data(seen, whose) if only is None or item.name in only else None
        if data is not None:
            template = _template(item.template if item.source is None else None, item.source)
            parts.append(
                part(
                    item.anchor,
                    item.title,
                    template,
                    {**data, "d": seen, "words": words},
                    item.shape,
                    special=item.special,
                )
            )
    return parts


def _of_release(release: Release, audience: Audience) -> Dossier:
    """Return the dossier of a release; for the public only its public part."""
    if audience == "public" and release._dossier is None:
        return Dossier(public_of(release, Context()), None, release.recipe.versions)
    return release.dossier(attacked=True)


def part(
    anchor: str,
    title: str,
    template: str | Template,
    data: Mapping[str, object],
    shape: str = "wide",
    *,
    special: bool = False,
) -> Part:
    """Fill the template of a section; a ``title`` in its data replaces the argument."""
    made = _template(template, None) if isinstance(template, str) else template
    return Part(anchor, term(str(data.get("title", title))), Markup(made.render(data)), shape, special)  # noqa: S704


def style_sheet() -> str:
    """Return the style of all pages."""
    return _environment().get_template("style.css").render()


def fill(template: str, **data: object) -> str:
    """Fill the template of a page; texts are escaped, drawings are trusted."""
    return _environment().get_template(template).render(**data)


def write_report(
    given: Release | Dossier,
    path: str | Path,
    *,
    audience: Literal["internal", "public"] = "internal",
    title: str | None = None,
    publisher: str | None = None,
    date: str | None = None,
    language: str = SOURCE,
) -> Path:
    """Write the page to a file that appears complete or not at all.

    An internal page shows membership and reconstruction attacks, see `voronym.intruder`. It compares with
    the originals, so only the owner of the file may read it (mode 0600).
    """
    if audience == "internal" and not isinstance(given, Dossier):
        expose(given)
    page = render(given, audience=audience, title=title, publisher=publisher, date=date, language=language)
    return write_page(page, path, private=audience == "internal")


def write_page(text: str, path: str | Path, *, private: bool = False) -> Path:
    """Write a page to a temporary name, and move it to its place when complete."""
    target = Path(path)
    try:
        with placed(target, private=private) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WriteError(f"cannot write the report {target}: {error.strerror}") from None
    return target


def add_templates(package: str, folder: str = "templates") -> None:
    """Add the templates of another package under the names ``package/name.html``.

    They may extend ``page.html`` and import ``macros.html``.
    """
    _FOLDERS[package] = PackageLoader(package, folder)


# -- templates -------------------------------------------------------------------------------------------


def _template(name: str | None, source: str | None) -> Template:
    if source is not None:
        return _environment().from_string(source)
    return _environment().get_template(str(name))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=ChoiceLoader([PackageLoader("voronym.report", "templates"), PrefixLoader(_FOLDERS)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_tame,
        extensions=[Messages],
    )
    made.globals["program_version"] = program_version
    made.filters |= {
        "percent": percent,
        "fine": write.fine,
        "share": write.share,
        "nats": write.nats,
        "decimal": write.decimal,
        "number": write.cell,
        "names": write.names,
        "plural": write.plural,
        "whole": write.whole,
        "interval": write.interval,
        "measured": write.measured,
        "flow": _flow,
        "certain": lambda column: phrase("certain {column}", column=column),
        "worst_rung": lambda ladder: ladder.worded(phrase=phrase),
        "remedy": lambda rung: rung.helps(phrase=phrase),
        "items": _items,
        "code": _code,
        "start": _start,
        "repr": repr,
    }
    return made


def _tame(value: object) -> object:
    """Remove characters from template texts that XML forbids or that reverse the line."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _flow(text: str) -> Markup:
    """Return a template's lines as running text."""
    return Markup(re.sub(r"[ \t\n]+", " ", str(escape(text))).strip())  # noqa: S704


def _items(text: str) -> Sequence[Markup]:
    """Split the text of a template into items, one for each paragraph; skip empty ones."""
    result = (_flow(Markup(part)) for part in re.split(r"\n\s*\n", str(escape(text))))  # noqa: S704
    return [item for item in result if item]


def _code(text: str) -> Markup:
    """Return a text with its lines unchanged."""
    if isinstance(text, Markup):  # made by a template, so escaped already
        return text
    return Markup("\n").join(escape(clean(line)) for line in text.split("\n"))


def _start(text: str) -> str:
    """Return a text with a capital at its start."""
    return text[:1].upper() + text[1:]
