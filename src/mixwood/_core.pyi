"""The compiled core of mixwood."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray


class Interrupted(Exception):
    pass

class Interrupt:
    """
    Stops work, and counts the rows put in. In force in every thread that enters it with `with`, and for all later work of the chains that are made there.
    """

    def __init__(self) -> None: ...

    def stop(self) -> None:
        """End the work soon, with Interrupted; safe from any thread."""

    @property
    def done(self) -> int:
        """How many rows were put in."""

    def __enter__(self) -> Interrupt: ...

    def __exit__(self, kind: object | None, error: object | None, traceback: object | None) -> None: ...

class Family:
    """A conjugate family over the rows of a data set."""

    @property
    def n_rows(self) -> int: ...

    @property
    def statistic_size(self) -> int: ...

    @property
    def base_size(self) -> int:
        """How many numbers the learned base measure is; 0 where it is fixed."""

    @property
    def base(self) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """The learned base measure."""

    @property
    def latent_size(self) -> int:
        """How many entries of the rows are missing and filled in."""

    @property
    def latent(self) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """What the missing entries are filled in with."""

    def at(self, base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], latent: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Family:
        """
        The same rows under another base measure, filled in otherwise if that is given.
        """

    @property
    def has_atoms(self) -> bool:
        """
        Whether a cluster's parameters can be drawn, as the slice sampler must.
        """

    def statistics(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """The additive statistic of some rows."""

    def observe(self, statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: int) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """The statistic with one row more."""

    def forget(self, statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: int) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """The statistic with one of its rows fewer."""

    def merge(self, first: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """The statistic of two disjoint sets of rows."""

    def subtract(self, whole: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], part: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """The statistic of a set of rows without a subset."""

    def log_marginal_of(self, statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """log P(X_c) from a statistic, row constants left out."""

    def log_marginal(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """log P(X_c) of some rows, row constants left out."""

    def log_alone(self) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """
        log P(x_i) of every row, row constants left out; of what is known of it where entries are missing.
        """

    def leaves(self, statistics: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_apart: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], marks: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, leaf_of_row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, row_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Family:
        """
        The family of weighted leaves, each given by its statistic and sums; no two leaves with a mark of 1 are ever in one cluster. rows: which row of this family a leaf is, -1 where it is none or counts as more than one. leaf_of_row and row_weights, where something is learned from the rows of this family themselves: the leaf of each, -1 for none, and what it counts as.
        """

    def cluster_statistics(self, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """
        The statistics of clusters 0 to K-1, one per row; rows of negative labels are left out.
        """

    def log_predictive_table(self, statistics: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, end: int) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """
        log P(x_i | X_c), row constants left out, of the rows from first to before end against clusters that do not hold them, given by their statistics.
        """

def gaussian(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], r: float, nu: float, psi: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], fill: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Family:
    """
    Gaussian rows, centred on the prior mean, under a Normal-Wishart prior; fill is where their missing entries start.
    """

def gaussian_learned(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], spread: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], floor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tie_floor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], fraction: float, degrees: float, tau: float, nu_law: tuple[str, float, float, float, float], r_law: tuple[str, float, float, float, float], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fill: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Family:
    """
    Gaussian rows whose base measure is learned: Omega's lower triangle, ln nu', ln r.
    """

def noisy_gaussian(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], errors: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], r: float, nu: float, psi: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Family:
    """
    Gaussian rows seen with errors, given by lower triangular factors of their covariances; positions are all missing, as wide as the rows.
    """

def noisy_gaussian_learned(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], errors: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], spread: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], floor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tie_floor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], fraction: float, degrees: float, tau: float, nu_law: tuple[str, float, float, float, float], r_law: tuple[str, float, float, float, float], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Family:
    """The same with a learned base measure."""

def student_t(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], df: float, df_law: tuple[str, float, float, float, float], r: float, nu: float, psi: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Family:
    """
    Student t rows, centred on the prior mean, under a Normal-Wishart prior.
    """

def student_t_learned(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], df: float, df_law: tuple[str, float, float, float, float], spread: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], floor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tie_floor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], fraction: float, degrees: float, tau: float, nu_law: tuple[str, float, float, float, float], r_law: tuple[str, float, float, float, float], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Family:
    """
    Student t rows whose base measure is learned: Omega's lower triangle, ln nu', ln r; and ln df where its law is not fixed.
    """

def diagonal_gaussian(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], r: float, nu: float) -> Family:
    """Rows centred on the prior mean and in units in which psi is 1."""

def diagonal_gaussian_learned(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], floor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tie_floor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fraction: float, tau: float, nu_law: tuple[str, float, float, float, float], r_law: tuple[str, float, float, float, float], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Family:
    """Rows whose base measure is learned: ln omega, ln nu', ln r."""

def spherical_gaussian(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], r: float, nu: float) -> Family:
    """Rows centred on the prior mean and in units in which psi is 1."""

def spherical_gaussian_learned(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], floor: float, tie_floor: float, fraction: float, tau: float, nu_law: tuple[str, float, float, float, float], r_law: tuple[str, float, float, float, float], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Family:
    """Rows whose base measure is learned: ln omega, ln nu', ln r."""

def multinomial(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, beta: float, law: tuple[str, float, float, float, float] | None = None) -> Family:
    """Sparse rows of counts under a symmetric Dirichlet prior."""

def multinomial_leaves(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, beta: float, sizes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_apart: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], law: tuple[str, float, float, float, float] | None = None, marks: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Family:
    """
    Weighted leaves of such rows: the counts of each leaf's rows added up, and its sums.
    """

def categorical(codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pseudo_counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], law: tuple[str, float, float, float, float] | None = None, for_these_rows: bool = False) -> Family:
    """
    Independent categorical columns under Dirichlet priors; negative codes are missing. for_these_rows: categories that no row has may be kept as one.
    """

def poisson(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shapes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tied: bool = False, law: tuple[str, float, float, float, float] | None = None, exposures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Family:
    """
    Independent Poisson columns under Gamma priors; NaN entries are missing.
    """

def negative_binomial(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shapes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], size_law: tuple[str, float, float, float, float] | None = None, shape_law: tuple[str, float, float, float, float] | None = None, exposures: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Family:
    """
    Independent negative binomial columns under Beta priors; NaN entries are missing.
    """

def regression(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], r: float, g: float, nu: float, psi: float) -> Family:
    """
    Rows of predictors and, last, a target that is linear in them, NaN where it is missing.
    """

def regression_learned(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], floor: float, tie_floor: float, fraction: float, tau: float, slopes: float, nu_law: tuple[str, float, float, float, float], r_law: tuple[str, float, float, float, float], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Family:
    """The same with a learned base measure: ln omega, ln nu', ln r."""

def product(families: tuple[Family, ...], places: tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ...], n_rows: int) -> Family:
    """
    Families side by side, independent given the cluster. places[p][row]: the part's own number of a row, below 0 where the part has nothing for it.
    """

def custom(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_statistics: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], parameters: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_marginal: int, log_predictive: int, name: str, owner: object, laws: Sequence[tuple[str, float, float, float, float]] = [], draw: object | None = None, log_density: int = 0) -> Family:
    """
    A user's family, by the addresses of compiled functions (0 for none) that `owner` keeps, and a function that draws the parameters of a cluster: draw(n, statistic, parameters, capsule of numpy's bit generator), a list of numbers.
    """

def update_parameters(prior: str, alpha: tuple[float, float] | None, sigma: tuple[float, float] | None, theta: tuple[float, float] | None, values: Sequence[float], sizes: Sequence[float], bit_generator: object, gamma: tuple[str, float, float, float, float] | None = None) -> list[float]:
    """
    Move u and the random parameters once, given the sizes of the clusters. values: log_u, log_alpha, sigma, theta.
    """

class Chain:
    """One Markov chain over partitions."""

    def __init__(self, family: object, prior: str, alpha: tuple[float, float] | None, sigma: tuple[float, float] | None, theta: tuple[float, float] | None, start: Mapping[str, float], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bit_generator: object, sampler: str, options: Mapping[str, int], blank: bool = False, threads: int = 1, gamma: tuple[str, float, float, float, float] | None = None, groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, group_counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, group_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, gamma_per_group: bool = False) -> None:
        """
        alpha, sigma, theta: the two parameters of a hyperprior, or None where fixed; gamma: the law of -sigma, where that is positive; options: the numbers that the sampler of this name takes; blank: grow no tree, a state is about to be loaded; groups: of each row, from 0 on, or those of all leaves one after another with how many rows of each, leaf i's before group_ends[i].
        """

    def run(self, warmup: int, thin: int, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], log_joint: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], log_u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], log_alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sigma: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], seconds: float, first: int = 0, base: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, latent: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, groups: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> int:
        """
        Run until all draws are written, the seconds are over or stop() was called; return the iterations done. The arrays hold the draws from number `first` on.
        """

    def stop(self) -> None:
        """
        End the run soon; safe from any thread. Chains made under one Interrupt stop together.
        """

    def freeze(self) -> None:
        """End the warm-up: what the sampler has learned stays as it is."""

    def guide(self) -> dict[str, Any]:
        """
        The guide tree, nodes numbered depth first: each one's parent, leaves below, rows below (`size` of `rows` from `first` on), log P, log d and how likely it is a cluster apart; empty if the sampler has none.
        """

    def reports(self) -> list[dict[str, Any]]:
        """What each move did so far."""

    def state(self) -> dict[str, Any]:
        """The current labels and parameters."""

    def set_state(self, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_u: float, log_alpha: float, sigma: float, theta: float, groups: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """Put the chain into a state."""

    @property
    def group_size(self) -> int: ...

    @property
    def base_size(self) -> int: ...

    @property
    def base(self) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """The learned base measure."""

    def set_base(self, base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Give the chain another base measure."""

    @property
    def latent_size(self) -> int: ...

    @property
    def latent(self) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """What missing entries are filled in with."""

    def set_latent(self, latent: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Fill missing entries in otherwise."""

    def log_base(self) -> float:
        """
        The log density of the base measure under its hyperprior, constants left out.
        """

    def update_base(self, count: int = 1) -> None:
        """Move the base measure alone, given the clusters."""

    def iterate(self, count: int = 1) -> None:
        """Run some iterations and keep nothing."""

    def replicate(self, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], log_u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sigma: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], iterations: int, base: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, latent: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, groups: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> dict[str, Any]:
        """Run each of many starts for some iterations; return where each ended."""

    def log_joint(self) -> float:
        """log p(X, Pi, u | the prior's parameters), row constants left out."""

    def save_state(self) -> bytes:
        """
        The whole state as bytes, the random stream apart, which is the caller's.
        """

    def load_state(self, state: bytes) -> None:
        """
        Put the chain into a saved state; ValueError if it is none of a chain like this one.
        """

    @property
    def is_cut(self) -> bool:
        """Whether run() was stopped within an iteration: the chain cannot go on."""

    @property
    def iterations(self) -> int: ...

    @property
    def n_clusters(self) -> int: ...

    def check(self) -> None:
        """Recompute every invariant from scratch; raise if one does not hold."""

    def log_weights(self, row: int) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """One row's Gibbs log weights: clusters in list order, then a new one."""

    def log_ordinates(self, alone: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
        """
        log p(x_i | the other rows, their partition, u) of every row, row constants left out. Where rows have errors, given parameters of clusters that are drawn for it; `alone` then has the log densities of what has errors in a new cluster.
        """

GROWTH_LOG_U: float = -5.0

FEWEST_IN_BUCKETS: int = 32768

class Forest:
    """Trees over the rows of a family."""

    def __init__(self, family: object, prior: str, log_u: float, log_alpha: float, sigma: float, theta: float, rule: str, search: str = 'index') -> None: ...

    def insert(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Insert rows one by one, as IBHC does."""

    def insert_in_buckets(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> None:
        """
        Insert rows bucket by bucket, by the balanced rule; the same for any number of threads.
        """

    @property
    def takes_buckets(self) -> bool:
        """Whether rows of this family can be inserted in buckets."""

    def on_top(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Put each row on top of its nearest tree, or alone; never cut."""

    def agglomerate(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Join rows greedily, as BHC does, while d is at most 1."""

    def join_trees(self) -> None:
        """Join trees while two have a d of at most 1."""

    def collapse(self, max_leaves: int) -> None:
        """Turn tight subtrees into weighted leaves until so few are left."""

    def set_parameters(self, log_u: float, log_alpha: float, sigma: float, theta: float) -> None:
        """New values of u and the parameters; every potential is computed again."""

    def rebind(self, family: object, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Go on over other data: old row i is rows[i] there, -1 where it is not needed.
        """

    def export(self) -> dict[str, Any]:
        """The forest joined to one root, as flat arrays."""

    def leaves(self) -> dict[str, Any]:
        """Of `export` what needs no joining."""

    def labels(self) -> Annotated[NDArray[numpy.int32], dict(order='C')]:
        """
        The tree of each row, numbered as the rows come to them; -1 for rows that are not in.
        """

    def leaf_sums(self, first: int, last: int) -> dict[str, Any]:
        """
        Of some leaves all that is kept of their rows: sizes, sums and statistics.
        """

    def log_potential(self) -> float:
        """log phi of the tree that joins the forest to one root."""

    def check(self) -> None:
        """Recompute every invariant from scratch; raise if one does not hold."""

    @property
    def search_counts(self) -> tuple[int, int]:
        """
        With search='compared': how many searches, and in how many the index erred.
        """

    @property
    def n_trees(self) -> int: ...

    @property
    def n_leaves(self) -> int: ...

class PartitionSearch:
    """Randomized greedy searches for the partition of least expected loss."""

    def __init__(self, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: str, max_clusters: int) -> None: ...

    def run(self, bit_generator: object, start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, sweeps: int, rebuild: bool) -> Annotated[NDArray[numpy.int32], dict(order='C')]:
        """
        The labels that one search ends at; searches may run in several threads.
        """

    def polish(self, bit_generator: object, start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sweeps: int) -> Annotated[NDArray[numpy.int32], dict(order='C')]:
        """
        The labels after items that want to move have moved, from a start that is nearly best.
        """

    def stop(self) -> None:
        """End all searches; what they return then means nothing."""

def partition_losses(labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], candidate: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: str) -> Annotated[NDArray[numpy.float64], dict(order='C')]:
    """
    The loss of a candidate against every row of labels; items stand for `sizes` rows.
    """

@overload
def similarity_rows(labels: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, last: int, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def similarity_rows(labels: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, last: int, table: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Write rows first..last-1 of the co-clustering table, and their mirror."""

def instruction_set() -> str:
    """The instruction set whose kernels are in force."""
