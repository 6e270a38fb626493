"""Gaussians whose base measure is learned: what they take from data, draw and report."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import gamma, ks_2samp, kstest, norm, truncnorm

import mixwood as mw
from mixwood.core import make_chain
from mixwood.hyper import Beta, Gamma, LogNormal
from mixwood.likelihoods import learned_scale
from mixwood.likelihoods.learned import SPREAD_SD, LearnedScale, centre_spread, spread_sd
from mixwood.likelihoods.learned_scale import draw_expected_covariance, floor_matrix
from mixwood.likelihoods.spread import rounding
from mixwood.store.json_codec import decode, encode

GAUSSIANS = [mw.Gaussian, mw.DiagonalGaussian, mw.SphericalGaussian]
RNG = np.random.default_rng(3)
X = (RNG.normal(size=(60, 3)) @ RNG.normal(size=(3, 3))).round(1)


def is_below(a, b):
    """Tell whether b - a is positive semidefinite, but for rounding."""
    return np.linalg.eigvalsh(b - a)[0] >= -1e-12 * np.abs(b).max()


# --- what the data say


def test_defaults_are_those_of_the_contract():
    for kind in GAUSSIANS:
        open_ = kind()
        assert (open_.r, open_.nu, open_.mean, open_.scale) == (None, None, None, "learn")
        explicit = open_.resolve(X)
        entries = 3 if kind is mw.SphericalGaussian else 1  # of a row, about one variance
        assert (explicit.r, explicit.nu) == (None, LogNormal(10 * entries, 2))
        assert isinstance(explicit.scale, LearnedScale)
        assert explicit.resolve(X) == explicit
        fixed = kind(scale="data").resolve(X)
        assert (fixed.r, fixed.nu, fixed.base_size) == (0.1, 9 if kind is mw.Gaussian else 7, 0)


@pytest.mark.parametrize("kind", GAUSSIANS[:2])
def test_a_change_of_units_and_origin_changes_nothing(kind):
    """Diagonal A, any b: the numbers that a chain sees are the same."""
    units, origin = np.array([1e-3, 1.0, 2.5e5]), np.array([3.0, -7.0, 1e6])
    one, other = kind().resolve(X), kind().resolve(X * units + origin)
    square = np.outer(units, units) if kind is mw.Gaussian else units**2
    for name in ("covariance", "floor"):
        mine, theirs = getattr(one.scale, name), getattr(other.scale, name)
        np.testing.assert_allclose(theirs, mine * square, rtol=1e-6)
    np.testing.assert_allclose(other.start_base(), one.start_base(), rtol=1e-6, atol=1e-9)
    drawn = one.draw_base(np.random.default_rng(1))
    again = other.draw_base(np.random.default_rng(1))
    np.testing.assert_allclose(again, drawn, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(other.base_width(drawn), one.base_width(drawn), rtol=1e-6)
    key = "covariance" if kind is mw.Gaussian else "variance"
    there = other.base_draws(drawn)[key]
    np.testing.assert_allclose(there, one.base_draws(drawn)[key] * square, rtol=1e-6)


def test_a_round_cluster_follows_a_change_of_all_units():
    one, other = mw.SphericalGaussian().resolve(X), mw.SphericalGaussian().resolve(100 * X + 4)
    assert other.scale.covariance == pytest.approx(1e4 * one.scale.covariance)
    assert other.scale.floor == pytest.approx(1e4 * one.scale.floor)


@pytest.mark.parametrize(
    ("column", "step"),
    [
        ([0.0, 0.1, 0.3, 0.35], 0.0),  # no ties
        ([5.0, 5.0, 5.0], 0.0),  # constant
        ([1.0], 0.0),
        ([1.0, 2.0, 2.0, 3.0, 9.0], 1.0),  # gaps 1, 1, 6: their 10% quantile is 1
        ([0.1 + 0.2, 0.3, 0.4, 0.5], 0.1),  # equal but for rounding
        ([1.0, np.nan, 1.0, 3.0], 2.0),
        ([np.nan, np.nan], 0.0),
    ],
)
def test_rounding_steps(column, step):
    found = rounding(np.array(column)[:, None]).steps[0]
    assert found == pytest.approx(step)


@pytest.mark.parametrize("d", [1, 2, 7])
def test_the_floor_is_below_the_rounding_and_a_twentieth_of_the_data(d, seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        A = rng.normal(size=(d, d + 2))
        S = A @ A.T
        spread = S / np.sqrt(np.outer(np.diag(S), np.diag(S)))
        least = 10.0 ** rng.uniform(-6, 2, d)
        floor = floor_matrix(spread, least)
        assert is_below(floor, np.diag(least))
        assert is_below(floor, spread / 20)
        assert is_below(np.zeros((d, d)), floor)


def test_the_floor_of_rounded_data_is_what_rounding_makes():
    rng = np.random.default_rng(5)
    coarse = np.column_stack([rng.normal(scale=9, size=500).round(), rng.normal(size=500)])
    full = np.diag(mw.Gaussian().resolve(coarse).scale.floor)
    each = mw.DiagonalGaussian().resolve(coarse).scale.floor
    for floor in (full, each):
        assert floor[0] == pytest.approx(1 / np.pi, rel=0.1)
        assert floor[1] == pytest.approx(1e-6 * coarse[:, 1].var(ddof=1), rel=0.01)
    both = mw.SphericalGaussian().resolve(coarse).scale.floor
    assert both == pytest.approx(1 / (2 * np.pi), rel=0.1)


@pytest.mark.parametrize("kind", GAUSSIANS)
@pytest.mark.parametrize(
    "data",
    [X[:1], np.ones((5, 2)), np.column_stack([X[:, 0], np.full(60, 1 / 3)]), X[:2, :1],
     np.column_stack([X[:, 0], X[:, 0]]), np.repeat(np.eye(2), 4, axis=0)],
)  # fmt: skip
def test_one_row_and_constant_columns_give_numbers(kind, data, seed):
    rng = np.random.default_rng(seed)
    explicit = kind().resolve(data)
    base = explicit.draw_base(rng)
    values = [explicit.start_base(), base, explicit.base_width(base), explicit.row_constants(data)]
    values += [*explicit.base_draws(base).values(), explicit.simulate(np.array([0, 1, 1]), rng)]
    assert all(np.isfinite(value).all() for value in values)


# --- draws


def test_standardized_data_draw_from_the_hyperprior(seed):
    rng = np.random.default_rng(seed)
    nu_law = truncnorm(-np.log(10) / 2, np.log(2000) / 2, np.log(10), 2)
    width_law = gamma(1.5, scale=0.2 / 1.5)
    for kind in (mw.DiagonalGaussian, mw.SphericalGaussian):
        likelihood = kind().resolve_standard(2)
        draws = np.array([likelihood.draw_base(rng) for _ in range(3000)])
        assert kstest(np.exp(draws[:, 0]), width_law.cdf).pvalue > 1e-3
        shift = np.log(2) if kind is mw.SphericalGaussian else 0.0
        assert kstest(draws[:, -2] - shift, nu_law.cdf).pvalue > 1e-3
        assert kstest(draws[:, -1], norm(0, SPREAD_SD).cdf).pvalue > 1e-3
    likelihood = mw.Gaussian().resolve(X)
    draws = np.array([likelihood.draw_base(rng) for _ in range(3000)])
    assert kstest(draws[:, -2], nu_law.cdf).pvalue > 1e-3
    named = likelihood.base_draws(draws)
    expected = 0.2 * likelihood.scale.covariance
    sd = named["covariance"].std(axis=0) / np.sqrt(3000)
    assert np.all(np.abs(named["covariance"].mean(axis=0) - expected) < 4 * sd)
    # tr(W)/d of a Wishart with d + 2 degrees: a Gamma variable with d (d + 2)/2 as its shape
    law = gamma(7.5, scale=0.2 / 7.5)
    assert kstest(likelihood.base_width(draws), law.cdf).pvalue > 1e-3


def test_draws_stay_above_the_floor(seed):
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 3, (50, 6)).astype(float)
    for kind in GAUSSIANS:
        likelihood = kind().resolve(coarse)
        for _ in range(20):
            drawn = likelihood.base_draws(likelihood.draw_base(rng))
            floor = likelihood.scale.floor
            if kind is mw.Gaussian:
                assert is_below(floor, drawn["covariance"])
            else:
                assert np.all(drawn["variance"] >= floor * (1 - 1e-12))


def test_both_ways_to_draw_above_the_floor_agree(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    spread = np.array([[1.0, 0.6], [0.6, 1.0]])
    floor = floor_matrix(spread, np.array([0.3, 0.1]))

    def draws():
        found = np.array([draw_expected_covariance(spread, floor, rng) for _ in range(1000)])
        return np.array([found[:, 0, 0], found[:, 0, 1], np.linalg.det(found)])

    tried = draws()
    monkeypatch.setattr(learned_scale, "TRIES", 0)
    walked = draws()
    for one, other in zip(tried, walked, strict=True):
        assert ks_2samp(one, other).pvalue > 1e-3


def test_what_is_fixed_is_not_reported():
    shape = (4, 5)
    for kind, key in zip(GAUSSIANS, ("covariance", "variance", "variance"), strict=True):
        for r in (None, 0.3, Gamma(2, 4)):
            for nu in (None, 12.0, LogNormal(30, 1)):
                likelihood = kind(r=r, nu=nu).resolve(X)
                base = np.broadcast_to(likelihood.start_base(), (*shape, likelihood.base_size))
                drawn = likelihood.base_draws(base)
                assert ("nu" in drawn) == (nu != 12.0)
                assert ("r" in drawn) == (r == Gamma(2, 4))
                assert ("tau" in drawn) == (r is None)
                if r is None:
                    np.testing.assert_allclose(drawn["tau"], centre_spread(len(likelihood.mean)))
                assert drawn[key].shape[:2] == shape
                assert likelihood.base_width(base).shape == shape
                np.testing.assert_allclose(likelihood.base_width(base), 0.2)
                excess = 4 if kind is mw.Gaussian else 2
                entries = 3 if kind is mw.SphericalGaussian else 1
                if nu != 12.0:
                    np.testing.assert_allclose(
                        drawn["nu"], {None: 10 * entries}.get(nu, 30) + excess
                    )
                if r == Gamma(2, 4):
                    np.testing.assert_allclose(drawn["r"], 0.5)
                np.testing.assert_allclose(base[..., -1], np.log({None: 1, 0.3: 0.3}.get(r, 0.5)))
                if nu == 12.0:
                    np.testing.assert_allclose(base[..., -2], np.log(12 - excess))


def test_the_width_is_a_share_of_the_variance(seed):
    likelihood = mw.Gaussian().resolve(X)
    base = likelihood.draw_base(np.random.default_rng(seed))
    drawn = likelihood.base_draws(base)
    width = np.trace(np.linalg.solve(likelihood.scale.covariance, drawn["covariance"])) / 3
    assert likelihood.base_width(base) == pytest.approx(width)


def _statistics(likelihood, units, rows):
    """A cluster's statistics as the core returns them, in these units."""
    z = (rows - likelihood.mean) / units
    n, centre = len(z), z.mean(axis=0)
    scatter = (z - centre).T @ (z - centre)
    if isinstance(likelihood, mw.Gaussian):
        return np.array([n, *centre, *scatter[np.triu_indices(z.shape[1])]])
    if isinstance(likelihood, mw.DiagonalGaussian):
        return np.column_stack([np.full(3, n), centre, np.diag(scatter)]).ravel()
    return np.array([n, *centre, np.trace(scatter)])


@pytest.mark.parametrize("kind", GAUSSIANS)
@pytest.mark.parametrize("members", [0, 9])
def test_clusters_are_drawn_as_with_the_same_base_fixed(kind, members, seed):
    """Each cluster has its own base; given that, draws are those of a fixed prior."""
    rng = np.random.default_rng(seed)
    learned = kind(r=LogNormal(0.1, 1)).resolve(X)
    bases = np.array([learned.draw_base(rng) for _ in range(2)])
    square = learned.scale.covariance
    units = np.sqrt(np.diag(square) if kind is mw.Gaussian else square)
    rows, key = X[:members], "covariance" if kind is mw.Gaussian else "variance"

    def statistics(likelihood, units):
        if not members:
            return np.zeros(likelihood.statistic_size)
        return _statistics(likelihood, units, rows)

    drawn = learned.base_draws(bases)
    excess = drawn["nu"] - (4 if kind is mw.Gaussian else 2)
    for k in range(2):
        scale = excess[k] * drawn[key][k]
        fixed = kind(r=drawn["r"][k], nu=drawn["nu"][k], mean=learned.mean, scale=scale)
        own = np.sqrt(np.diag(scale) if kind is mw.Gaussian else scale)
        one = fixed.draw_parameters(statistics(fixed, own)[None], np.random.default_rng(7))
        other = learned.draw_parameters(
            statistics(learned, units)[None], np.random.default_rng(7), bases[[k]]
        )
        for name, values in one.items():
            np.testing.assert_allclose(other[name], values, rtol=1e-8)
    both = np.tile(statistics(learned, units), (4000, 1))
    many = learned.draw_parameters(both, rng, np.repeat(bases, 2000, axis=0))["mean"]
    first = learned.draw_parameters(both[:2000], rng, bases[0])["mean"]
    assert ks_2samp(many[:2000, 0], first[:, 0]).pvalue > 1e-3


def test_a_base_must_be_given_where_it_is_learned():
    likelihood = mw.Gaussian().resolve(X)
    with pytest.raises(ValueError, match="base must be given"):
        likelihood.draw_parameters(np.zeros((1, likelihood.statistic_size)), RNG)


def test_rows_are_drawn_with_the_base_given(seed):
    rng = np.random.default_rng(seed)
    likelihood = mw.DiagonalGaussian(nu=2000.0).resolve_standard(1)
    narrow = likelihood.start_base()
    narrow[0] = np.log(1e-4)
    rows = likelihood.simulate(np.zeros(500, dtype=np.int64), rng, narrow)
    assert rows.std() == pytest.approx(1e-2, rel=0.2)


def test_the_constants_are_the_units_of_the_data():
    variances = mw.DiagonalGaussian().resolve(X).scale.covariance
    expected = -0.5 * np.log(variances).sum()
    np.testing.assert_allclose(mw.Gaussian().resolve(X).row_constants(X), expected)
    holes = X.copy()
    holes[0, 1] = np.nan
    likelihood = mw.DiagonalGaussian().resolve(X)
    found = likelihood.row_constants(holes)
    assert found[1] == pytest.approx(expected)
    assert found[0] == pytest.approx(expected + 0.5 * np.log(variances[1]))
    spherical = mw.SphericalGaussian().resolve(X)
    assert spherical.row_constants(X)[0] == pytest.approx(-1.5 * np.log(spherical.scale.covariance))


# --- wrong parameters, files


@pytest.mark.parametrize("kind", GAUSSIANS)
@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"nu": Beta(1, 1)}, TypeError, "nu must be a positive number, or a distribution"),
        ({"r": "tied"}, TypeError, "r must be a positive number, or a distribution"),
        ({"nu": LogNormal(0.1, 1)}, ValueError, "nu is learned between 1 and 20000"),
        ({"nu": Gamma(1, 1e-6)}, ValueError, "nu is learned between 1 and 20000"),
        ({"r": LogNormal(1, 1), "scale": "data"}, ValueError, "r must be .* use scale='learn'"),
        ({"nu": LogNormal(9, 1), "scale": "data"}, ValueError, "nu must be .* use scale='learn'"),
        ({"nu": 2, "mean": [0]}, ValueError, "nu must be above"),
        ({"scale": "learned"}, ValueError, "scale must be 'learn'"),
        ({"r": 0}, ValueError, "r must be positive"),
    ],
)
def test_wrong_parameters_are_named(kind, given, error, match):
    with pytest.raises(error, match=match):
        kind(**given)


def test_nu_needs_an_expectation():
    with pytest.raises(ValueError, match="nu must be above d \\+ 1 = 4, got 4"):
        mw.Gaussian(nu=4).resolve(X)
    assert mw.Gaussian(nu=4, scale="data").resolve(X).nu == 4


@pytest.mark.parametrize(
    ("covariance", "floor"),
    [([[1.0]], [1.0]), ([1.0, np.nan], [0.1, 0.1]), (0.0, 0.0), (np.ones((2, 3)), np.ones((2, 3)))],
)
def test_malformed_scales_are_refused(covariance, floor):
    with pytest.raises(ValueError, match="a learned scale needs"):
        LearnedScale(covariance, floor)


@pytest.mark.parametrize("kind", GAUSSIANS)
def test_scales_of_another_kind_are_refused(kind):
    for other in GAUSSIANS:
        if other is not kind:
            with pytest.raises(ValueError, match="scale must be learned as"):
                kind(scale=other().resolve(X).scale)
    singular = LearnedScale(np.ones((2, 2)), np.eye(2))
    with pytest.raises(ValueError, match="scale must be"):
        kind(scale=singular)


@pytest.mark.parametrize("kind", GAUSSIANS)
def test_learned_scales_can_be_saved(kind):
    for likelihood in (kind(), kind(r=Gamma(1, 2), nu=20).resolve(X), kind().resolve(X)):
        again = decode(encode(likelihood, apart := []), apart)
        assert again == likelihood
        assert again != kind(r=0.5).resolve(X)
        if isinstance(likelihood.scale, LearnedScale):
            np.testing.assert_array_equal(again.start_base(), likelihood.start_base())


# --- the core


@pytest.mark.parametrize("kind", GAUSSIANS)
@pytest.mark.parametrize("r", [None, 0.3, LogNormal(0.1, 1)])
def test_the_core_has_the_same_density_as_with_the_same_base_fixed(kind, r, seed):
    data = X[:, :1] if kind is mw.DiagonalGaussian else X  # whose tied r is one per column
    learned = kind(r=r).resolve(data)
    family = learned.bind(data)
    assert family.base_size == learned.base_size
    base = learned.draw_base(np.random.default_rng(seed))
    drawn = learned.base_draws(base)
    nu = float(drawn["nu"])
    scale = drawn["covariance" if kind is mw.Gaussian else "variance"]
    scale = scale * (nu - (4 if kind is mw.Gaussian else 2))
    tied = float(learned.base_width(base) / drawn["tau"]) if r is None else None
    used = tied if r is None else float(drawn.get("r", 0.3))
    fixed = kind(r=used, nu=nu, mean=learned.mean, scale=scale)
    some = np.arange(11)
    one = family.at(base).log_marginal(some) + learned.row_constants(data)[some].sum()
    other = fixed.bind(data).log_marginal(some) + fixed.row_constants(data)[some].sum()
    assert one == pytest.approx(other, rel=1e-9)


def test_rows_far_from_the_mean_are_told():
    with pytest.warns(RuntimeWarning, match="standard deviations from mean"):
        mw.Gaussian(mean=[1e9, 0, 0]).resolve(X).bind(X)


@pytest.mark.parametrize("kind", GAUSSIANS)
def test_a_part_of_the_rows_has_a_looser_tie(kind):
    whole = kind().resolve(X)
    part = whole.over_part(0.25)
    assert part.scale.spread_sd == pytest.approx(2 * spread_sd(3))
    assert whole.scale.spread_sd == spread_sd(3)
    assert part.bind(X).at(part.start_base()).base_size == whole.base_size
    fixed = kind(scale="data").resolve(X)
    assert fixed.over_part(0.25) is fixed
    both = mw.Product({(0, 1, 2): kind()}).resolve(X).over_part(0.25)
    assert [one.scale.spread_sd for one in both.parts.values()] == [pytest.approx(2 * spread_sd(3))]


@pytest.mark.parametrize("kind", GAUSSIANS)
def test_some_starts_have_close_centres(kind):
    likelihood = kind().resolve(X)
    tau = likelihood.base_draws(likelihood.start_bases())["tau"]
    assert set(tau.round(6)) == {centre_spread(likelihood.own_columns), 2.0}


def test_many_lone_rows_loosen_the_tie():
    rng = np.random.default_rng(1)
    rows = np.repeat(rng.normal(0, 10, (500, 4)), 2, axis=0) + rng.normal(size=(1000, 4))
    likelihood = mw.Gaussian().resolve(rows)
    taus = []
    for labels in (np.arange(1000) // 2, np.arange(1000) // 100):
        chain = make_chain(
            mw.Mixture(likelihood), rows, labels.astype(np.int32), np.random.PCG64(1), mw.Gibbs()
        )
        chain.update_base(50)
        taus.append(float(likelihood.base_draws(chain.base)["tau"]))
    many, few = taus
    assert many < 20 < 100 < few


@pytest.mark.parametrize("columns", [50, 400])
def test_rows_of_noise_in_many_columns_are_one_cluster(columns):
    """Not each a cluster of its own, by a variance far smaller or a tie given up."""
    rows = np.random.default_rng(columns).normal(size=(20, columns))
    for kind in (mw.DiagonalGaussian, mw.SphericalGaussian):
        options = {"draws": 20, "warmup": 20, "chains": 1, "seed": 1, "progress": False}
        post = mw.sample(mw.Mixture(kind()), rows, **options)
        assert np.all(post.n_clusters == 1)
        assert np.all(post.width < 3)
