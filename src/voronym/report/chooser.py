"""A small chooser for notebooks: choices, and the release they make."""

from __future__ import annotations

from html import escape
from typing import Any

from voronym.errors import MissingExtraError, VoronymError
from voronym.release import Release
from voronym.report.notebook import release_html
from voronym.run.door import anonymize

LARGEST_K = 50
"""The largest k on the slider."""
PUBLISHED = {"their centre": None, "their median": "median", "ranges": "interval"}
DIFFER = "p-sensitive=2"


class Chooser:
    """Choices at hand in a notebook, and the release that they make; see `choose`.

    Parameters
    ----------
    table : frame or str
        The table, or its file.
    **choices
        As `anonymize` takes them.

    Attributes
    ----------
    release : Release
        The last release.
    choices : dict
        The choices of the last release.
    """

    def __init__(self, table: Any, **choices: Any) -> None:
        self._table, self.choices = table, choices
        self.release: Release = anonymize(table, **choices)

    def change(self, **changed: Any) -> Release:
        """Make the release with changed choices; None resets a choice, and a refusal changes nothing.

        Parameters
        ----------
        **changed
            As `anonymize` takes them.
        """
        after = {name: value for name, value in {**self.choices, **changed}.items() if value is not None}
        if after != self.choices:
            self.release = anonymize(self._table, **after)
            self.choices = after
        return self.release

    @property
    def call(self) -> str:
        """The call for the same release in a script."""
        return (
            f"vr.anonymize(table, {', '.join(f'{name}={value!r}' for name, value in self.choices.items())})"
        )

    def shown(self) -> str:
        """Return the notebook's view of the release: figures, ladder, and the call that makes it."""
        return f"{release_html(self.release)}<pre>{escape(self.call)}</pre>"

    def widget(self) -> Any:
        """Return the fields and their result as a widget."""
        widgets = _ipywidgets()
        most = max(2, min(LARGEST_K, self.release.rows // 2))
        k = widgets.IntSlider(
            value=self.choices.get("k") or 2, min=2, max=most, description="k", continuous_update=False
        )
        publish = widgets.Dropdown(options=list(PUBLISHED), description="publish")
        differ = widgets.Checkbox(value=False, description="two values of each secret in every group")
        out = widgets.HTML(value=self.shown())

        def renew(_: object) -> None:
            models = [model for model in self.choices.get("models") or [] if model != DIFFER]
            try:
                self.change(
                    k=k.value,
                    publish=PUBLISHED[publish.value],
                    models=([*models, DIFFER] if differ.value else models) or None,
                )
                out.value = self.shown()
            except VoronymError as error:
                out.value = f"<p><b>{escape(error.worded('python'))}</b></p>"

        fields = [k, publish, *([differ] if self.release.schema.confidential else [])]
        for field in fields:
            field.observe(renew, names="value")
        return widgets.VBox([widgets.HBox(fields), out])

    def _repr_mimebundle_(self, **given: Any) -> Any:
        return self.widget()._repr_mimebundle_(**given)


def choose(table: Any, **choices: Any) -> Chooser:
    """Choose k, publishing and shared secrets in a notebook that shows the risk and the loss.

    Parameters
    ----------
    table : frame or str
        The table, or its file.
    **choices
        As in `anonymize`; the first values of the fields.

    Returns
    -------
    Chooser
        A notebook shows it as fields. Its ``release`` is the one that was made last.

    Raises
    ------
    MissingExtraError
        ipywidgets is not installed.

    Examples
    --------
    >>> chooser = vr.choose(patients, keys=["age", "zip"], k=5)  # doctest: +SKIP
    >>> chooser.release.write("release.csv")  # doctest: +SKIP
    """
    _ipywidgets()
    return Chooser(table, **choices)


def _ipywidgets() -> Any:
    try:
        import ipywidgets
    except ImportError:
        raise MissingExtraError("the chooser needs ipywidgets: pip install 'voronym[notebook]'") from None
    return ipywidgets
