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

#include "mixwood/family/family.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

class SphericalGaussian {
 public:
  class Clusters;

  SphericalGaussian(std::span<const double> rows, int n, int d, double r, double nu)
      : rows_(rows), n_(n), d_(d), r_(r), nu_(nu), size_terms_(n + 1), alone_(n) {
    const double log_pi = std::log(std::numbers::pi);
    for (int k = 0; k <= n; ++k) {
      const double dimension = static_cast<double>(k) * d;
      size_terms_[k] = -0.5 * dimension * log_pi + 0.5 * d * std::log(r / (r + k)) +
                       log_gamma(0.5 * (nu + dimension)) - log_gamma(0.5 * nu);
    }
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
  double size_term(int size) const { return size_terms_[size]; }

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

  double posterior_scale(const double* s) const {
    double squared = 0;
    for (int j = 0; j < d_; ++j) squared += s[1 + j] * s[1 + j];
    return 1 + s[1 + d_] + r_ * s[0] / (r_ + s[0]) * squared;
  }

  double log_marginal(const double* s) const {
    return size_terms_[static_cast<int>(s[0])] -
           0.5 * (nu_ + s[0] * d_) * std::log(posterior_scale(s));
  }

 private:
  double squared_distance(const double* x, const double* y) const {
    double sum = 0;
    for (int j = 0; j < d_; ++j) sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
  }

  std::span<const double> rows_;
  int n_, d_;
  double r_, nu_;
  std::vector<double> size_terms_, alone_;
};

class SphericalGaussian::Clusters {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Clusters(const SphericalGaussian& family)
      : family_(family),
        d_(family.d()),
        kernels_(kernels()),
        block_(static_cast<std::size_t>(d_) * block_rows),
        spare_(family.statistic_size()) {}

  void grow(int slots) {
    if (slots <= static_cast<int>(terms_.size())) return;
    const std::size_t count = std::max<std::size_t>(slots, 2 * terms_.size());
    statistics_.resize(count * family_.statistic_size());
    means_.resize(count * d_);
    log_scales_.resize(count);
    scales_.resize(count);
    terms_.resize(count);
    quadratic_.resize(count * block_rows);
  }

  void clear(int slot) {
    std::fill_n(statistic(slot), family_.statistic_size(), 0.0);
    refresh(slot);
  }
  void observe(int slot, int row) {
    family_.observe(statistic(slot), row);
    refresh(slot);
  }
  void forget(int slot, int row) {
    family_.forget(statistic(slot), row);
    refresh(slot);
  }

  double log_marginal(int slot) const {
    const double n = statistics_[static_cast<std::size_t>(slot) * family_.statistic_size()];
    return family_.size_term(static_cast<int>(n)) -
           0.5 * (family_.nu() + n * d_) * log_scales_[slot];
  }

  void load(std::span<const int> rows) {
    loaded_.assign(rows.begin(), rows.end());
    for (std::size_t b = 0; b < rows.size(); ++b)
      for (int j = 0; j < d_; ++j) block_[j * block_rows + b] = family_.row(rows[b])[j];
  }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots)
      kernels_.spherical(d_, means_.data() + static_cast<std::size_t>(slot) * d_, block_.data(),
                         terms_[slot], quadratic_.data() + slot * block_rows,
                         scores + slot * block_rows);
  }

  // As for Gaussian: psi_- = psi_n (1 - s), s = kappa/(kappa-1) |x - mean|^2 / psi_n.
  double score_without(int slot, int b) {
    const double* statistics = statistic(slot);
    const double n = statistics[0];
    const double kappa = family_.r() + n;
    const double s = kappa / (kappa - 1) * quadratic_[slot * block_rows + b] / scales_[slot];
    if (1 - s < 1e-6) {  // cancels: take the row out for real, on the side
      std::copy_n(statistics, spare_.size(), spare_.begin());
      family_.forget(spare_.data(), loaded_[b]);
      return log_marginal(slot) - family_.log_marginal(spare_.data());
    }
    const int size = static_cast<int>(n);
    return family_.size_term(size) - family_.size_term(size - 1) - 0.5 * d_ * log_scales_[slot] +
           0.5 * (family_.nu() + (n - 1) * d_) * std::log1p(-s);
  }

 private:
  double* statistic(int slot) {
    return statistics_.data() + static_cast<std::size_t>(slot) * family_.statistic_size();
  }

  void refresh(int slot) {
    const double* s = statistic(slot);
    const int size = static_cast<int>(s[0]);
    const double kappa = family_.r() + s[0];
    for (int j = 0; j < d_; ++j)
      means_[static_cast<std::size_t>(slot) * d_ + j] = s[1 + j] * s[0] / kappa;
    scales_[slot] = family_.posterior_scale(s);
    log_scales_[slot] = std::log(scales_[slot]);
    if (size >= family_.n_rows()) return;  // no row is left to join: nothing will be scored
    terms_[slot] = {
        family_.size_term(size + 1) - family_.size_term(size) - 0.5 * d_ * log_scales_[slot],
        0.5 * (family_.nu() + (s[0] + 1) * d_), kappa / (kappa + 1) / scales_[slot]};
  }

  const SphericalGaussian& family_;
  int d_;
  const Kernels& kernels_;
  std::vector<double> statistics_, means_, scales_, log_scales_, quadratic_;
  std::vector<StudentTerms> terms_;
  std::vector<double> block_, spare_;
  std::vector<int> loaded_;
};

static_assert(Family<SphericalGaussian> && ClusterScores<SphericalGaussian::Clusters>);

}  // namespace mixwood
