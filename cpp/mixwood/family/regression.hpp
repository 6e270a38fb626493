// Rows of p predictors x and a target y that is linear in them: y = intercept + slopes x + noise.
// The rows come centred, the predictors with unit covariance. Given the variance of the noise the
// intercept is N(0, variance/r) and each slope N(0, variance/g); the variance is psi over a
// chi-squared variable with nu degrees of freedom. Of y given x, with d = p + 1, z = (x, y), S
// their scatter, and the pivots of
//
//   M_n = diag(g, ..., g, psi) + S + r n/(r+n) zbar zbar':   A the product of the first p, psi_n
//   last P(y | x) = pi^(-n/2) (r/(r+n))^(1/2) g^(p/2) A^(-1/2) psi^(nu/2) psi_n^(-(nu+n)/2)
//              Gamma((nu+n)/2)/Gamma(nu/2)
//
// A row whose target is missing (NaN) says nothing. Statistic: moments.hpp. A learned base measure
// is ln omega, ln nu', ln r: psi = nu' omega, nu = nu' + 2, g = omega/slopes; r may be tied to
// omega.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/family/clusters.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/family/moments.hpp"
#include "mixwood/family/variance_hyper.hpp"
#include "mixwood/numerics/cholesky.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/lazy_table.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

class Regression {
 public:
  class Clusters;
  class Atoms;

  // What is left of the prior given the clusters' statistics.
  struct Prior {
    double r, g, nu, psi;
  };

  Regression(std::span<const double> rows, int n, int d, Prior prior)
      : rows_(rows), n_(n), d_(d), moments_(d), prior_(prior) {
    alone_.forget(static_cast<std::size_t>(n));
  }

  // With a learned base measure that starts at `base`.
  Regression(std::span<const double> rows, int n, int d, VarianceHyper hyper, double slopes,
             const double* base)
      : rows_(rows),
        n_(n),
        d_(d),
        moments_(d),
        hyper_(std::make_shared<const VarianceHyper>(std::move(hyper))),
        slopes_(slopes),
        base_(3) {
    set_base(base);
  }

  // --- the base measure
  int base_size() const { return static_cast<int>(base_.size()); }
  void read_base(double* to) const { std::copy(base_.begin(), base_.end(), to); }
  void set_base(const double* base) {
    std::copy_n(base, base_.size(), base_.begin());
    prior_ = prior_at(base);
    const auto& [r, g, nu, psi] = prior_;
    if (!(r > 0 && g > 0 && psi > 0) || !std::isfinite(r * g * nu * psi))
      throw std::invalid_argument("a base measure must have a positive variance, r and nu");
    alone_.forget(static_cast<std::size_t>(n_));
  }
  double log_base() const {
    return hyper_->log_density(0, base_[0], base_[1]) + hyper_->nu.log_density(base_[1]) +
           hyper_->r.log_density(base_[2]);
  }
  inline BaseMoves update_base(const ClusterStatistics& clusters, Stream& random);

  int n_rows() const { return n_; }
  int d() const { return d_; }
  int predictors() const { return d_ - 1; }
  const Prior& prior() const { return prior_; }
  const double* row(int i) const { return rows_.data() + static_cast<std::size_t>(i) * d_; }
  bool is_missing(int i) const { return std::isnan(row(i)[d_ - 1]); }
  double log_alone(int i) const {
    return alone_.at(static_cast<std::size_t>(i),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }
  int statistic_size() const { return moments_.size(); }
  // Which entries of a statistic are exact whole numbers.
  bool is_count(int entry) const { return entry == 0; }

  void observe(double* s, int i) const {
    if (!is_missing(i)) moments_.observe(s, row(i));
  }
  void forget(double* s, int i) const {
    if (!is_missing(i)) moments_.forget(s, row(i));
  }
  void merge(double* s, const double* t) const { moments_.merge(s, t); }
  void subtract(double* s, const double* t) const { moments_.subtract(s, t); }
  void allow_parts() { moments_.allow_parts(); }

  double log_marginal(const double* s) const {
    double small[64];  // most data are narrow: no allocation for them
    std::vector<double> large;
    if (d_ > 8) large.resize(static_cast<std::size_t>(d_) * d_);
    return log_marginal(s, prior_, d_ > 8 ? large.data() : small);
  }

  // Factors M_n into `factor` (d x d); returns the logs of A and psi_n.
  std::pair<double, double> posterior_factor(const double* s, const Prior& prior,
                                             double* factor) const {
    const double weight = prior.r * s[0] / (prior.r + s[0]);
    const double* scatter = s + 1 + d_;
    for (int j = 0; j < d_; ++j) {
      for (int i = j; i < d_; ++i) factor[j * d_ + i] = *scatter++ + weight * s[1 + i] * s[1 + j];
      factor[j * d_ + j] += j == d_ - 1 ? prior.psi : prior.g;
    }
    std::vector<double> floors(static_cast<std::size_t>(d_), prior.g);
    floors.back() = prior.psi;
    const double log_determinant = cholesky_factor(d_, factor, floors.data());
    if (!std::isfinite(log_determinant))
      throw std::runtime_error("a cluster's scale matrix is not finite; rescale X");
    const double log_last = -2 * std::log(factor[d_ * d_ - 1]);
    return {log_determinant - log_last, log_last};
  }

 private:
  friend class RegressionBaseUpdate;

  Prior prior_at(const double* base) const {
    const double omega = std::exp(base[0]);
    const double excess = std::exp(base[1]);
    return {hyper_->r_of(base[0], base[2]), omega / slopes_, excess + 2, excess * omega};
  }

  double log_marginal(const double* s, const Prior& prior, double* factor) const {
    const double n = s[0];
    if (n == 0) return 0;
    const auto [log_slopes, log_scale] = posterior_factor(s, prior, factor);
    return -0.5 * n * std::log(std::numbers::pi) + 0.5 * std::log(prior.r / (prior.r + n)) +
           0.5 * (predictors() * std::log(prior.g) - log_slopes) +
           0.5 * prior.nu * std::log(prior.psi) - 0.5 * (prior.nu + n) * log_scale +
           log_gamma(0.5 * (prior.nu + n)) - log_gamma(0.5 * prior.nu);
  }

  double compute_alone(int i) const {
    std::vector<double> s(static_cast<std::size_t>(statistic_size()), 0.0);
    observe(s.data(), i);
    return log_marginal(s.data());
  }

  std::span<const double> rows_;
  int n_, d_;
  Moments moments_;
  Prior prior_{};
  std::shared_ptr<const VarianceHyper> hyper_;  // null where the base measure is fixed
  double slopes_ = 0;
  std::vector<double> base_;
  LazyTable alone_;
};

// The update of a learned base measure, by slices; each evaluation factors a matrix per cluster.
class RegressionBaseUpdate {
 public:
  RegressionBaseUpdate(const Regression& family, const ClusterStatistics& clusters)
      : family_(family),
        hyper_(*family.hyper_),
        base_(family.base_),
        factor_(static_cast<std::size_t>(family.d()) * family.d()) {
    const auto size = static_cast<std::size_t>(family.statistic_size());
    for (int k = 0; k < clusters.count; ++k) {
      const double* s = clusters.read(k);
      if (s[0] > 0) statistics_.emplace_back(s, s + size);
    }
  }

  const std::vector<double>& operator()(Stream& random) {
    base_[0] =
        slice_on_line(base_[0], 1.0, 1.0, [&](double x) { return with_prior(0, x); }, random);
    if (hyper_.nu.is_random())
      base_[1] = slice_coordinate(
          base_[1], 2.0, hyper_.nu, [&](double x) { return with_prior(1, x); }, random);
    if (hyper_.r.is_random())
      base_[2] = slice_coordinate(
          base_[2], 2.0, hyper_.r, [&](double x) { return with_prior(2, x); }, random);
    return base_;
  }

 private:
  // Of the clusters, and of omega under its own law, with one entry of the base at x.
  double with_prior(int entry, double x) {
    std::vector<double> there = base_;
    there[entry] = x;
    double total = hyper_.log_density(0, there[0], there[1]);
    if (!std::isfinite(total)) return total;
    const Regression::Prior prior = family_.prior_at(there.data());
    for (const auto& s : statistics_)
      total += family_.log_marginal(s.data(), prior, factor_.data());
    return total;
  }

  const Regression& family_;
  const VarianceHyper& hyper_;
  std::vector<double> base_, factor_;
  std::vector<std::vector<double>> statistics_;
};

inline BaseMoves Regression::update_base(const ClusterStatistics& clusters, Stream& random) {
  RegressionBaseUpdate update(*this, clusters);
  const std::vector<double> moved = update(random);
  set_base(moved.data());
  return {};
}

class Regression::Clusters : public RefreshedClusters<Regression, Regression::Clusters> {
 public:
  explicit Clusters(const Regression& family)
      : RefreshedClusters(family), scratch_(static_cast<std::size_t>(d_) * block_rows) {}

  void grow(int slots) {
    if (!grow_statistics(slots)) return;
    const auto count = static_cast<std::size_t>(slots_);
    factors_.resize(count * d_ * d_);
    means_.resize(count * d_);
    terms_.resize(count);
  }

  double log_marginal(int slot) const { return family_.log_marginal(statistic(slot)); }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots) {
      double* to = scores + static_cast<std::size_t>(slot) * block_rows;
      kernels_.regression(d_, &factors_[static_cast<std::size_t>(slot) * d_ * d_],
                          &means_[static_cast<std::size_t>(slot) * d_], block_.values(),
                          block_.presence(), terms_[slot], scratch_.data(), to);
    }
  }

  double score_without(int slot, int b) {
    return block_.present(d_ - 1, b) ? score_without_slowly(slot, b) : 0;
  }

 private:
  friend RefreshedClusters;

  // The predictive of y is a t density about what the cluster expects at x.
  void refresh(int slot) {
    const double* s = statistic(slot);
    const auto& [r, g, nu, psi] = family_.prior();
    const double kappa = r + s[0];
    for (int j = 0; j < d_; ++j)
      means_[static_cast<std::size_t>(slot) * d_ + j] = s[1 + j] * s[0] / kappa;
    double* factor = &factors_[static_cast<std::size_t>(slot) * d_ * d_];
    const double log_scale = family_.posterior_factor(s, family_.prior(), factor).second;
    const double half = 0.5 * (nu + s[0]);
    terms_[slot] = {
        log_gamma(half + 0.5) - log_gamma(half) - 0.5 * (std::log(std::numbers::pi) + log_scale),
        half, 1 + 1 / kappa};
  }

  std::vector<double> factors_, means_, scratch_;
  std::vector<RegressionTerms> terms_;
};

static_assert(Family<Regression> && ClusterScores<Regression::Clusters, Regression>);

}  // namespace mixwood
