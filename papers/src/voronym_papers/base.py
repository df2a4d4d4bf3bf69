"""The registry of papers, and the entry point of their reproductions.

A paper lists its *exhibits*: all its tables and figures. *Experiments* measure them. An experiment is a
function ``(full, ctx) -> items``. It yields `Mark`, a published figure and ours, for the terminal and the
table in the documentation; and `Table`, `Chart`, `Picture` and `Highlight` for the page. One experiment may
show several exhibits. An exhibit that is a drawing or a definition has no experiment; its ``where`` names the
page of the documentation that covers it::

    PAPER = paper("toy", reference="A. Author: Toys (2001)", subject="Toys", exhibits=(
        Exhibit("Figure 1", "what a toy is", where="glossary.md"),
        Exhibit("Table 1", "distortion of four toys"),
    ))

    @PAPER.experiment("toys", "Four toys", shows=("Table 1",), data=True)   # data: needs VORONYM_DATA
    def toys(full: bool, ctx: Context) -> Iterator[Item]:
        yield Mark("Table 1", "D, k = 5", 0.122, measured, ".4f", within=0.0005, better="less", why="…")
        yield Table(...)

Quick runs of all papers together take less than six minutes, and a full experiment at most twenty: divide a
longer one into several experiments. Marks of the quick and the full run have the same ``exhibit`` and
``what``, so that they share a row; one of them may have rows that the other has not. Every mark with a
verdict other than "same" has its ``why``. ``voronym papers toy --full --item toys --store
papers/src/voronym_papers/results`` runs one experiment and keeps its result (`stored`); without ``--full`` it
keeps the quick figures. ``python -m pytest tests/papers/test_overview.py`` lists the gaps of the
documentation's table, and `make papers-table` writes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from time import perf_counter

from voronym.core.context import Context, ProgressCallback
from voronym.core.registry import Registry, meant
from voronym.errors import InputError, ReadError
from voronym_papers.executed import watched
from voronym_papers.items import Item
from voronym_papers.marks import Mark

Reproduce = Callable[[bool, Context], Iterator[Item]]


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of a paper: its name there, and its content.

    ``where`` names a page of the documentation if nothing is measured, as for a drawing of a concept or a
    glossary.
    """

    name: str
    what: str
    where: str = ""


@dataclass(frozen=True)
class Experiment:
    """One run, and the exhibits that it reproduces."""

    name: str
    title: str
    run: Reproduce
    shows: tuple[str, ...] = ()
    data: bool = False
    literal: bool = False
    """Whether it is the paper's experiment to the letter: its algorithm, start, stopping rule, data, draws
    and number of runs, with nothing added. It has no quick form. Details that the paper leaves open are in
    the figure's reason.
    """


@dataclass(frozen=True)
class Outcome:
    """The result of an experiment, and its time."""

    experiment: Experiment
    full: bool
    items: tuple[Item, ...]
    seconds: float
    called: frozenset[str] = frozenset()
    """Modules whose functions it called; empty if unknown."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The published figures, and ours."""
        return tuple(item for item in self.items if isinstance(item, Mark))


@dataclass(frozen=True)
class Paper:
    """A paper whose tables and figures can be computed again."""

    name: str
    reference: str
    subject: str
    exhibits: tuple[Exhibit, ...] = ()
    number: str = ""
    """A short number in addition to the name: "000"."""
    code: tuple[str, ...] = ()
    """Modules and packages that make its results: when they change, kept results are stale."""
    experiments: dict[str, Experiment] = field(default_factory=dict)

    def experiment(
        self, name: str, title: str, *, shows: Sequence[str] = (), data: bool = False, literal: bool = False
    ) -> Callable[[Reproduce], Reproduce]:
        """Register an experiment, as a decorator of a function ``(full, ctx) -> items``.

        Parameters
        ----------
        name : str
            Its name for `--item`.
        title : str
            Its heading.
        shows : sequence of str
            The exhibits that it reproduces.
        data : bool
            Whether it needs the reference files.
        literal : bool
            Whether it is the paper's experiment to the letter.
        """

        def register(function: Reproduce) -> Reproduce:
            known = {exhibit.name for exhibit in self.exhibits}
            if lacking := [show for show in shows if show not in known]:
                raise InputError(f"{self.name} has no exhibit called {lacking[0]!r}")
            self.experiments[name] = Experiment(name, title, function, tuple(shows), data, literal)
            return function

        return register

    def has(self, item: str | None, *, literal: bool = False) -> bool:
        """Return whether an experiment has that name, or shows that exhibit."""
        try:
            return bool(self.chosen(item, literal=literal))
        except InputError:
            return False

    def chosen(self, item: str | None, *, literal: bool = False) -> list[Experiment]:
        """Return the experiments with this name or for this exhibit; all of them without a name.

        With ``literal``, only experiments that follow the paper to the letter.
        """
        known_runs = [entry for entry in self.experiments.values() if entry.literal or not literal]
        if literal and not known_runs:
            raise InputError(f"{self.name} has no experiment that is run as published")
        if item is None:
            return known_runs
        asked = _plain(item)
        result = [
            experiment
            for experiment in known_runs
            if asked == _plain(experiment.name) or asked in {_plain(name) for name in experiment.shows}
        ]
        if not result and literal and self.has(item):
            raise InputError(f"{item} of {self.name} is not run as published; leave --as-published out")
        if not result:
            for exhibit in self.exhibits:
                if exhibit.where and asked == _plain(exhibit.name):
                    raise InputError(
                        f"{exhibit.name} of {self.name} has no numbers to compute ({exhibit.what}): the page "
                        f"{exhibit.where} of the documentation has it"
                    )
            known = [*self.experiments, *(e.name for e in self.exhibits if not e.where)]
            raise InputError(
                f"{self.name} has nothing to run that is called {item!r}; there are: {', '.join(known)}"
                f"{meant(item, known)}"
            )
        return result


PAPERS: Registry[Paper] = Registry("paper")


def paper(
    name: str,
    *,
    reference: str,
    subject: str,
    exhibits: Sequence[Exhibit] = (),
    number: str = "",
    code: Sequence[str] = (),
) -> Paper:
    """Register a paper; its experiments follow by `Paper.experiment`. ``subject`` heads the page.

    ``code`` names the modules and packages that make its results (`fingerprint`).
    """
    return PAPERS.add(name, Paper(name, reference, subject, tuple(exhibits), number, tuple(code)))


def named(name: str, item: str | None = None, *, literal: bool = False) -> list[Paper]:
    """Return the papers with a name or number, or whose names begin with it and a dash; or "all".

    Of several, those with ``item``, and with ``literal`` as published; if there is none, the last one.

    Examples
    --------
    >>> [one.name for one in named("pcl")]
    ['pcl-2011', 'pcl-2013']
    >>> [one.name for one in named("001")]
    ['icsm']
    """
    numbered = [entry for entry in PAPERS.values() if name and entry.number == name]
    if numbered:
        return numbered
    family = [element for key, element in PAPERS.items() if name == "all" or key.startswith(f"{name}-")]
    if name in PAPERS or not family:
        return [PAPERS[name]]
    return [member for member in family if member.has(item, literal=literal)] or family[-1:]


def reproduce(
    name: str,
    *,
    full: bool = False,
    item: str | None = None,
    literal: bool = False,
    watch: bool = False,
    progress: ProgressCallback | None = None,
) -> Iterator[Outcome]:
    """Compute the tables and figures of a paper again.

    Parameters
    ----------
    name : str
        The paper.
    full : bool
        Run as many cases and runs as the paper, which may take an hour. Otherwise only a minute or two,
        without literal experiments.
    item : str, optional
        One experiment, or the exhibit it shows ("Table 2"); all of them without it.
    literal : bool
        Only experiments that are the paper's to the letter.
    watch : bool
        Record which modules run, for results that are kept; it takes a fifth to a half of the time more.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.

    Yields
    ------
    Outcome
        The outcome of each experiment, as soon as it is done.

    Examples
    --------
    >>> "icsm" in PAPERS
    True
    """
    entry = PAPERS[name]
    chosen = entry.chosen(item, literal=literal)
    if not (full or literal):
        chosen = [run for run in chosen if not run.literal or item == run.name]
    return _outcomes(entry, chosen, full, watch, Context(progress=progress))


def _outcomes(
    entry: Paper, chosen: list[Experiment], full: bool, watch: bool, ctx: Context
) -> Iterator[Outcome]:
    from voronym import datasets

    if any(item.data for item in chosen) and not datasets.available():
        free = [experiment.name for experiment in entry.experiments.values() if not experiment.data]
        raise ReadError(
            f"the data sets of {entry.name} are not part of voronym: set VORONYM_DATA to the folder that "
            "holds census.csv, tarragona.csv, eia.csv and adult.csv, or to an address to fetch them from"
            + (f". Without them there are, by --item: {', '.join(free)}" if free else "")
        )
    for name in entry.code:
        import_module(name)  # what a module does when it is imported is no part of a run
    for number, element in enumerate(chosen):
        part = ctx.part(number / len(chosen), (number + 1) / len(chosen), stage=element.title)
        before = perf_counter()
        with watched() if watch else nullcontext(set[str]()) as called:
            items = tuple(element.run(full, part))
        yield Outcome(element, full, items, perf_counter() - before, frozenset(called))


def at(ctx: Context, stage: str, done: float) -> None:
    """Report the figure that is being computed."""
    ctx.part(done, 1.0, stage=stage).tell(0.0, whole=True)


def _plain(name: str) -> str:
    return name.lower().replace(" ", "").replace("-", "")
