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

#include "mixwood/family/clusters.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/family/size_terms.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

class DiagonalGaussian {
 public:
  class Clusters;
  class Atoms;

  DiagonalGaussian(std::span<const double> rows, int n, int d, double r, double nu)
      : rows_(rows), n_(n), d_(d), r_(r), nu_(nu), alone_(n) {
    size_terms_.fill(n, [this](int size) { return size_formula(size); });
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
  // Which entries of a statistic are exact whole numbers.
  bool is_count(int entry) const { return entry % 3 == 0; }
  double size_term(double size) const {
    return size_terms_.at(size, [this](double any) { return size_formula(any); });
  }

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

  void subtract(double* s, const double* t) const {
    for (int j = 0; j < d_; ++j, s += 3, t += 3) {
      if (t[0] == 0) continue;
      const double n = s[0] - t[0];
      if (n < 1) {
        s[0] = s[1] = s[2] = 0;
        continue;
      }
      const double mean = s[1] + (s[1] - t[1]) * t[0] / n;
      const double difference = t[1] - mean;
      const double left = s[2] - t[2] - difference * difference * n * t[0] / s[0];
      s[2] = n == 1 ? 0.0 : std::max(left, 0.0);
      s[1] = mean;
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
      total += size_term(s[0]) - 0.5 * (nu_ + s[0]) * std::log(posterior_scale(s));
    return total;
  }

 private:
  double size_formula(double size) const {
    return -0.5 * size * std::log(std::numbers::pi) + 0.5 * std::log(r_ / (r_ + size)) +
           log_gamma(0.5 * (nu_ + size)) - log_gamma(0.5 * nu_);
  }

  std::span<const double> rows_;
  int n_, d_;
  double r_, nu_;
  bool complete_ = true;
  SizeTerms size_terms_;
  std::vector<double> alone_;
};

class DiagonalGaussian::Clusters
    : public RefreshedClusters<DiagonalGaussian, DiagonalGaussian::Clusters> {
 public:
  explicit Clusters(const DiagonalGaussian& family)
      : RefreshedClusters(family), complete_(family.complete()) {}

  void grow(int slots) {
    if (!grow_statistics(slots)) return;
    for (auto* values : {&means_, &fractions_, &halves_, &bases_, &scales_, &log_scales_})
      values->resize(static_cast<std::size_t>(slots_) * d_);
    base_sums_.resize(slots_);
    log_scale_sums_.resize(slots_);
  }

  double log_marginal(int slot) { return family_.log_marginal(statistic(slot)); }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_;
      double* target = scores + static_cast<std::size_t>(slot) * block_rows;
      if (complete_)
        kernels_.diagonal_complete(d_, &means_[at], &fractions_[at], halves_[at], base_sums_[slot],
                                   block_.values(), target);
      else
        kernels_.diagonal(d_, &means_[at], &fractions_[at], &halves_[at], &bases_[at],
                          block_.values(), block_.presence(), target);
    }
  }

  // In each column psi_- = psi_n (1 - s), s = kappa/(kappa-1) (x - mean)^2 / psi_n.
  double score_without(int slot, int b) {
    return complete_ ? complete_without(slot, b) : incomplete_without(slot, b);
  }

 private:
  friend RefreshedClusters;

  // One size for all columns: one logarithm of the product of the ratios does for all of them.
  double complete_without(int slot, int b) {
    const int size = static_cast<int>(statistic(slot)[0]);
    double log_ratios = 0;
    double product = 1;
    for (int j = 0; j < d_; ++j) {
      product *= ratio_without(slot, j, b, size);
      if (!(product > 1e-6)) {
        if (!(ratio_without(slot, j, b, size) > 1e-6)) return score_without_slowly(slot, b);
        log_ratios += std::log(product);
        product = 1;
      }
    }
    return d_ * (family_.size_term(size) - family_.size_term(size - 1)) -
           0.5 * log_scale_sums_[slot] +
           0.5 * (family_.nu() + size - 1) * (log_ratios + std::log(product));
  }

  double incomplete_without(int slot, int b) {
    double total = 0;
    for (int j = 0; j < d_; ++j) {
      if (!block_.present(j, b)) continue;
      const int size = static_cast<int>(statistic(slot)[3 * j]);
      const double ratio = ratio_without(slot, j, b, size);
      if (!(ratio > 1e-6)) return score_without_slowly(slot, b);
      total += family_.size_term(size) - family_.size_term(size - 1) -
               0.5 * log_scales_[static_cast<std::size_t>(slot) * d_ + j] +
               0.5 * (family_.nu() + size - 1) * std::log(ratio);
    }
    return total;
  }

  // 1 - s of one column; near 0 it has cancelled.
  double ratio_without(int slot, int j, int b, int size) const {
    const std::size_t at = static_cast<std::size_t>(slot) * d_ + j;
    const double difference = block_.value(j, b) - means_[at];
    const double weight = (family_.r() + size) / (family_.r() + (size - 1));
    return 1 - weight * difference * difference / scales_[at];
  }

  void refresh(int slot) {
    const double* s = statistic(slot);
    base_sums_[slot] = log_scale_sums_[slot] = 0;
    for (int j = 0; j < d_; ++j, s += 3) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_ + j;
      const int size = static_cast<int>(s[0]);
      const double kappa = family_.r() + s[0];
      // Statistics of other rows may lack entries where the rows that are scored have all.
      complete_ = complete_ && s[0] == statistic(slot)[0];
      scales_[at] = family_.posterior_scale(s);
      log_scales_[at] = std::log(scales_[at]);
      log_scale_sums_[slot] += log_scales_[at];
      means_[at] = s[1] * s[0] / kappa;
      fractions_[at] = kappa / (kappa + 1) / scales_[at];
      halves_[at] = 0.5 * (family_.nu() + s[0] + 1);
      bases_[at] = family_.size_term(size + 1) - family_.size_term(size) - 0.5 * log_scales_[at];
      base_sums_[slot] += bases_[at];
    }
  }

  bool complete_;  // in every cluster all columns have one size, and no row lacks an entry
  std::vector<double> means_, fractions_, halves_, bases_, scales_, log_scales_;
  std::vector<double> base_sums_, log_scale_sums_;
};

static_assert(Family<DiagonalGaussian> &&
              ClusterScores<DiagonalGaussian::Clusters, DiagonalGaussian>);

}  // namespace mixwood
