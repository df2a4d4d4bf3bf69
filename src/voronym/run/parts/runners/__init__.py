"""Where tasks run: this machine, a Dask cluster, a Spark cluster."""

from voronym.run.parts.runners import dask, local, spark  # noqa: F401 - they register themselves
from voronym.run.parts.runners.base import RUNNERS, LostError, Runner, runner

__all__ = ["RUNNERS", "LostError", "Runner", "runner"]
