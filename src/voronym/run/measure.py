"""Measure any table, in memory or in many parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from numpy.typing import ArrayLike

from voronym.core.context import ProgressCallback
from voronym.core.validate import checked
from voronym.errors import InputError
from voronym.evaluate.measure import Attacks, Columns, Measurement
from voronym.evaluate.measure import measure as measure_table
from voronym.privacy import Model
from voronym.request.choices import RunChoices
from voronym.run.parts.measuring import measure_parts
from voronym.run.source import as_files, has_parts
from voronym.table.read import read

_ATTACKS = Attacks()


@checked
def measure(
    table: Any,
    *,
    keys: Sequence[str],
    confidential: Sequence[str] = (),
    original: Any = None,
    aligned: bool | ArrayLike = False,
    models: Model | str | Sequence[Model | str] | Mapping[str, Any] = (),
    population: Any = None,
    weights: str | None = None,
    sampling_fraction: float | None = None,
    suda: int | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    attack: Attacks = _ATTACKS,
    seed: int = 0,
    progress: ProgressCallback | None = None,
    reading: Mapping[str, Any] | None = None,
    original_reading: Mapping[str, Any] | None = None,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
    memory: int | str = "4GB",
    work: str | Path | None = None,
    **columns: Unpack[Columns],
) -> Measurement:
    """Measure the privacy of a table and, with its original, the risk and the loss.

    The table may come from any tool, and is not changed. For a data set of many parts, k, the models and the
    risk are counted over all rows of all files. Utility is estimated on random samples. Record linkage, which
    needs all pairs of records, is left out. ``notes`` say so.

    Parameters
    ----------
    table : DataFrame, str, Path or sequence of paths
        pandas, Polars or PyArrow, or a file that `voronym.read` reads: the table that is or will be released.
        A folder, a pattern or several files are a data set of many parts, which need not fit the memory.
    keys, confidential : sequences of str
        Columns that an intruder may know; columns that an intruder wants to learn.
    original : DataFrame, str, Path or sequence of paths, optional
        The table it was made from. It may have more columns, and rows in another order. Adds record linkage,
        interval disclosure and utility.
    aligned : bool or array
        True: row i of both tables is the same person. An array: the original row of each row of the table.
        Otherwise linkage has only an upper bound, and the information loss is unknown.
    models : sequence of Model or str
        Requirements on the table, such as ``"k-anonymity=5"``. Every other registered model is measured
        without a requirement.
    population : DataFrame, str or Path, optional
        The population that contains the table, for the journalist risk and the risk in the population.
    weights : str, optional
        The column of sampling weights, for the risk in the population: see `voronym.population_risk`.
    sampling_fraction : float, optional
        The share of the population that is in the table, instead of weights.
    suda : int, optional
        Most keys of a special unique to look for: see `voronym.suda`.
    hierarchies : mapping, optional
        Hierarchies of columns, for the loss by ranges: see `voronym.evaluate.penalty`.
    attack : Attacks
        Number of attacked originals, and the definition of a success.
    seed : int
        Seed of all samples.
    progress : callable, optional
        Called with a `voronym.Progress` now and then.
    reading, original_reading : mapping, optional
        Reading options of the files, as in `voronym.anonymize`.
    engine, address, workers, memory, work
        The engine for a data set of many parts, as in `voronym.anonymize`.
    **columns
        ``kinds``, ``orders``, ``locations``, ``person`` and ``household``, as for `voronym.anonymize`. With
        the last two, k and all models count people or households.

    Returns
    -------
    Measurement

    Raises
    ------
    InputError
        A column is unknown, the two tables have different columns, or aligned tables differ in length.

    Examples
    --------
    >>> import polars as pl
    >>> before = pl.DataFrame({"age": [20, 30, 60, 70], "ill": ["a", "b", "a", "b"]})
    >>> after = pl.DataFrame({"age": [25, 25, 65, 65], "ill": ["a", "b", "a", "b"]})
    >>> figures = measure(after, keys=["age"], confidential=["ill"], original=before, aligned=True)
    >>> figures
    Measurement(4 records, k=2, keys age, compared with its original)
    >>> figures.linkage.rate.value  # the right group each time, then one of two
    0.5
    """
    if has_parts(table):
        alone = {"population": population, "weights": weights, "sampling_fraction": sampling_fraction,
                 "suda": suda, "hierarchies": hierarchies, "person": columns.get("person"),
                 "household": columns.get("household")}  # fmt: skip
        given = [name for name, value in alone.items() if value is not None]
        if given or aligned is not False:
            named = given[0] if given else "aligned"
            raise InputError(f"{named} is for single tables, not for data sets of many parts: leave it out")
        run = RunChoices(
            memory=memory,
            **{name: value for name, value in {"address": address, "workers": workers, "work": work}.items()
               if value is not None},  # type: ignore[arg-type]
        )  # fmt: skip
        with as_files(table, None) as files, as_files(original, None) as before:
            return measure_parts(
                files,
                keys=keys,
                confidential=confidential,
                original=before,
                models=models,
                reading=reading,
                original_reading=original_reading,
                engine=engine,
                run=run,
                seed=seed,
                progress=progress,
                **columns,
            )
    return measure_table(
        _opened(table, reading),
        keys=keys,
        confidential=confidential,
        original=_opened(original, original_reading),
        aligned=aligned,
        models=models,
        population=population,
        weights=weights,
        sampling_fraction=sampling_fraction,
        suda=suda,
        hierarchies=hierarchies,
        attack=attack,
        seed=seed,
        progress=progress,
        **columns,
    )


def _opened(data: Any, reading: Mapping[str, Any] | None) -> Any:
    """Return a table, read from its file if reading options were given."""
    return read(data, **reading) if reading and isinstance(data, (str, Path)) else data
