"""Draws of rows in groups: how much each group has of each cluster."""

from __future__ import annotations

from typing import Any

from mixwood.posterior.described_draws import DescribedDraws

__all__ = ["GroupedDraws"]


class GroupedDraws(DescribedDraws):
    """Draws with the shares of the clusters in groups of rows; see `mixwood.Posterior`."""

    def group_weights(
        self,
        level: float = 0.9,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        draws: int = 1000,
    ) -> Any:
        """Return the share of each cluster of the point estimate in each group.

        Parameters
        ----------
        level : float
            The probability of the credible intervals, between 0 and 1.
        loss, min_size, seed
            Which point estimate, as `point_estimate` takes them; the seed is also that of the
            shares, which are drawn.
        draws : int
            At most this many draws of the partition are used, evenly spread over all.

        Returns
        -------
        pandas.DataFrame
            One row per group and cluster: ``mean``, ``low`` and ``high`` of the share, and
            ``rows``, how many items of the group are in the cluster of the estimate.
            ``group_weights()["mean"].unstack()`` has groups by clusters. What is left of 1 belongs
            to no cluster of the data.

        Notes
        -----
        A share is the weight of a component in the group, not the fraction of its rows: groups of
        few rows have wide intervals, and borrow nothing but the components from the others.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> model = mw.Mixture(prior=mw.FiniteMixture())
        >>> post = mw.sample(model, X, groups=list("aaabbb"), draws=50, seed=1, progress=False)
        >>> post.group_weights()["rows"].unstack()  # doctest: +NORMALIZE_WHITESPACE
        cluster  0  1
        group
        a        3  0
        b        0  3
        """
        from mixwood.posterior.groups import group_weights, groups_of

        groups_of(self, "group_weights")  # before the estimate, which takes time
        estimate = self.point_estimate(loss, min_size, seed)
        return group_weights(self, estimate, level=level, seed=seed, n_draws=draws)

    def compare_groups(
        self,
        a: Any,
        b: Any,
        level: float = 0.9,
        loss: str = "vi",
        min_size: int = 1,
        seed: Any = 0,
        draws: int = 1000,
    ) -> Any:
        """Return which clusters differ in share between two groups.

        Parameters
        ----------
        a, b
            The names of two groups.
        level, loss, min_size, seed, draws
            As for `group_weights`.

        Returns
        -------
        pandas.DataFrame
            One row per cluster, those whose difference is most certain first: the mean shares in
            ``a`` and ``b``, the mean ``difference`` with its interval ``low`` to ``high``, and the
            ``probability`` that the share in ``a`` is the larger.

        Examples
        --------
        >>> import mixwood as mw
        >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
        >>> model = mw.Mixture(prior=mw.FiniteMixture())
        >>> post = mw.sample(model, X, groups=list("aaabbb"), draws=50, seed=1, progress=False)
        >>> bool(post.compare_groups("a", "b").loc[0, "probability"] > 0.9)
        True
        """
        from mixwood.posterior.groups import compare_groups, groups_of

        groups = groups_of(self, "compare_groups")
        groups.index(a, "a"), groups.index(b, "b")
        estimate = self.point_estimate(loss, min_size, seed)
        return compare_groups(self, estimate, a, b, level=level, seed=seed, n_draws=draws)
