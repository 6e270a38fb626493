"""What every prior answers for itself, and the checks of parameters that priors share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Any, ClassVar

import numpy as np

from mixwood import hyper
from mixwood._support.checks import moderate_number, probability, shown, whole_number
from mixwood._support.numerics import exponential
from mixwood._support.params import Settable
from mixwood._support.types import FloatArray, IntArray
from mixwood.priors.values import PredictiveWeights, PriorDraws, PriorValues

__all__ = ["Prior", "checked_discount", "checked_mass", "mean"]

#: The core's values besides ``log_u``, in its order.
_CORE = ("log_alpha", "sigma", "theta")


@dataclass(frozen=True)
class Prior(Settable, ABC):
    """A prior on partitions, a normalized random measure given the core's values.

    A subclass is a frozen dataclass whose fields are numbers or hyperpriors. Nothing outside
    its file asks which prior it is.

    Attributes
    ----------
    kernel : str
        What the core calls it.
    parameters : tuple of str
        What it calls the core's ``alpha``, ``sigma`` and ``theta``, as far as it has them:
        a posterior reports these names. One that is no field is latent, and always drawn.
    aliases : tuple of str
        Short names on the command line.
    """

    kernel: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]]
    aliases: ClassVar[tuple[str, ...]] = ()

    def expected_clusters(self, n: int) -> float:
        """Return the prior expectation of the number of clusters among `n` items.

        Random parameters are integrated out by quadrature. Exact for the
        Dirichlet and Pitman-Yor processes at fixed parameters, to about six
        digits otherwise.

        Parameters
        ----------
        n : int
            How many items, at least 1.

        Returns
        -------
        float

        Examples
        --------
        >>> from mixwood.priors import DirichletProcess
        >>> round(DirichletProcess(alpha=1.0).expected_clusters(1000), 2)
        7.49
        """
        n = whole_number(n, "n", at_least=1)
        return 1.0 if n == 1 else _expected_clusters(self, n)

    @abstractmethod
    def _expected_clusters(self, n: int) -> float:
        """Return `expected_clusters` for at least two items."""

    # --- its parameters, and the values by which the core knows them

    @property
    def random_parameters(self) -> tuple[str, ...]:
        """Which of `parameters` the chain draws, rather than keeps fixed.

        Examples
        --------
        >>> from mixwood.priors import NGGP, PitmanYor
        >>> NGGP(alpha=1.0).random_parameters
        ('sigma',)
        >>> PitmanYor(theta=1.0, sigma=0.5).random_parameters
        ('alpha',)
        """
        return tuple(p for p in self.parameters if not isinstance(getattr(self, p, None), float))

    @abstractmethod
    def start_values(self) -> dict[str, float]:
        """Return where a chain starts: fixed values, and means of hyperpriors."""

    def core_name(self, name: str) -> str:
        """Return which of the core's values holds a parameter.

        Examples
        --------
        >>> from mixwood.priors import NGGP
        >>> NGGP().core_name("alpha")
        'log_alpha'
        """
        return _CORE[self.parameters.index(name)]

    def to_core(self, name: str, value: float) -> float:
        """Return the core's value for a parameter: the logarithm of a mass."""
        return log(value) if self.core_name(name) == "log_alpha" else value

    def from_core(self, name: str, values: FloatArray) -> FloatArray:
        """Return a parameter from the core's values of it."""
        return exponential(values) if self.core_name(name) == "log_alpha" else values

    def stored_name(self, name: str) -> str:
        """Return under which name draws of a parameter are stored, a mass as its logarithm.

        Examples
        --------
        >>> from mixwood.priors import NGGP
        >>> NGGP().stored_name("alpha")
        'log_alpha'
        """
        return f"log_{name}" if self.core_name(name) == "log_alpha" else name

    def stored(self, name: str, values: FloatArray) -> FloatArray:
        """Return draws as they are stored from the core's, or the other way round: the same."""
        return values

    def start(self, log_u: float = 0.0) -> PriorValues[float]:
        """Return `start_values` as the core's, at a given ``u``.

        Examples
        --------
        >>> from mixwood.priors import DirichletProcess
        >>> DirichletProcess(alpha=1.0).start()
        PriorValues(log_u=0.0, log_alpha=0.0, sigma=0.0, theta=0.0)
        """
        start = self.start_values()
        values = dict.fromkeys(_CORE, 0.0)
        values |= {self.core_name(name): self.to_core(name, start[name]) for name in start}
        return PriorValues(log_u, **values)

    def core_arguments(self) -> dict[str, Any]:
        """Return the prior as the core's chains take it.

        Its name, for each of alpha, sigma and theta the two numbers of a hyperprior or None,
        and where they start: sigma and theta as the core carries them, alpha itself. Where the
        core's sigma is ``-gamma``, also the law of a random gamma.
        """
        start = self.start_values()
        laws: dict[str, Any] = {"alpha": None, "sigma": None, "theta": None}
        values = {"sigma": 0.0, "theta": 0.0}
        for name in self.parameters:
            slot = self.core_name(name).removeprefix("log_")
            laws[slot] = _pair(getattr(self, name, None))
            values[slot] = start[name] if slot == "alpha" else self.to_core(name, start[name])
        return {"prior": self.kernel, **laws, "start": values}

    def for_groups(self, groups: int) -> Prior:
        """Return the prior as it is for rows in this many groups, one gamma resolved.

        Raises
        ------
        TypeError
            If the prior has no groups: all but a `mixwood.FiniteMixture`.
        """
        del groups
        raise TypeError(
            "groups= needs a prior whose components groups share, mw.FiniteMixture(), got "
            f"{self}: mw.Mixture(likelihood, mw.FiniteMixture())"
        )

    def draw_in_groups(self, codes: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw a partition of items whose groups are given, labels in order of appearance.

        Raises
        ------
        TypeError
            If the prior has no groups.
        """
        del rng
        self.for_groups(len(codes))  # says why
        raise NotImplementedError

    def values_per_group(self) -> int:
        """Return how many numbers a draw has for each group: the log of its u, and its own gamma.

        Examples
        --------
        >>> from mixwood import FiniteMixture, hyper
        >>> FiniteMixture(gamma=hyper.Gamma(1, 1)).values_per_group()
        1
        """
        return 1

    @property
    def largest_discount(self) -> float:
        """The largest that ``sigma`` can be: ``kappa(k, u)`` is finite for ``k > sigma`` only.

        Examples
        --------
        >>> from mixwood.priors import DirichletProcess, NGGP
        >>> DirichletProcess().largest_discount, NGGP(sigma=0.3).largest_discount
        (0.0, 0.3)
        """
        sigma = getattr(self, "sigma", 0.0)
        return sigma if isinstance(sigma, float) else 1.0

    # --- the random measure given the values

    @abstractmethod
    def psi(self, values: PriorValues[float]) -> float:
        """Return the Laplace exponent ``psi(u)``."""

    @abstractmethod
    def log_kappa(self, k: int, values: PriorValues[float]) -> float:
        """Return ``log kappa(k, u)``, the log weight of a cluster of `k` items."""

    def log_nonempty(self, values: PriorValues[float]) -> float:
        """Return the log probability that the measure has a jump: 0 if it has infinitely many.

        ``p(X, Pi, u)`` is given that it has one, hence divided by this probability.
        """
        return 0.0

    @abstractmethod
    def log_u_mode(self, values: PriorValues[float], n: int, clusters: float) -> float:
        """Return the mode of ``log u`` given the other values and how many clusters there are.

        That of ``u^n e^-psi(u) prod_c kappa(|c|, u)``, the density of ``log u``.
        """

    # --- the law of partitions

    @abstractmethod
    def predictive_weights(
        self, values: PriorValues[FloatArray], n: int, clusters: IntArray
    ) -> PredictiveWeights:
        """Return what the clusters of each draw weigh for one more row.

        ``(u/n) kappa(|c|+1, u) / kappa(|c|, u)``, and ``(u/n) kappa(1, u)`` for a new one.
        They sum to 1 only on average over the posterior of ``(Pi, u)``, not in each draw:
        dividing by their sum in each draw would be biased. Where ``u`` can be integrated out
        they do sum to 1, so there the integrated ones are returned.

        Parameters
        ----------
        values : PriorValues
            Of each draw.
        n : int
            How many rows are in the clusters.
        clusters : int array
            How many clusters each draw has.
        """

    @abstractmethod
    def draw(self, n: int, size: int, rng: np.random.Generator) -> PriorDraws:
        """Draw `size` times the parameters, a partition of `n` items and u, jointly.

        Examples
        --------
        >>> from mixwood.priors import PitmanYor
        >>> draws = PitmanYor().draw(5, 3, np.random.default_rng(1))
        >>> draws.labels.shape, draws.theta.shape
        ((3, 5), (3,))
        """


@lru_cache(maxsize=128)
def _expected_clusters(prior: Prior, n: int) -> float:
    """Return the expectation, kept: every tree of a chain's start asks for the same."""
    return prior._expected_clusters(n)


def checked_mass(value: Any, name: str) -> float | hyper.Gamma:
    """Return a positive number or a Gamma hyperprior."""
    if isinstance(value, hyper.Gamma):
        return value
    if isinstance(value, hyper.Beta):
        raise TypeError(f"{name} must be a number or hyper.Gamma(shape, rate), got {shown(value)}")
    return moderate_number(value, name)


def checked_discount(value: Any, name: str) -> float | hyper.Beta:
    """Return a number in (0, 1) or a Beta hyperprior."""
    if isinstance(value, hyper.Beta):
        return value
    if isinstance(value, hyper.Gamma):
        raise TypeError(f"{name} must be a number or hyper.Beta(a, b), got {shown(value)}")
    number = probability(value, name)
    if number < 1e-100:
        raise ValueError(
            f"{name} must be at least 1e-100 (near 0 use DirichletProcess), got {shown(value)}"
        )
    return number


def mean(value: float | hyper.Gamma | hyper.Beta) -> float:
    """Return a fixed value, or the mean of its hyperprior: where a chain starts."""
    return value if isinstance(value, float) else value.mean


def _pair(value: object) -> tuple[float, float] | None:
    """Return the two parameters of a hyperprior, or None for a fixed number."""
    if isinstance(value, hyper.Gamma):
        return value.shape, value.rate
    if isinstance(value, hyper.Beta):
        return value.a, value.b
    return None
