"""The priors on partitions: normalized random measures and the Pitman-Yor process.

Each is a small frozen dataclass. A number fixes a parameter; a distribution of
`mixwood.hyper` puts a prior on it, and the chain then samples it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from mixwood import hyper
from mixwood._support.checks import moderate_number, probability, shown, whole_number
from mixwood._support.params import Settable

__all__ = [
    "NGGP",
    "DirichletProcess",
    "NormalizedInverseGaussian",
    "PitmanYor",
    "Prior",
]


def _mass(value: Any, name: str) -> float | hyper.Gamma:
    """Return a positive number or a Gamma hyperprior."""
    if isinstance(value, hyper.Gamma):
        return value
    if isinstance(value, hyper.Beta):
        raise TypeError(f"{name} must be a number or hyper.Gamma(shape, rate), got {shown(value)}")
    return moderate_number(value, name)


def _discount(value: Any, name: str) -> float | hyper.Beta:
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


def _mean(value: float | hyper.Gamma | hyper.Beta) -> float:
    """Return a fixed value, or the mean of its hyperprior: where a chain starts."""
    return value if isinstance(value, float) else value.mean


class _Common(Settable):
    """What all priors have: settable parameters, and what they say before seeing data."""

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
        >>> round(DirichletProcess(alpha=1.0).expected_clusters(1000), 2)
        7.49
        """
        from mixwood.priors.expected import expected_clusters  # pulls in scipy: only when asked

        return expected_clusters(self, whole_number(n, "n", at_least=1))  # type: ignore[arg-type]


@dataclass(frozen=True)
class DirichletProcess(_Common):
    """The Dirichlet process: clusters grow in proportion to their size.

    Parameters
    ----------
    alpha : float or hyper.Gamma
        Total mass, ``hyper.Gamma(2, 1)`` by default. The expected number of clusters grows like
        ``alpha * log(n)``.

    Notes
    -----
    As a normalized random measure, with Levy intensity ``alpha w^-1 e^-w``:
    ``psi(u) = alpha log(1+u)`` and ``kappa(k, u) = alpha Gamma(k) (1+u)^-k``.

    Examples
    --------
    >>> DirichletProcess(alpha=1.0)
    DirichletProcess(alpha=1.0)
    """

    alpha: float | hyper.Gamma = field(default_factory=lambda: hyper.Gamma(2, 1))
    parameters: ClassVar[tuple[str, ...]] = ("alpha",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", _mass(self.alpha, "alpha"))


@dataclass(frozen=True)
class NGGP(_Common):
    """The normalized generalized gamma process: many small clusters beside a few large.

    Parameters
    ----------
    alpha : float or hyper.Gamma
        Total mass, ``hyper.Gamma(2, 1)`` by default.
    sigma : float or hyper.Beta
        Discount in (0, 1), ``hyper.Beta(2, 4)`` by default. The number of clusters grows
        like ``n**sigma``.

    Notes
    -----
    Levy intensity ``alpha sigma / Gamma(1-sigma) w^(-1-sigma) e^-w``:
    ``psi(u) = alpha ((1+u)^sigma - 1)`` and
    ``kappa(k, u) = alpha sigma Gamma(k-sigma) / Gamma(1-sigma) (1+u)^(sigma-k)``.

    Examples
    --------
    >>> NGGP(alpha=1.0, sigma=0.5)
    NGGP(alpha=1.0, sigma=0.5)
    """

    alpha: float | hyper.Gamma = field(default_factory=lambda: hyper.Gamma(2, 1))
    sigma: float | hyper.Beta = field(default_factory=lambda: hyper.Beta(2, 4))
    parameters: ClassVar[tuple[str, ...]] = ("alpha", "sigma")

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", _mass(self.alpha, "alpha"))
        object.__setattr__(self, "sigma", _discount(self.sigma, "sigma"))


@dataclass(frozen=True)
class NormalizedInverseGaussian(_Common):
    """The normalized inverse Gaussian process: `NGGP` with ``sigma = 1/2``.

    Parameters
    ----------
    alpha : float or hyper.Gamma
        Total mass, ``hyper.Gamma(2, 1)`` by default.

    Examples
    --------
    >>> NormalizedInverseGaussian(alpha=2.0).sigma
    0.5
    """

    alpha: float | hyper.Gamma = field(default_factory=lambda: hyper.Gamma(2, 1))
    sigma: ClassVar[float] = 0.5
    parameters: ClassVar[tuple[str, ...]] = ("alpha", "sigma")

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", _mass(self.alpha, "alpha"))


@dataclass(frozen=True)
class PitmanYor(_Common):
    """The Pitman-Yor process with positive strength.

    Parameters
    ----------
    theta : float or hyper.Gamma
        Strength, ``hyper.Gamma(2, 1)`` by default.
    sigma : float or hyper.Beta
        Discount in (0, 1), ``hyper.Beta(2, 5)`` by default.

    Notes
    -----
    It is an `NGGP` whose mass is random, ``alpha ~ Gamma(theta/sigma, 1)``:
    integrating ``alpha`` and ``u`` gives the Pitman-Yor partition law. The chain
    keeps that latent ``alpha``, and a posterior reports it.

    Examples
    --------
    >>> round(PitmanYor(theta=1.0, sigma=0.5).expected_clusters(100), 2)
    20.65
    """

    theta: float | hyper.Gamma = field(default_factory=lambda: hyper.Gamma(2, 1))
    sigma: float | hyper.Beta = field(default_factory=lambda: hyper.Beta(2, 5))
    parameters: ClassVar[tuple[str, ...]] = ("alpha", "sigma", "theta")

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", _mass(self.theta, "theta"))
        object.__setattr__(self, "sigma", _discount(self.sigma, "sigma"))


Prior: TypeAlias = DirichletProcess | NGGP | NormalizedInverseGaussian | PitmanYor


def start_values(prior: Prior) -> dict[str, float]:
    """Return where a chain starts: fixed values, and means of hyperpriors.

    The latent ``alpha`` of Pitman-Yor starts at its mean given the others.

    Examples
    --------
    >>> start_values(NGGP(alpha=1.0))
    {'alpha': 1.0, 'sigma': 0.3333333333333333}
    """
    if isinstance(prior, PitmanYor):
        theta, sigma = _mean(prior.theta), _mean(prior.sigma)
        return {"alpha": theta / sigma, "sigma": sigma, "theta": theta}
    values = {"alpha": _mean(prior.alpha)}
    if not isinstance(prior, DirichletProcess):
        values["sigma"] = _mean(prior.sigma)
    return values


def as_prior(value: Any) -> Prior:
    """Return `value` if it is a prior, or raise a TypeError that says what is."""
    if isinstance(value, Prior):
        return value
    raise TypeError(
        "prior must be DirichletProcess, NGGP, NormalizedInverseGaussian or PitmanYor "
        f"(an instance, for example mw.NGGP()), got {shown(value)}"
    )
