// Gaussian rows, Normal-Wishart prior with mean 0 (the rows come centred on the prior mean).
//
//   P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) |Psi|^(nu/2) |Psi_n|^(-(nu+n)/2)
//            * Gamma_d((nu+n)/2) / Gamma_d(nu/2)
//   Psi_n = Psi + S + r n/(r+n) xbar xbar',  S the scatter about xbar
//
// Statistic: n, xbar (d), lower triangle of S column by column. Raw second moments would cancel.
//
// A learned base measure (gaussian_base.hpp): the lower triangle of Omega column by column, ln nu',
// ln r, where Psi = nu' Omega and nu = nu' + d + 1, so that Omega is what a cluster's covariance is
// expected to be; r may be tied to Omega.
//
// Missing entries are filled in, and drawn again along with the chain (gaussian_latents.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/family/factored_clusters.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/family/filled_rows.hpp"
#include "mixwood/family/moments.hpp"
#include "mixwood/family/size_terms.hpp"
#include "mixwood/numerics/cholesky.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/random/hyperprior.hpp"

namespace mixwood {

// What a learned base measure is drawn from:
//
//   Omega ~ Wishart_d(degrees, fraction R / degrees),    r = f tr(R^-1 Omega) / (d tau),
//   on Omega >= floor and Psi = nu' Omega >= tie_floor.
//
// R is the covariance of all rows. Without floors, clusters of tied values would be worth any
// price. nu and r are the laws of nu' and of r, or of f where r is tied to Omega.
struct GaussianHyper {
  std::vector<double> spread_inverse, floor, tie_floor;  // R^-1 and the floors, d x d
  double fraction, degrees, tau;
  Hyperprior nu, r;
};

class Gaussian {
 public:
  class Clusters;
  class Atoms;
  class Latents;

  // Where the weight, the mean and the scatter are in a statistic: here the weight is the size.
  static constexpr int moments_at = 0;

  // `rows` is n x d, kept by the caller; `psi` is d x d. `fill` is where missing entries start.
  Gaussian(std::span<const double> rows, int n, int d, double r, double nu,
           std::span<const double> psi, std::span<const double> fill)
      : rows_(rows, n, d, fill),
        n_(n),
        d_(d),
        r_(r),
        nu_(nu),
        moments_(d),
        psi_(psi.begin(), psi.end()) {
    factor_psi();
    fill_size_terms();
    if (latent_size() > 0)
      gamma_halves_.fill(n + d, [this](int count) { return gamma_half_formula(count); });
    alone_.fill(static_cast<std::size_t>(n),
                [this](std::size_t i) { return compute_alone(static_cast<int>(i)); });
  }

  // With a learned base measure that starts at `base`.
  Gaussian(std::span<const double> rows, int n, int d, GaussianHyper hyper, const double* base,
           std::span<const double> fill)
      : rows_(rows, n, d, fill),
        n_(n),
        d_(d),
        r_(0),
        nu_(0),
        moments_(d),
        psi_(static_cast<std::size_t>(d) * d),
        hyper_(std::make_shared<const GaussianHyper>(std::move(hyper))),
        base_(static_cast<std::size_t>(d) * (d + 1) / 2 + 2) {
    set_base(base);
  }

  // --- the base measure; see gaussian_base.hpp
  int base_size() const { return static_cast<int>(base_.size()); }
  void read_base(double* to) const { std::copy(base_.begin(), base_.end(), to); }
  inline void set_base(const double* base);
  inline double log_base() const;
  // The weight, mean and scatter of a statistic begin at `moments`, and its size is in front.
  inline BaseMoves update_base(const ClusterStatistics& clusters, Stream& random,
                               int moments = moments_at);
  const GaussianHyper& hyper() const { return *hyper_; }

  int n_rows() const { return n_; }
  int d() const { return d_; }
  double r() const { return r_; }
  double nu() const { return nu_; }
  const double* row(int i) const { return rows_.row(i); }
  static constexpr double weight(int) { return 1; }
  double log_alone(int i) const {
    return alone_.at(static_cast<std::size_t>(i),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }

  // --- missing entries, row by row; see latent.hpp
  int latent_size() const { return rows_.size(); }
  int latent_size(int i) const { return static_cast<int>(rows_.missing(i).size()); }
  std::span<const int> latent_rows() const { return rows_.rows(); }
  std::span<const int> missing(int i) const { return rows_.missing(i); }
  void read_latent(double* to) const { rows_.read(to); }
  void set_latent(const double* from) {
    rows_.set(from);
    for (const int i : rows_.rows()) alone_.forget_one(static_cast<std::size_t>(i));
  }
  void set_latent_of_row(int i, const double* from) {
    rows_.set_row(i, from);
    alone_.forget_one(static_cast<std::size_t>(i));
  }
  // log Gamma((nu - d + 1 + count)/2), of t densities.
  double log_gamma_half(double count) const {
    return gamma_halves_.at(count, [this](double any) { return gamma_half_formula(any); });
  }

  int statistic_size() const { return moments_.size(); }
  // Which entries of a statistic are exact whole numbers.
  bool is_count(int entry) const { return entry == 0; }

  const double* psi() const { return psi_.data(); }
  const double* psi_factor() const { return psi_factor_.data(); }
  double log_determinant() const { return log_determinant_; }
  const double* least_pivots() const { return pivots_.data(); }  // of any Psi_n

  // log P(X_c) = size_term(n) - (nu+n)/2 log|Psi_n|.
  double size_term(double size) const {
    return size_terms_.at(size, [this](double any) { return size_formula(any); });
  }
  double log_marginal(double size, double log_determinant) const {
    return size_term(size) - 0.5 * (nu_ + size) * log_determinant;
  }
  // ... of the rows of a statistic, or of two.
  double log_marginal(const double* s, double log_determinant) const {
    return log_marginal(s[0], log_determinant);
  }
  double log_marginal_of_union(const double* s, const double* t, double log_determinant) const {
    return log_marginal(s[0] + t[0], log_determinant);
  }

  void observe(double* s, int i) const { moments_.observe(s, row(i)); }
  void forget(double* s, int i) const { moments_.forget(s, row(i)); }
  void merge(double* s, const double* t) const { moments_.merge(s, t); }
  void subtract(double* s, const double* t) const { moments_.subtract(s, t); }
  // ... of rows of any weight, of which s[0] is the sum; n is what is to be left of it.
  const Moments& moments() const { return moments_; }
  // From now on rows may count as parts of one.
  void allow_parts() { moments_.allow_parts(); }

  double log_marginal(const double* s) const {
    return log_marginal(s[0], posterior_log_determinant(s));
  }
  double posterior_log_determinant(const double* s) const {
    double small[64];  // most data are narrow: no allocation for them
    std::vector<double> large;
    if (d_ > 8) large.resize(static_cast<std::size_t>(d_) * d_);
    return posterior_factor(s, d_ > 8 ? large.data() : small);
  }

  // log P of the rows of either statistic together with those of t, side by side in the lanes.
  std::pair<double, double> log_marginals_with(const double* first, const double* second,
                                               const double* t) const {
    const auto [one, other] = log_determinants_with(first, second, t);
    return {log_marginal_of_union(first, t, one), log_marginal_of_union(second, t, other)};
  }
  // ... log|Psi_n| of both; weights, means and scatters are given.
  std::pair<double, double> log_determinants_with(const double* first, const double* second,
                                                  const double* t) const {
    double small[18 * 17 / 2 * widest_vector];
    std::vector<double> large;
    const auto needed = static_cast<std::size_t>(d_ + 1) * (d_ + 2) / 2 * widest_vector;
    if (d_ > 16) large.resize(needed);
    const double* statistics[] = {first, second};
    double determinants[2];
    kernels().gaussian_unions(d_, 2, statistics, t, psi_.data(), pivots_.data(), r_,
                              d_ > 16 ? large.data() : small, determinants);
    if (!std::isfinite(determinants[0]) || !std::isfinite(determinants[1]))
      throw std::runtime_error("a cluster's scale matrix is not finite; rescale X");
    return {determinants[0], determinants[1]};
  }

  // x' Psi^-1 x of a row.
  double squared_from_origin(int i) const {
    double small[16];  // most data are narrow: no allocation for them
    std::vector<double> large;
    if (d_ > 16) large.resize(static_cast<std::size_t>(d_));
    double* x = d_ > 16 ? large.data() : small;
    std::copy_n(row(i), d_, x);
    return cholesky_solve_squared(d_, psi_factor_.data(), x);
  }

  // Factors Psi_n into `factor` (d x d) and returns its log-determinant.
  double posterior_factor(const double* s, double* factor) const {
    const double weight = r_ * s[0] / (r_ + s[0]);
    const double* scatter = s + 1 + d_;
    for (int j = 0; j < d_; ++j) {
      for (int i = j; i < d_; ++i)
        factor[j * d_ + i] = psi_[j * d_ + i] + *scatter++ + weight * s[1 + i] * s[1 + j];
    }
    // Psi_n is Psi and more, so its pivots are at least those of Psi.
    const double log_determinant = d_ >= many_columns
                                       ? kernels().cholesky(d_, factor, pivots_.data())
                                       : cholesky_factor(d_, factor, pivots_.data());
    if (!std::isfinite(log_determinant))
      throw std::runtime_error("a cluster's scale matrix is not finite; rescale X");
    return log_determinant;
  }

  // --- A statistic's factor, kept while single rows are compared with it again and again: that of
  // Psi_n, and then log|Psi_n|. None of few columns, where it gains nothing.
  int factor_size() const { return d_ >= many_columns ? d_ * d_ + 1 : 0; }
  // So many rows at once are worth it.
  int factor_rows() const { return std::clamp(d_ / 6, 1, block_rows); }
  int factor_scratch() const { return (2 * d_ + block_rows) * block_rows + 2 * d_ + block_rows; }
  void make_factor(const double* s, double* factor) const {
    factor[d_ * d_] = posterior_factor(s, factor);
  }
  // The rows come to what has this weight and this mean; `weights` are theirs, null for 1.
  void update_factor(const double* s, double* factor, std::span<const int> rows,
                     const double* weights, double* scratch) const {
    double* x = scratch;
    double* mean = x + d_;
    double kappa = posterior_mean(s, mean);
    for (const int row_of_x : rows) {
      const double* entries = row(row_of_x);
      const double weight = weights != nullptr ? weights[row_of_x] : 1;
      const double root = std::sqrt(weight * kappa / (kappa + weight));
      for (int j = 0; j < d_; ++j) {
        const double difference = entries[j] - mean[j];
        x[j] = root * difference;
        mean[j] += difference * weight / (kappa + weight);
      }
      kappa += weight;
      factor[d_ * d_] += std::log(kernels().update_factor(d_, factor, x, mean + d_, 1.0, 0.0));
    }
  }
  // ... log|Psi_n| with them.
  double log_determinant_with(const double* s, const double* factor, std::span<const int> rows,
                              const double* weights, double* scratch) const {
    double* mean = scratch;
    double* origin = mean + d_;
    double* roots = origin + d_;
    double* differences = roots + block_rows;
    const double kappa = posterior_mean(s, mean);
    std::fill_n(origin, d_ + block_rows + d_ * block_rows, 0.0);
    for (std::size_t b = 0; b < rows.size(); ++b) {
      const double* entries = row(rows[b]);
      roots[b] = weights != nullptr ? std::sqrt(weights[rows[b]]) : 1;
      for (int j = 0; j < d_; ++j)
        differences[static_cast<std::size_t>(j) * block_rows + b] =
            roots[b] * (entries[j] - mean[j]);
    }
    const double result =
        factor[d_ * d_] + kernels().gaussian_growth(d_, static_cast<int>(rows.size()), factor,
                                                    differences, origin, roots, kappa,
                                                    differences + d_ * block_rows);
    if (!std::isfinite(result))
      throw std::runtime_error("a cluster's scale matrix is not finite; rescale X");
    return result;
  }
  void update_factor(const double* s, double* factor, std::span<const int> rows,
                     double* scratch) const {
    update_factor(s, factor, rows, nullptr, scratch);
  }
  double log_marginal_with(const double* s, double, const double* factor, std::span<const int> rows,
                           double* scratch) const {
    return log_marginal(s[0] + static_cast<double>(rows.size()),
                        log_determinant_with(s, factor, rows, nullptr, scratch));
  }

 private:
  static constexpr int many_columns = 8;

  // Returns kappa.
  double posterior_mean(const double* s, double* mean) const {
    const double kappa = r_ + s[0];
    for (int j = 0; j < d_; ++j) mean[j] = s[1 + j] * s[0] / kappa;
    return kappa;
  }

  // Psi has changed.
  void factor_psi() {
    psi_factor_ = psi_;
    log_determinant_ = cholesky_factor(d_, psi_factor_.data());
    if (!std::isfinite(log_determinant_))
      throw std::invalid_argument("scale must be positive definite");
    pivots_.resize(static_cast<std::size_t>(d_));
    for (int j = 0; j < d_; ++j)
      pivots_[j] = 1 / (psi_factor_[j * d_ + j] * psi_factor_[j * d_ + j]);
  }

  double gamma_half_formula(double count) const { return log_gamma(0.5 * (nu_ - d_ + 1 + count)); }

  double compute_alone(int i) const {
    const double squared = squared_from_origin(i);
    return size_term(1) -
           0.5 * (nu_ + 1) * (log_determinant_ + std::log1p(r_ / (r_ + 1) * squared));
  }

  double size_formula(double size) const {
    return -0.5 * size * d_ * std::log(std::numbers::pi) + 0.5 * d_ * std::log(r_ / (r_ + size)) +
           0.5 * nu_ * log_determinant_ + log_gammas(0.5 * (nu_ + size)) - log_gammas(0.5 * nu_);
  }
  // A learned base measure asks for them again and again.
  double log_gammas(double x) const {
    return hyper_ ? log_multivariate_gamma_by_pairs(d_, x) : log_multivariate_gamma(d_, x);
  }

  // Gamma_d(x + 1/2) / Gamma_d(x) = Gamma(x + 1/2) / Gamma(x + (1-d)/2): a running sum, begun
  // afresh now and then so that rounding does not pile up.
  void fill_size_terms() {
    const double step = -0.5 * d_ * std::log(std::numbers::pi);
    double running = 0;
    size_terms_.fill(n_, [&](int size) {
      const double x = 0.5 * (nu_ + size);
      if (size % 256 == 0) running = size_formula(size) - 0.5 * d_ * std::log(r_ / (r_ + size));
      const double term = running + 0.5 * d_ * std::log(r_ / (r_ + size));
      running += step + log_gamma(x + 0.5) - log_gamma(x + 0.5 * (1 - d_));
      return term;
    });
  }

  FilledRows rows_;
  int n_, d_;
  double r_, nu_, log_determinant_ = 0;
  SizeTerms size_terms_, gamma_halves_;
  Moments moments_;
  std::vector<double> psi_, psi_factor_, pivots_;
  LazyTable alone_;
  std::shared_ptr<const GaussianHyper> hyper_;  // null where the base measure is fixed
  std::vector<double> base_;
};

class Gaussian::Clusters : public FactoredClusters<Gaussian, Gaussian::Clusters> {
 public:
  explicit Clusters(const Gaussian& family)
      : FactoredClusters(family), origin_(d_, 0.0), nothing_(block_rows) {}

  void score(std::span<const int> slots, double* scores) { score_from(0, slots, scores); }
  void score_from(int first, std::span<const int> slots, double* scores) {
    for (const int slot : slots) {
      const std::size_t at = static_cast<std::size_t>(slot) * block_rows;
      kernels_.gaussian(d_, first, block_.count(), factor(slot), mean(slot), block_.values(),
                        terms_[slot], scratch_.data(), quadratic_.data() + at, scores + at);
    }
  }

  // log P(x_b) of the rows that were loaded.
  void score_alone(double* scores) {
    const double r = family_.r();
    const StudentTerms terms{
        family_.size_term(1) - family_.size_term(0) - 0.5 * family_.log_determinant(),
        0.5 * (family_.nu() + 1), r / (r + 1)};
    kernels_.gaussian(d_, 0, block_.count(), family_.psi_factor(), origin_.data(), block_.values(),
                      terms, scratch_.data(), nothing_.data(), scores);
  }

  // With the row still inside: |Psi_-| = |Psi| (1 - s), s = kappa/(kappa-1) |L^-1 (x - mean)|^2.
  double score_without(int slot, int b) {
    const double size = statistic(slot)[0];
    const double less = family_.r() + (size - 1);
    const double squared = quadratic_[static_cast<std::size_t>(slot) * block_rows + b];
    const double s = (family_.r() + size) / less * squared;
    if (!(1 - s > 1e-6)) {  // cancels: take the row out for real, on the side
      std::copy_n(statistic(slot), spare_.size(), spare_.begin());
      family_.forget(spare_.data(), block_.row(b));
      return log_marginal(slot) - family_.log_marginal(spare_.data());
    }
    return family_.size_term(size) - family_.size_term(size - 1) - 0.5 * log_determinants_[slot] +
           0.5 * (family_.nu() + size - 1) * std::log1p(-s);
  }

 private:
  friend FactoredClusters;

  void grow_terms(std::size_t count) { terms_.resize(count); }
  void refresh_terms(int slot) {
    const double size = statistic(slot)[0];
    const double kappa = refresh_mean(slot);
    terms_[slot] = {
        family_.size_term(size + 1) - family_.size_term(size) - 0.5 * log_determinants_[slot],
        0.5 * (family_.nu() + size + 1), kappa / (kappa + 1)};
  }

  std::vector<StudentTerms> terms_;
  std::vector<double> origin_, nothing_;  // a mean of 0, and squares that nobody asks for
};

static_assert(Family<Gaussian> && ClusterScores<Gaussian::Clusters, Gaussian>);

}  // namespace mixwood
