// Gaussian rows with one variance for all columns; the rows come centred on the prior mean.
//
//   P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) psi^(nu/2) psi_n^(-(nu+nd)/2) Gamma((nu+nd)/2)/Gamma(nu/2)
//   psi_n = psi + sum |x-xbar|^2 + r n/(r+n) |xbar|^2
//
// Statistic: n, xbar (d), sum |x-xbar|^2. Where the base measure is fixed, the rows come in units
// in which psi = 1. A learned one is ln omega, ln nu', ln r: psi = nu' omega, nu = nu' + 2; r may
// be tied to omega.
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
#include "mixwood/family/size_terms.hpp"
#include "mixwood/family/variance_hyper.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

class SphericalGaussian {
 public:
  class Clusters;
  class Atoms;

  SphericalGaussian(std::span<const double> rows, int n, int d, double r, double nu)
      : rows_(rows), n_(n), d_(d), r_(r), nu_(nu) {
    size_terms_.fill(n, [this](int size) { return size_formula(size); });
    alone_.fill(static_cast<std::size_t>(n),
                [this](std::size_t i) { return compute_alone(static_cast<int>(i)); });
  }

  // With a learned base measure that starts at `base`.
  SphericalGaussian(std::span<const double> rows, int n, int d, VarianceHyper hyper,
                    const double* base)
      : rows_(rows),
        n_(n),
        d_(d),
        r_(0),
        nu_(0),
        hyper_(std::make_shared<const VarianceHyper>(std::move(hyper))),
        base_(3) {
    set_base(base);
  }

  // --- the base measure; see spherical_gaussian_base.hpp
  int base_size() const { return static_cast<int>(base_.size()); }
  void read_base(double* to) const { std::copy(base_.begin(), base_.end(), to); }
  inline void set_base(const double* base);
  inline double log_base() const;
  inline BaseMoves update_base(const ClusterStatistics& clusters, Stream& random);

  int n_rows() const { return n_; }
  int d() const { return d_; }
  double r() const { return r_; }
  double nu() const { return nu_; }
  double psi() const { return psi_; }
  const double* row(int i) const { return rows_.data() + static_cast<std::size_t>(i) * d_; }
  double log_alone(int i) const {
    return alone_.at(static_cast<std::size_t>(i),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }
  int statistic_size() const { return d_ + 2; }
  // Which entries of a statistic are exact whole numbers.
  bool is_count(int entry) const { return entry == 0; }
  double size_term(double size) const {
    return size_terms_.at(size, [this](double any) { return size_formula(any); });
  }

  void observe(double* s, int i) const {
    const double n = s[0] + 1;
    s[1 + d_] += (n - 1) / n * squared_distance(row(i), s + 1);
    for (int j = 0; j < d_; ++j) s[1 + j] += (row(i)[j] - s[1 + j]) / n;
    s[0] = n;
  }

  void forget(double* s, int i) const {
    const double n = s[0] - 1;
    if (n <= 0) return std::fill(s, s + statistic_size(), 0.0);
    const double less = (n + 1) / n * squared_distance(row(i), s + 1);
    s[1 + d_] = n == 1 ? 0.0 : std::max(s[1 + d_] - less, 0.0);
    for (int j = 0; j < d_; ++j) s[1 + j] -= (row(i)[j] - s[1 + j]) / n;
    s[0] = n;
  }

  void merge(double* s, const double* t) const {
    const double n = s[0] + t[0];
    if (t[0] == 0) return;
    s[1 + d_] += t[1 + d_] + s[0] * t[0] / n * squared_distance(t + 1, s + 1);
    for (int j = 0; j < d_; ++j) s[1 + j] += (t[1 + j] - s[1 + j]) * t[0] / n;
    s[0] = n;
  }

  // From now on rows may count as parts of one: a size of 1 may be that of several.
  void allow_parts() { has_parts_ = true; }

  void subtract(double* s, const double* t) const {
    const double n = s[0] - t[0];
    if (n <= 0) return std::fill(s, s + statistic_size(), 0.0);
    if (t[0] == 0) return;
    for (int j = 0; j < d_; ++j) s[1 + j] += (s[1 + j] - t[1 + j]) * t[0] / n;
    const double left = s[1 + d_] - t[1 + d_] - n * t[0] / s[0] * squared_distance(t + 1, s + 1);
    s[1 + d_] = n == 1 && !has_parts_ ? 0.0 : std::max(left, 0.0);
    s[0] = n;
  }

  double posterior_scale(const double* s) const {
    double squared = 0;
    for (int j = 0; j < d_; ++j) squared += s[1 + j] * s[1 + j];
    return psi_ + s[1 + d_] + r_ * s[0] / (r_ + s[0]) * squared;
  }

  double log_marginal(const double* s) const {
    return log_marginal(s[0], std::log(posterior_scale(s)));
  }
  // log P of the rows of `s` and one more, or those of `t`.
  double log_marginal_with(const double* s, int i, double*) const {
    return log_marginal_with(s, 1.0, row(i), 0.0);
  }
  double log_marginal_with(const double* s, const double* t, double*) const {
    return log_marginal_with(s, t[0], t + 1, t[1 + d_]);
  }
  double log_marginal(double size, double log_scale) const {
    return size_term(size) - 0.5 * (nu_ + size * d_) * log_scale;
  }

 private:
  // Of the rows of `s` and `count` more with this mean and scatter.
  double log_marginal_with(const double* s, double count, const double* mean,
                           double scatter) const {
    const double n = s[0] + count;
    if (!(n > 0)) return log_marginal(s);
    const double share = count / n;
    constexpr int lanes = 4;  // sums that do not wait for each other
    double betweens[lanes] = {}, squares[lanes] = {};
    int first = 0;
    auto add = [&](int j, int lane) {
      const double difference = mean[j] - s[1 + j];
      const double joint = s[1 + j] + share * difference;
      betweens[lane] += difference * difference;
      squares[lane] += joint * joint;
    };
    for (; first + lanes <= d_; first += lanes)
      for (int lane = 0; lane < lanes; ++lane) add(first + lane, lane);
    for (; first < d_; ++first) add(first, 0);
    const double between = (betweens[0] + betweens[1]) + (betweens[2] + betweens[3]);
    const double squared = (squares[0] + squares[1]) + (squares[2] + squares[3]);
    const double scale =
        psi_ + s[1 + d_] + scatter + s[0] * share * between + r_ * n / (r_ + n) * squared;
    return log_marginal(n, std::log(scale));
  }

  double size_formula(double size) const {
    const double entries = size * d_;
    return -0.5 * entries * std::log(std::numbers::pi) + 0.5 * d_ * std::log(r_ / (r_ + size)) +
           log_gamma(0.5 * (nu_ + entries)) - log_gamma(0.5 * nu_) + 0.5 * nu_ * std::log(psi_);
  }

  double compute_alone(int i) const {
    double squared = 0;
    for (int j = 0; j < d_; ++j) squared += row(i)[j] * row(i)[j];
    return size_term(1) -
           0.5 * (nu_ + d_) * (std::log(psi_) + std::log1p(r_ / (r_ + 1) * squared / psi_));
  }

  double squared_distance(const double* x, const double* y) const {
    double sum = 0;
    for (int j = 0; j < d_; ++j) sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
  }

  std::span<const double> rows_;
  int n_, d_;
  double r_, nu_, psi_ = 1;
  SizeTerms size_terms_;
  bool has_parts_ = false;
  LazyTable alone_;
  std::shared_ptr<const VarianceHyper> hyper_;  // null where the base measure is fixed
  std::vector<double> base_;
};

class SphericalGaussian::Clusters
    : public RefreshedClusters<SphericalGaussian, SphericalGaussian::Clusters> {
 public:
  explicit Clusters(const SphericalGaussian& family)
      : RefreshedClusters(family), origin_(d_, 0.0), nothing_(block_rows) {}

  void grow(int slots) {
    if (!grow_statistics(slots)) return;
    means_.resize(static_cast<std::size_t>(slots_) * d_);
    sizes_.resize(slots_);
    scales_.resize(slots_);
    log_scales_.resize(slots_);
    terms_.resize(slots_);
    quadratic_.resize(static_cast<std::size_t>(slots_) * block_rows);
  }

  double log_marginal(int slot) const {
    return family_.log_marginal(sizes_[slot], log_scales_[slot]);
  }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots) {
      const std::size_t at = static_cast<std::size_t>(slot) * block_rows;
      kernels_.spherical(d_, means_.data() + static_cast<std::size_t>(slot) * d_, block_.values(),
                         terms_[slot], quadratic_.data() + at, scores + at);
    }
  }

  // log P(x_b) of the rows that were loaded.
  void score_alone(double* scores) {
    const double r = family_.r();
    const StudentTerms terms{
        family_.size_term(1) - family_.size_term(0) - 0.5 * d_ * std::log(family_.psi()),
        0.5 * (family_.nu() + d_), r / (r + 1) / family_.psi()};
    kernels_.spherical(d_, origin_.data(), block_.values(), terms, nothing_.data(), scores);
  }

  // As for Gaussian: psi_- = psi_n (1 - s), s = kappa/(kappa-1) |x - mean|^2 / psi_n.
  double score_without(int slot, int b) {
    const double size = sizes_[slot];
    const double less = family_.r() + (size - 1);
    const double squared = quadratic_[static_cast<std::size_t>(slot) * block_rows + b];
    const double s = (family_.r() + size) / less * squared / scales_[slot];
    if (!(1 - s > 1e-6)) return score_without_slowly(slot, b);  // cancels
    return family_.size_term(size) - family_.size_term(size - 1) - 0.5 * d_ * log_scales_[slot] +
           0.5 * (family_.nu() + (size - 1) * d_) * std::log1p(-s);
  }

 private:
  friend RefreshedClusters;

  void refresh(int slot) {
    const double* s = statistic(slot);
    const double size = s[0];
    const double kappa = family_.r() + s[0];
    sizes_[slot] = size;
    for (int j = 0; j < d_; ++j)
      means_[static_cast<std::size_t>(slot) * d_ + j] = s[1 + j] * s[0] / kappa;
    scales_[slot] = family_.posterior_scale(s);
    log_scales_[slot] = std::log(scales_[slot]);
    terms_[slot] = {
        family_.size_term(size + 1) - family_.size_term(size) - 0.5 * d_ * log_scales_[slot],
        0.5 * (family_.nu() + (s[0] + 1) * d_), kappa / (kappa + 1) / scales_[slot]};
  }

  std::vector<double> means_, sizes_, scales_, log_scales_, quadratic_;
  std::vector<StudentTerms> terms_;
  std::vector<double> origin_, nothing_;  // a mean of 0, and squares that nobody asks for
};

static_assert(Family<SphericalGaussian> &&
              ClusterScores<SphericalGaussian::Clusters, SphericalGaussian>);

}  // namespace mixwood
