"""The tables and figures of published papers, compared with ours.

``base``       the registry of papers, exhibits and experiments; how to write an entry
``marks``      a published figure, ours, and the verdict
``items``      other results of an experiment: tables, charts, pictures
``fingerprint``  a digest of the code behind a result
``stored``     kept full and quick results, in ``results/``
``overview``   published, full and quick results side by side; the documentation's table

Each paper has its own package: `icsm` is Mortazavi and Jalili 2015, `pcl` is Rebollo-Monedero and others
2011 and 2013, `t_closeness` is Rebollo-Monedero and others 2010, `crowd` is the paper on mixed records.
Published figures are typed in with their place in the paper; ours are measured by each run.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voronym_papers._public import *  # noqa: F403
    from voronym_papers._public import __all__ as __all__
else:

    def __getattr__(name: str) -> Any:
        """Load the papers on first use of a name: the help of the command line works without them."""
        if name.startswith("_") and name != "__all__":
            raise AttributeError(f"module 'voronym_papers' has no attribute {name!r}")
        from voronym_papers import _public

        return getattr(_public, name)
