"""The draws of a run and the model they came from: what a `Posterior` is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import whole_number
from mixwood._support.labels import label_type
from mixwood._support.numbers import count
from mixwood._support.numerics import exponential
from mixwood.core import bind_family
from mixwood.input.groups import Groups
from mixwood.likelihoods.weighted_leaves import WeightedLeaves, item_sizes
from mixwood.model import Mixture
from mixwood.priors import PriorValues
from mixwood.run_spec import RunInformation, draw_vectors

if TYPE_CHECKING:
    from typing import Self

    from mixwood import _core
    from mixwood._support.types import Data, FloatArray, IntArray, Sizes
    from mixwood.core import MoveStatistics
    from mixwood.likelihoods.base import Likelihood, Parameters
    from mixwood.posterior.groups import GroupMixture
    from mixwood.posterior.predictive_mixture import PredictiveMixture

__all__ = ["Draws"]


@dataclass(frozen=True, eq=False, repr=False)
class Draws:
    """Draws from the posterior of a mixture; every array has axes (chain, draw).

    Parameters
    ----------
    labels : int array of shape (chain, draw, n)
        The cluster of each item, 0 to K-1 in order of appearance; kept in the smallest of
        int8, int16 and int32 that holds them.
    log_joint : array of shape (chain, draw)
        ``log p(X, Pi, u)`` given the prior's parameters, every constant included, hyperpriors
        left out.
    log_u : array of shape (chain, draw)
        The logarithm of the auxiliary variable ``u``.
    parameters : mapping of str to array of shape (chain, draw)
        The draws of the prior's random parameters as the core has them: ``log_alpha``,
        ``sigma``, ``theta``.
        Entries for parameters that are fixed, or that the prior does not have, are
        dropped.
    model : Mixture
        As the user gave it.
    resolved : Likelihood
        The likelihood of the rows, with every parameter explicit.
    X : array, csr_array, WeightedLeaves or None
        The data as the chain saw them, or None if they were not kept.
    stats : list
        For each chain, what each of its moves did: how often it was proposed and
        accepted, mean and standard deviation of its log ratio, seconds.
    settings : dict
        How the draws were made: sampler, draws, warmup, thin, chains, seed, versions, ...
    columns : tuple of str, optional
        The names of the columns of `X`, if it came as a table with names.
    of_leaves : bool
        Whether the items are weighted leaves: to be told where `X` is not kept.
    bases : array of shape (chain, draw, base_size), optional
        The draws of a learned base measure, as the core has them; `base` tells them by name.
    known : int array of shape (n,), optional
        The labels that were known, from 0 on, -1 where unknown: items of one label are together
        in every draw, those of different labels apart.
    latents : array of shape (chain, draw, missing entries), optional
        The draws of missing entries, as the core has them; `Posterior.imputed` has them in the
        units of the data.
    groups : Groups, optional
        The groups of the items, where they were given.
    group_values : array of shape (chain, draw, values), optional
        What the prior has for each group: the log of each ``u_j``, then every ``gamma_j`` if each
        group has its own. ``u`` is then the sum of all ``u_j``, ``gamma`` the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from mixwood.likelihoods import Poisson
    >>> from mixwood.priors import DirichletProcess
    >>> posterior = Draws(
    ...     labels=[[[0, 1, 0], [0, 0, 0]]], log_joint=[[-5.0, -6.0]], log_u=[[0.0, 1.0]],
    ...     parameters={}, model=Mixture(Poisson(shape=1.0), DirichletProcess(alpha=1.0)),
    ...     resolved=Poisson(shape=1.0, rate=[1.0]), X=None,
    ... )
    >>> posterior.n_clusters
    array([[2, 1]])
    >>> posterior
    <mixwood.Draws: 1 chain x 2 draws of 3 items; 1 to 2 clusters; Poisson, DirichletProcess>
    """

    labels: NDArray[np.signedinteger]
    log_joint: FloatArray
    log_u: FloatArray
    parameters: Mapping[str, FloatArray]
    model: Mixture
    resolved: Likelihood
    X: Data | WeightedLeaves | None
    stats: list[dict[str, MoveStatistics]] = field(default_factory=list)
    settings: RunInformation = field(default_factory=RunInformation)
    columns: tuple[str, ...] | None = None
    of_leaves: bool = False
    bases: FloatArray | None = None
    known: IntArray | None = None
    latents: FloatArray | None = None
    groups: Groups | None = None
    group_values: FloatArray | None = None

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.size:
            labels = _read_only(labels, np.dtype(label_type(int(labels.max()) + 1)).type)
        if labels.ndim != 3 or 0 in labels.shape:
            raise ValueError(
                "labels must have axes (chain, draw, item), none of them empty, "
                f"got shape {labels.shape}"
            )
        object.__setattr__(self, "labels", labels)
        for name in ("log_joint", "log_u"):
            object.__setattr__(self, name, self._draws(getattr(self, name), name))
        prior = self.model.prior
        wanted = [prior.core_name(name) for name in prior.random_parameters]
        absent = [name for name in wanted if name not in self.parameters]
        if absent:
            raise ValueError(
                f"parameters must hold draws of {', '.join(wanted)}; {', '.join(absent)} missing"
            )
        kept = {name: self._draws(self.parameters[name], name) for name in wanted}
        object.__setattr__(self, "parameters", kept)
        self._check_bases()
        if self.known is not None:
            object.__setattr__(self, "known", _read_only(self.known, np.int64))
            if self.known.shape != (self.n_items,):
                raise ValueError(
                    f"known must have {self.n_items} labels, one per item, got shape "
                    f"{self.known.shape}"
                )
        if self.X is not None:
            object.__setattr__(self, "of_leaves", isinstance(self.X, WeightedLeaves))
        if self.X is not None and self.X.shape[0] != self.n_items:
            raise ValueError(
                f"X must have {self.n_items} rows, one per label, got {self.X.shape[0]}"
            )
        self._check_latents()
        self._check_groups()
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))
            if not all(isinstance(name, str) for name in self.columns):
                raise ValueError(f"columns must be names, got {self.columns}")
            if self.X is not None and len(self.columns) != self.X.shape[1]:
                raise ValueError(
                    f"columns must name the {self.X.shape[1]} columns of X, got {len(self.columns)}"
                )

    def _check_bases(self) -> None:
        shape = (*self.labels.shape[:2], self.resolved.base_size)
        given = np.empty((*shape[:2], 0)) if self.bases is None else self.bases
        bases = _read_only(given, np.float64)
        if bases.shape != shape:
            raise ValueError(
                f"bases must have shape (chain, draw, base_size) = {shape}, got {bases.shape}"
            )
        object.__setattr__(self, "bases", bases)

    def _check_latents(self) -> None:
        if self.latents is None:
            return
        latents = _read_only(self.latents, np.float64)
        entries = draw_vectors(self.model, self.resolved, self.X).get("latent", 0)
        shape = (*self.labels.shape[:2], entries)
        if latents.shape != shape:
            raise ValueError(
                f"latents must have shape (chain, draw, missing entries) = {shape}, got "
                f"{latents.shape}"
            )
        object.__setattr__(self, "latents", latents if entries else None)

    def _check_groups(self) -> None:
        if self.groups is None:
            object.__setattr__(self, "group_values", None)
            return
        if self.groups.n_items != self.n_items:
            raise ValueError(f"groups must be of {self.n_items} items")
        wanted = draw_vectors(self.model, self.resolved, None, self.groups)["groups"]
        values = _read_only(np.empty(0) if self.group_values is None else self.group_values, float)
        shape = (*self.labels.shape[:2], wanted)
        if values.shape != shape:
            raise ValueError(
                f"group_values must have shape (chain, draw, values) = {shape}, got {values.shape}"
            )
        object.__setattr__(self, "group_values", values)

    def _draws(self, values: Any, name: str) -> FloatArray:
        array = _read_only(values, np.float64)
        if array.shape != self.labels.shape[:2]:
            raise ValueError(
                f"{name} must have shape (chain, draw) = {self.labels.shape[:2]}, got {array.shape}"
            )
        return array

    @property
    def n_chains(self) -> int:
        """How many chains."""
        return int(self.labels.shape[0])

    @property
    def n_draws(self) -> int:
        """How many draws per chain."""
        return int(self.labels.shape[1])

    @property
    def n_items(self) -> int:
        """How many items were clustered: the rows of `X`, or the leaves."""
        return int(self.labels.shape[2])

    @cached_property
    def item_sizes(self) -> Sizes:
        """How many rows each item stands for, shape (n_items,): 1, but for weighted items.

        Whole numbers, unless weights were given that are not.
        """
        if self.of_leaves:
            return item_sizes(self.data_for("counting the rows of leaves"))
        return np.ones(self.n_items, dtype=np.int64)

    @cached_property
    def loss_sizes(self) -> IntArray:
        """`item_sizes` as losses between partitions take them: whole numbers.

        Only ratios matter to a loss, so sizes that are not whole are rounded after they are
        multiplied by 1,000, or by less where there are very many rows.
        """
        sizes = self.item_sizes
        if sizes.dtype.kind == "i":
            return sizes.astype(np.int64)
        factor = min(1000.0, 2**30 / float(sizes.sum()))
        return np.maximum(np.rint(sizes * factor), 1).astype(np.int64)

    @cached_property
    def n_clusters(self) -> NDArray[np.int64]:
        """The number of clusters of each draw, shape (chain, draw)."""
        # Labels are in order of appearance, so they leave no gaps.
        return _read_only(self.labels.max(axis=2).astype(np.int64) + 1, np.int64)

    @property
    def u(self) -> FloatArray:
        """The auxiliary variable, ``exp(log_u)``, shape (chain, draw).

        Where that is beyond floating point it is a number near the largest (or smallest) one,
        never infinite: compute with `log_u`.
        """
        return exponential(self.log_u)

    @property
    def alpha(self) -> FloatArray:
        """The mass, shape (chain, draw); for `PitmanYor` the latent one."""
        return self.prior_parameter("alpha")

    @property
    def sigma(self) -> FloatArray:
        """The discount, shape (chain, draw)."""
        return self.prior_parameter("sigma")

    @property
    def theta(self) -> FloatArray:
        """The strength of `PitmanYor`, shape (chain, draw)."""
        return self.prior_parameter("theta")

    @property
    def rate(self) -> FloatArray:
        """The expected number of components of `FiniteMixture`, shape (chain, draw).

        That of a Poisson law, which is then given that there is one.
        """
        return self.prior_parameter("rate")

    @property
    def gamma(self) -> FloatArray:
        """The parameter of the Dirichlet weights of `FiniteMixture`, shape (chain, draw)."""
        return self.prior_parameter("gamma")

    def prior_parameter(self, name: str) -> FloatArray:
        """Return a parameter of the prior, fixed or drawn, shape (chain, draw).

        Parameters
        ----------
        name : str
            One of the prior's `parameters`.
        """
        prior = self.model.prior
        if name not in prior.parameters:
            raise AttributeError(
                f"this posterior has no {name}: its prior, {type(prior).__name__}, has only "
                f"{', '.join(prior.parameters)}"
            )
        if name not in prior.random_parameters:
            return np.full(self.labels.shape[:2], getattr(prior, name), dtype=np.float64)
        return prior.from_core(name, self.parameters[prior.core_name(name)])

    @property
    def base(self) -> Parameters:
        """Draws of the learned base measure by name, each with axes (chain, draw, ...).

        The prior of a cluster's parameters is part of the posterior unless it was fixed:
        ``covariance`` (or ``variance``), what the covariance of a cluster is expected to be, and
        ``nu``, how alike those of all clusters are (large: they share one), ``tau``, the variance
        of their centres over that of the data; ``beta`` for categories and words, ``shape`` for
        counts. Empty where all of it is fixed.

        Examples
        --------
        >>> import mixwood as mw
        >>> post = mw.sample(mw.Mixture(), [[0.0], [0.1], [9.0]], draws=10, seed=1, progress=False)
        >>> {name: values.shape for name, values in post.base.items()}
        {'covariance': (4, 10, 1, 1), 'nu': (4, 10), 'tau': (4, 10)}
        """
        assert self.bases is not None
        return self.resolved.base_draws(self.bases)

    @property
    def width(self) -> FloatArray:
        """The expected share of the data's variance that is within clusters, (chain, draw).

        Small: tight clusters far apart. Near 1: the clusters, if any, are hardly apart.
        """
        assert self.bases is not None
        found = self.resolved.base_width(self.bases) if self.bases.shape[-1] else None
        if found is None:
            raise AttributeError(
                "this posterior has no width: its likelihood, "
                f"{type(self.resolved).__name__}, does not learn the width of its clusters"
            )
        return found

    def base_scalars(self) -> dict[str, FloatArray]:
        """Return what is one number per draw of the learned base measure: `width`, ``nu``, ...

        Not ``tau``, which is hardly ever away from where its narrow law has it: that is in `base`.
        """
        assert self.bases is not None
        if self.bases.shape[-1] == 0:
            return {}
        width = self.resolved.base_width(self.bases)
        found = {} if width is None else {"width": width}
        axes = self.labels.ndim - 1
        own = {name: values for name, values in self.base.items() if name != "tau"}
        return found | {name: values for name, values in own.items() if values.ndim == axes}

    @property
    def log_alpha(self) -> FloatArray:
        """The logarithm of `alpha`, shape (chain, draw): exact where that is out of range."""
        alpha = self.alpha  # refused where the prior has none
        return self.parameters.get("log_alpha", np.log(alpha))

    def core_values(self) -> PriorValues[FloatArray]:
        """Return all values that the core carried, shape (chain, draw); 0 where it has no use."""
        prior, shape = self.model.prior, self.labels.shape[:2]
        values = dict.fromkeys(("log_alpha", "sigma", "theta"), np.zeros(shape))
        for name in prior.parameters:
            if name not in prior.random_parameters:
                fixed = prior.to_core(name, getattr(prior, name))
                values[prior.core_name(name)] = np.full(shape, fixed)
        return PriorValues(self.log_u, **{**values, **self.parameters})

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns of `X`: its own, or ``column 0``, ``column 1``, ..."""
        if self.columns is not None:
            return self.columns
        width = self.data_for("column_names").shape[1]
        return tuple(f"column {k}" for k in range(width))

    def thinned(self, draws: int) -> Self:
        """Return the same with at most this many draws per chain, evenly spaced.

        Examples
        --------
        >>> import mixwood as mw
        >>> post = mw.sample(mw.Mixture(), [[0.0], [9.0]], draws=10, seed=1, progress=False)
        >>> post.thinned(4).labels.shape, post.thinned(10) is post
        ((4, 4, 2), True)
        """
        if self.n_draws <= whole_number(draws, "draws", at_least=1):
            return self
        kept = np.linspace(0, self.n_draws - 1, draws).round().astype(np.int64)
        return replace(
            self,
            labels=self.labels[:, kept],
            log_joint=self.log_joint[:, kept],
            log_u=self.log_u[:, kept],
            parameters={name: values[:, kept] for name, values in self.parameters.items()},
            bases=None if self.bases is None else self.bases[:, kept],
            latents=None if self.latents is None else self.latents[:, kept],
            group_values=None if self.group_values is None else self.group_values[:, kept],
        )

    def family_for(self, purpose: str) -> _core.Family:
        """Return the compiled likelihood over the items, bound when first asked for."""
        self.data_for(purpose)
        return self._family

    @cached_property
    def _family(self) -> _core.Family:
        return bind_family(replace(self.model, likelihood=self.resolved), self.data_for("binding"))

    @cached_property
    def mixture(self) -> PredictiveMixture:
        """The predictive density as one mixture over the clusters of all draws, found once."""
        from mixwood.posterior.predictive_mixture import predictive_mixture  # which knows draws

        return predictive_mixture(self)

    @cached_property
    def group_mixture(self) -> GroupMixture:
        """The same for each group, where items come in groups."""
        from mixwood.posterior.groups import group_mixture  # which knows draws

        return group_mixture(self)

    def __getstate__(self) -> dict[str, Any]:
        found = (
            "_family",
            "mixture",
            "group_mixture",
        )  # compiled, or large: found again where they are needed
        return {name: value for name, value in self.__dict__.items() if name not in found}

    def data_for(self, purpose: str) -> Data | WeightedLeaves:
        """Return `X`, or raise a ValueError that says `purpose` needs it."""
        if self.X is None:
            raise ValueError(
                f"{purpose} needs the data X, and this posterior has none: it was saved with "
                "include_data=False; run it again, or save it with include_data=True"
            )
        return self.X

    def __repr__(self) -> str:
        few, many = int(self.n_clusters.min()), int(self.n_clusters.max())
        clusters = count("cluster", many) if few == many else f"{few:,} to {many:,} clusters"
        if self.known is not None:
            clusters += f", {count('known label', int(np.count_nonzero(self.known >= 0)))}"
        if self.groups is not None:
            clusters += f", {count('group', len(self.groups))}"
        return (
            f"<mixwood.{type(self).__name__}: {count('chain', self.n_chains)} x "
            f"{count('draw', self.n_draws)} of {count('item', self.n_items)}; {clusters}; "
            f"{type(self.resolved).__name__}, {type(self.model.prior).__name__}>"
        )


def _read_only(values: Any, dtype: type) -> NDArray[Any]:
    """Return `values` as an array that cannot be written to, sharing memory where possible."""
    view: NDArray[Any] = np.asarray(values, dtype=dtype).view()
    view.flags.writeable = False
    return view
