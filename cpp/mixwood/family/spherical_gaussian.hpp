// Gaussian rows with one variance for all columns; the rows come centred on the prior mean and in
// units in which psi = 1.
//
//   P(X_c) = pi^(-nd/2) (r/(r+n))^(d/2) psi_n^(-(nu+nd)/2) Gamma((nu+nd)/2)/Gamma(nu/2)
//   psi_n = 1 + sum |x-xbar|^2 + r n/(r+n) |xbar|^2
//
// Statistic: n, xbar (d), sum |x-xbar|^2.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "mixwood/family/clusters.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/family/size_terms.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

class SphericalGaussian {
 public:
  class Clusters;
  class Atoms;

  SphericalGaussian(std::span<const double> rows, int n, int d, double r, double nu)
      : rows_(rows), n_(n), d_(d), r_(r), nu_(nu), alone_(n) {
    size_terms_.fill(n, [this](int size) { return size_formula(size); });
    const std::vector<double> origin(d, 0.0);
    for (int i = 0; i < n; ++i)
      alone_[i] =
          size_terms_[1] -
          0.5 * (nu + d) * std::log1p(r / (r + 1) * squared_distance(row(i), origin.data()));
  }

  int n_rows() const { return n_; }
  int d() const { return d_; }
  double r() const { return r_; }
  double nu() const { return nu_; }
  const double* row(int i) const { return rows_.data() + static_cast<std::size_t>(i) * d_; }
  double log_alone(int i) const { return alone_[i]; }
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
    if (n < 1) return std::fill(s, s + statistic_size(), 0.0);
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

  void subtract(double* s, const double* t) const {
    const double n = s[0] - t[0];
    if (n < 1) return std::fill(s, s + statistic_size(), 0.0);
    if (t[0] == 0) return;
    for (int j = 0; j < d_; ++j) s[1 + j] += (s[1 + j] - t[1 + j]) * t[0] / n;
    const double left = s[1 + d_] - t[1 + d_] - n * t[0] / s[0] * squared_distance(t + 1, s + 1);
    s[1 + d_] = n == 1 ? 0.0 : std::max(left, 0.0);
    s[0] = n;
  }

  double posterior_scale(const double* s) const {
    double squared = 0;
    for (int j = 0; j < d_; ++j) squared += s[1 + j] * s[1 + j];
    return 1 + s[1 + d_] + r_ * s[0] / (r_ + s[0]) * squared;
  }

  double log_marginal(const double* s) const {
    return log_marginal(s[0], std::log(posterior_scale(s)));
  }
  double log_marginal(double size, double log_scale) const {
    return size_term(size) - 0.5 * (nu_ + size * d_) * log_scale;
  }

 private:
  double size_formula(double size) const {
    const double entries = size * d_;
    return -0.5 * entries * std::log(std::numbers::pi) + 0.5 * d_ * std::log(r_ / (r_ + size)) +
           log_gamma(0.5 * (nu_ + entries)) - log_gamma(0.5 * nu_);
  }

  double squared_distance(const double* x, const double* y) const {
    double sum = 0;
    for (int j = 0; j < d_; ++j) sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
  }

  std::span<const double> rows_;
  int n_, d_;
  double r_, nu_;
  SizeTerms size_terms_;
  std::vector<double> alone_;
};

class SphericalGaussian::Clusters
    : public RefreshedClusters<SphericalGaussian, SphericalGaussian::Clusters> {
 public:
  explicit Clusters(const SphericalGaussian& family) : RefreshedClusters(family) {}

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

  // As for Gaussian: psi_- = psi_n (1 - s), s = kappa/(kappa-1) |x - mean|^2 / psi_n.
  double score_without(int slot, int b) {
    const int size = sizes_[slot];
    const double less = family_.r() + (size - 1);
    const double squared = quadratic_[static_cast<std::size_t>(slot) * block_rows + b];
    const double s = (family_.r() + size) / less * squared / scales_[slot];
    if (!(1 - s > 1e-6)) return score_without_slowly(slot, b);  // cancels
    return family_.size_term(size) - family_.size_term(size - 1) - 0.5 * d_ * log_scales_[slot] +
           0.5 * (family_.nu() + (size - 1.0) * d_) * std::log1p(-s);
  }

 private:
  friend RefreshedClusters;

  void refresh(int slot) {
    const double* s = statistic(slot);
    const int size = static_cast<int>(s[0]);
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

  std::vector<int> sizes_;
  std::vector<double> means_, scales_, log_scales_, quadratic_;
  std::vector<StudentTerms> terms_;
};

static_assert(Family<SphericalGaussian> &&
              ClusterScores<SphericalGaussian::Clusters, SphericalGaussian>);

}  // namespace mixwood
