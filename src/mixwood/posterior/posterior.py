"""What `mixwood.sample` returns: the draws, and what to do with them.

Each method says what the user gets; how it is computed is in the module it asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from mixwood.posterior.pictured_draws import PicturedDraws

__all__ = ["Posterior"]


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(PicturedDraws):
    """Draws from the posterior of a mixture, and everything a user does with them.

    Its arrays have axes (chain, draw): ``labels`` (and item), ``n_clusters``,
    ``log_joint``, ``u``, and ``alpha``, ``sigma``, ``theta``, ``rate``, ``gamma`` where the prior
    has them.
    The parameters are those of `mixwood.posterior.draws.Draws`; `mixwood.sample` fills them in.

    Examples
    --------
    >>> import mixwood as mw
    >>> X, _ = mw.datasets.toy()
    >>> mw.sample(mw.Mixture(), X, draws=10, warmup=10, chains=2, seed=0,
    ...           progress=False)  # doctest: +ELLIPSIS
    <mixwood.Posterior: 2 chains x 10 draws of 1,300 items; ...; Gaussian, NGGP>
    """

    def _repr_html_(self) -> str:
        from mixwood.report.notebook import posterior_card

        return posterior_card(self)

    def summary(self) -> Any:
        """Return a table of the scalar quantities, one row each.

        Returns
        -------
        pandas.DataFrame
            Columns ``mean, sd, q5, q95, ess_bulk, ess_tail, r_hat``; rows ``n_clusters``,
            ``log_joint``, ``log_u`` and the prior's random parameters. Where all draws are
            equal the last three columns are NaN. Its ``attrs`` say in a line what was given
            as ``weights`` and ``known``.
        """
        from mixwood.posterior.summary import summary

        return summary(self)

    # --- elsewhere

    def to_arviz(
        self,
        log_likelihood: bool = False,
        posterior_predictive: bool = False,
        rows: Any = None,
        clusters: Any = None,
        seed: Any = 0,
    ) -> Any:
        """Return the draws as ArviZ wants them.

        Parameters
        ----------
        log_likelihood : bool
            Whether to add the group ``log_likelihood`` that ``arviz.loo`` needs. It costs
            about one Gibbs sweep per draw and keeps one number for each item and draw.
        posterior_predictive : bool
            Whether to add the group ``posterior_predictive`` that ``arviz.plot_ppc`` draws: for at
            most 100 draws per chain, fewer of many rows, each row drawn anew from its cluster.
        rows : sequence of n names, or a table of n rows, optional
            What the rows are called, the coordinate ``item``: of a table of pandas its index.
            Numbers from 0 by default.
        clusters : True, sequence of str, or dict from int to str, optional
            Whether to add the coordinate ``cluster``, that of each row in the point estimate, by
            number or by these names.
        seed : int, SeedSequence, Generator or None
            Of the replicates.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            The former from ArviZ before 1.0, the latter from then on. Group ``posterior``
            has ``n_clusters``, ``log_u`` and the prior's parameters; ``sample_stats`` has
            ``lp``, which is `log_joint`, and ``labels`` (dimension ``item``); ``observed_data``,
            where the data are a table of numbers, has one variable per column, as
            ``posterior_predictive`` has; of more than 40 columns, one with dimension ``column``.
            Nothing is copied but what is computed.

        Raises
        ------
        MemoryError
            If there is no memory for the log likelihood: take fewer draws.
        """
        from mixwood.posterior.arviz import to_arviz

        return to_arviz(
            self, log_likelihood=log_likelihood, posterior_predictive=posterior_predictive,
            rows=rows, clusters=clusters, seed=seed,
        )  # fmt: skip

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
        from mixwood.store.save import save

        save(self, path, include_data=include_data, overwrite=overwrite)
