"""Who does the tasks: this machine, a Dask cluster, a Spark cluster."""

from voronym.scale.runners.base import RUNNERS, LostError, Runner, runner

__all__ = ["RUNNERS", "LostError", "Runner", "runner"]
