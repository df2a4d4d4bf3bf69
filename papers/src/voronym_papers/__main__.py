"""Make stale or missing results again, from a checkout that is on the path but not installed.

``python -m voronym_papers --jobs 16`` runs the stale and missing experiments, in 16 processes.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

import typer


def stand_in(folder: Path) -> None:
    """Put the metadata of a checkout on the path, for this process and its children, as pip would."""
    from voronym_papers.fingerprint import version_of

    made = folder / "voronym.dist-info"
    made.mkdir()
    text = f"Metadata-Version: 2.1\nName: voronym\nVersion: {version_of('voronym')}\n"
    (made / "METADATA").write_text(text, encoding="utf-8")
    sys.path.append(str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(folder)]).strip(
        os.pathsep
    )


def main(words: list[str] | None = None) -> int:
    """Read the command line, run, and report failures."""
    from voronym.errors import VoronymError
    from voronym_papers import solvers  # noqa: F401 - registers what an installed plug-in would
    from voronym_papers._public import PAPERS
    from voronym_papers.base import named
    from voronym_papers.renewing import renew
    from voronym_papers.stored import FOLDER, stale, wanted

    parser = argparse.ArgumentParser(prog="python -m voronym_papers", description=__doc__.split("\n")[0])
    parser.add_argument("papers", nargs="*", default=["all"], help="names or numbers; all by default")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--store", type=Path, default=FOLDER, help="folder of the results")
    parser.add_argument("--only", choices=("full", "quick"), help="only full or only quick runs")
    parser.add_argument("--list", action="store_true", help="list stale and missing runs, and run nothing")
    chosen = parser.parse_args(words)
    try:
        papers = {entry.name: entry for name in chosen.papers for entry in named(name)}
        if chosen.list:
            for entry in papers.values():
                for name, full, seconds in wanted(entry, chosen.store):
                    typer.echo(f"{entry.name}, {name}, {'full' if full else 'quick'}: {seconds:.0f} s")
            return 0
        modes = {"full": (True,), "quick": (False,)}.get(chosen.only, (True, False))
        failed = renew(list(papers.values()), chosen.store, jobs=chosen.jobs, modes=modes, tell=typer.echo)
    except VoronymError as error:
        typer.echo(error, err=True)
        return 2
    left = sum(len(stale(entry, chosen.store)) for entry in PAPERS.values())
    typer.echo(f"{left} results are stale, {len(failed)} runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    with TemporaryDirectory() as _folder:
        try:
            version("voronym")
        except PackageNotFoundError:
            stand_in(Path(_folder))
        sys.exit(main())
