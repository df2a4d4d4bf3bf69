"""Fill the templates: the style of the report, every text escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from voronym.report.svg import clean
from voronym_location.pages.guards import FIELD, form_token

KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
OURS = frozenset({"style.css", "place.js", "clear.svg", "icon.svg"})


def fill(template: str, secret: str, **data: object) -> str:
    """Return a page whose forms carry the token for ``secret``."""
    field = Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, form_token(secret))
    return _environment().get_template(template).render(token_field=field, Markup=Markup, **data)


def static(name: str) -> tuple[bytes, str] | None:
    """Return a static file and its type; None for an unknown name."""
    return _static(name) if name in OURS else None  # invented names are not cached


@cache
def _static(name: str) -> tuple[bytes, str]:
    folder = files("voronym_location.pages") / "static"
    if name == "style.css":
        house = files("voronym.report") / "templates" / "style.css"
        return house.read_bytes() + b"\n" + (folder / "pages.css").read_bytes(), KINDS["css"]
    return (folder / name).read_bytes(), KINDS[name.rpartition(".")[2]]


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("voronym_location.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_tame,
    )


def _tame(value: object) -> object:
    """Remove characters that would reverse a line from every text, as the report does."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
