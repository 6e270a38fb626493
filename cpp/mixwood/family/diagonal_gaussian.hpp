// Gaussian rows with independent columns; NaN entries are skipped. The rows come centred on the
// prior mean and in units in which psi = 1. In each column, over its n present entries:
//
//   P(x) = pi^(-n/2) (r/(r+n))^(1/2) psi_n^(-(nu+n)/2) Gamma((nu+n)/2)/Gamma(nu/2)
//   psi_n = 1 + sum (x-xbar)^2 + r n/(r+n) xbar^2
//
// Statistic: for each column n, xbar, sum (x-xbar)^2.
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

class DiagonalGaussian {
 public:
  class Clusters;

  DiagonalGaussian(std::span<const double> rows, int n, int d, double r, double nu)
      : rows_(rows), n_(n), d_(d), r_(r), nu_(nu), size_terms_(n + 1), alone_(n) {
    const double log_pi = std::log(std::numbers::pi);
    for (int k = 0; k <= n; ++k)
      size_terms_[k] = -0.5 * k * log_pi + 0.5 * std::log(r / (r + k)) + log_gamma(0.5 * (nu + k)) -
                       log_gamma(0.5 * nu);
    for (const double x : rows) complete_ = complete_ && !std::isnan(x);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < d; ++j) {
        const double x = row(i)[j];
        if (!std::isnan(x))
          alone_[i] += size_terms_[1] - 0.5 * (nu + 1) * std::log1p(r / (r + 1) * x * x);
      }
  }

  int n_rows() const { return n_; }
  int d() const { return d_; }
  double r() const { return r_; }
  double nu() const { return nu_; }
  bool complete() const { return complete_; }  // nothing is missing
  const double* row(int i) const { return rows_.data() + static_cast<std::size_t>(i) * d_; }
  double log_alone(int i) const { return alone_[i]; }
  int statistic_size() const { return 3 * d_; }
  double size_term(int size) const { return size_terms_[size]; }

  void observe(double* s, int i) const {
    for (int j = 0; j < d_; ++j, s += 3) {
      const double x = row(i)[j];
      if (std::isnan(x)) continue;
      s[0] += 1;
      const double difference = x - s[1];
      s[2] += difference * difference * (s[0] - 1) / s[0];
      s[1] += difference / s[0];
    }
  }

  void forget(double* s, int i) const {
    for (int j = 0; j < d_; ++j, s += 3) {
      const double x = row(i)[j];
      if (std::isnan(x)) continue;
      const double n = s[0] - 1;
      if (n < 1) {
        s[0] = s[1] = s[2] = 0;
        continue;
      }
      const double difference = x - s[1];
      s[2] = n == 1 ? 0.0 : std::max(s[2] - difference * difference * s[0] / n, 0.0);
      s[1] -= difference / n;
      s[0] = n;
    }
  }

  void merge(double* s, const double* t) const {
    for (int j = 0; j < d_; ++j, s += 3, t += 3) {
      if (t[0] == 0) continue;
      const double n = s[0] + t[0];
      const double difference = t[1] - s[1];
      s[2] += t[2] + difference * difference * s[0] * t[0] / n;
      s[1] += difference * t[0] / n;
      s[0] = n;
    }
  }

  // psi_n of one column.
  double posterior_scale(const double* s) const {
    return 1 + s[2] + r_ * s[0] / (r_ + s[0]) * s[1] * s[1];
  }

  double log_marginal(const double* s) const {
    double total = 0;
    for (int j = 0; j < d_; ++j, s += 3)
      total +=
          size_terms_[static_cast<int>(s[0])] - 0.5 * (nu_ + s[0]) * std::log(posterior_scale(s));
    return total;
  }

 private:
  std::span<const double> rows_;
  int n_, d_;
  double r_, nu_;
  bool complete_ = true;
  std::vector<double> size_terms_, alone_;
};

class DiagonalGaussian::Clusters {
 public:
  static constexpr int rows_at_once = block_rows;

  explicit Clusters(const DiagonalGaussian& family)
      : family_(family),
        d_(family.d()),
        kernels_(kernels()),
        block_(static_cast<std::size_t>(d_) * block_rows),
        present_(static_cast<std::size_t>(d_) * block_rows, 1.0),
        spare_(family.statistic_size()) {}

  void grow(int slots) {
    if (slots <= static_cast<int>(base_sums_.size())) return;
    const std::size_t count = std::max<std::size_t>(slots, 2 * base_sums_.size());
    statistics_.resize(count * family_.statistic_size());
    for (auto* values : {&means_, &scales_, &halves_, &bases_}) values->resize(count * d_);
    base_sums_.resize(count);
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

  double log_marginal(int slot) { return family_.log_marginal(statistic(slot)); }

  void load(std::span<const int> rows) {
    loaded_.assign(rows.begin(), rows.end());
    for (std::size_t b = 0; b < rows.size(); ++b)
      for (int j = 0; j < d_; ++j) {
        const double x = family_.row(rows[b])[j];
        block_[j * block_rows + b] = std::isnan(x) ? 0.0 : x;
        present_[j * block_rows + b] = std::isnan(x) ? 0.0 : 1.0;
      }
  }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_;
      if (family_.complete())
        kernels_.diagonal_complete(d_, &means_[at], &scales_[at], halves_[at], base_sums_[slot],
                                   block_.data(), scores + slot * block_rows);
      else
        kernels_.diagonal(d_, &means_[at], &scales_[at], &halves_[at], &bases_[at], block_.data(),
                          present_.data(), scores + slot * block_rows);
    }
  }

  // In each column psi_- = psi_n (1 - s), s = kappa/(kappa-1) (x - mean)^2 / psi_n.
  double score_without(int slot, int b) {
    const double* s = statistic(slot);
    const std::size_t at = static_cast<std::size_t>(slot) * d_;
    double total = 0;
    for (int j = 0; j < d_; ++j, s += 3) {
      if (present_[j * block_rows + b] == 0) continue;
      const int size = static_cast<int>(s[0]);
      const double kappa = family_.r() + s[0];
      const double scale = family_.posterior_scale(s);
      const double difference = block_[j * block_rows + b] - means_[at + j];
      const double ratio = 1 - kappa / (kappa - 1) * difference * difference / scale;
      if (ratio < 1e-6) {  // cancels: take the row out for real, on the side
        std::copy_n(statistic(slot), spare_.size(), spare_.begin());
        family_.forget(spare_.data(), loaded_[b]);
        return log_marginal(slot) - family_.log_marginal(spare_.data());
      }
      total += family_.size_term(size) - family_.size_term(size - 1) - 0.5 * std::log(scale) +
               0.5 * (family_.nu() + s[0] - 1) * std::log(ratio);
    }
    return total;
  }

 private:
  double* statistic(int slot) {
    return statistics_.data() + static_cast<std::size_t>(slot) * family_.statistic_size();
  }

  void refresh(int slot) {
    const double* s = statistic(slot);
    base_sums_[slot] = 0;
    for (int j = 0; j < d_; ++j, s += 3) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_ + j;
      const int size = static_cast<int>(s[0]);
      const double kappa = family_.r() + s[0];
      const double scale = family_.posterior_scale(s);
      means_[at] = s[1] * s[0] / kappa;
      scales_[at] = kappa / (kappa + 1) / scale;
      halves_[at] = 0.5 * (family_.nu() + s[0] + 1);
      if (size >= family_.n_rows()) continue;  // no row is left to join
      bases_[at] = family_.size_term(size + 1) - family_.size_term(size) - 0.5 * std::log(scale);
      base_sums_[slot] += bases_[at];
    }
  }

  const DiagonalGaussian& family_;
  int d_;
  const Kernels& kernels_;
  std::vector<double> statistics_, means_, scales_, halves_, bases_, base_sums_;
  std::vector<double> block_, present_, spare_;
  std::vector<int> loaded_;
};

static_assert(Family<DiagonalGaussian> && ClusterScores<DiagonalGaussian::Clusters>);

}  // namespace mixwood
