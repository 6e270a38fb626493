"""What `mixwood.sample` returns: the draws, and what to do with them.

Each method says what the user gets; how it is computed is in the module it asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from mixwood.draws import Draws

if TYPE_CHECKING:
    from mixwood.families.base import FloatArray

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

    def log_density(self, X: Any, per_draw: bool = False) -> FloatArray:
        """Return the log posterior predictive density of new rows, ``log p(x | X)``.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (m, d)
            New rows, as wide as the data. Missing entries are integrated out where the
            likelihood skips them.
        per_draw : bool
            Whether to return each draw's part instead of the density itself.

        Returns
        -------
        array of shape (m,), or (chain, draw, m) with `per_draw`
            The mean over all draws of the exponentials of the parts is the density. A part
            by itself is no density: it integrates to the draw's total weight over the mean
            total weight of all draws.

        Notes
        -----
        With the clusters ``c`` of a draw, the expectation being over all draws::

            p(x | X) = E[(u/n) {kappa(1,u) P(x) + sum_c kappa(|c|+1,u)/kappa(|c|,u) P(x | X_c)}]

        divided by the mean of the same expression without ``P(x)`` and ``P(x | X_c)``, which
        is 1 but for the noise of the draws. To normalize in each draw would be biased for
        every prior but the Dirichlet and Pitman-Yor processes; these have ``u`` integrated
        out, see `PitmanYor`. Every constant is included.

        Clusters that many draws share are computed once. The cost is that of comparing each
        new row with each distinct cluster, some 20 ns in two columns. ``n`` enters only
        through the statistics: one pass over the items for each draw.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> post = mw.sample(mw.Mixture(), X, draws=50, chains=1, seed=1, progress=False)
        >>> near, far = post.log_density([[0.1], [100.0]])
        >>> bool(near > far)
        True
        """
        from mixwood.prediction import log_density, log_density_per_draw

        return log_density_per_draw(self, X) if per_draw else log_density(self, X)

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
        from mixwood.storage import save

        save(self, path, include_data=include_data, overwrite=overwrite)
