"""What `mixwood.sample` returns: the draws, and what to do with them.

Each method says what the user gets; how it is computed is in the module it asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from mixwood.draws import Draws

__all__ = ["Posterior"]


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Draws):
    """Draws from the posterior of a mixture, and all that a user does with them.

    Its arrays have axes (chain, draw): ``labels`` (and item), ``n_clusters``,
    ``log_joint``, ``u``, and ``alpha``, ``sigma``, ``theta`` where the prior has them.
    The parameters are those of `mixwood.draws.Draws`; `mixwood.sample` fills them in.

    Examples
    --------
    >>> import mixwood as mw
    >>> X, _ = mw.datasets.toy()
    >>> mw.sample(mw.Mixture(), X, draws=10, warmup=10, chains=2, seed=0,
    ...           progress=False)  # doctest: +ELLIPSIS
    <mixwood.Posterior: 2 chains x 10 draws of 1300 items; ...; Gaussian, NGGP>
    """

    def summary(self) -> Any:
        """Return a table of the scalar quantities, one row each.

        Returns
        -------
        pandas.DataFrame
            Columns ``mean, sd, q5, q95, ess_bulk, ess_tail, r_hat``; rows ``n_clusters``,
            ``log_joint``, ``log_u`` and the random ones of ``alpha, sigma, theta``. Where
            all draws are equal the last three columns say ``"constant"``.
        """
        from mixwood.summaries import summary

        return summary(self)

    def to_arviz(self, log_likelihood: bool = False) -> Any:
        """Return the draws as ArviZ wants them.

        Parameters
        ----------
        log_likelihood : bool
            Whether to add the group ``log_likelihood`` that ``arviz.loo`` needs. It costs
            about one Gibbs sweep a draw and keeps one number for each item and draw.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            The former from ArviZ before 1.0, the latter from then on. Group ``posterior``
            has ``n_clusters``, ``log_u`` and the prior's parameters; ``sample_stats`` has
            ``lp``, which is `log_joint`, and ``labels`` (dimension ``item``).
        """
        from mixwood.arviz_bridge import to_arviz

        return to_arviz(self, log_likelihood=log_likelihood)

    def save(
        self, path: str | PathLike[str], include_data: bool = True, overwrite: bool = False
    ) -> None:
        """Write everything to the folder `path`; `mixwood.load` reads it back.

        Parameters
        ----------
        path : str or path
            A folder, made if it does not exist.
        include_data : bool
            Whether to write `X` too. Without it, what needs the data (prediction, for
            example) is not possible after loading.
        overwrite : bool
            Whether to replace a posterior saved there before. Other files are never
            touched, and a folder with none of ours is refused.
        """
        from mixwood.runs.saving import save

        save(self, path, include_data=include_data, overwrite=overwrite)
