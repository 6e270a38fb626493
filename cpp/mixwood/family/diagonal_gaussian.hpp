// Gaussian rows with independent columns; NaN entries are skipped. The rows come centred on the
// prior mean. In each column, over its n present entries, with its own psi and r:
//
//   P(x) = pi^(-n/2) (r/(r+n))^(1/2) psi^(nu/2) psi_n^(-(nu+n)/2) Gamma((nu+n)/2)/Gamma(nu/2)
//   psi_n = psi + sum (x-xbar)^2 + r n/(r+n) xbar^2
//
// Statistic: for each column n, xbar, sum (x-xbar)^2. Where the base measure is fixed, the rows
// come in units in which psi = 1, with one r. A learned one is ln omega of every column, ln nu', ln
// r: psi = nu' omega, nu = nu' + 2; r may be tied to omega.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
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
#include "mixwood/numerics/log_product.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

class DiagonalGaussian {
 public:
  class Clusters;
  class Atoms;

  DiagonalGaussian(std::span<const double> rows, int n, int d, double r, double nu)
      : DiagonalGaussian(rows, n, d, nu) {
    r_.assign(static_cast<std::size_t>(d), r);
    psi_.assign(static_cast<std::size_t>(d), 1.0);
    size_terms_.fill(n, [this](int size) { return any_size(size); });
    sums_of_terms_.fill(n, [this](int size) { return sum_of_terms(size); });
    alone_.fill(static_cast<std::size_t>(n),
                [this](std::size_t i) { return compute_alone(static_cast<int>(i)); });
  }

  // With a learned base measure that starts at `base`; one floor for each column.
  DiagonalGaussian(std::span<const double> rows, int n, int d, VarianceHyper hyper,
                   const double* base)
      : DiagonalGaussian(rows, n, d, 0.0) {
    hyper_ = std::make_shared<const VarianceHyper>(std::move(hyper));
    base_.resize(static_cast<std::size_t>(d) + 2);
    r_.resize(static_cast<std::size_t>(d));
    psi_.resize(static_cast<std::size_t>(d));
    set_base(base);
  }

  // --- the base measure; see diagonal_gaussian_base.hpp
  int base_size() const { return static_cast<int>(base_.size()); }
  void read_base(double* to) const { std::copy(base_.begin(), base_.end(), to); }
  inline void set_base(const double* base);
  inline double log_base() const;
  inline BaseMoves update_base(const ClusterStatistics& clusters, Stream& random);

  int n_rows() const { return n_; }
  int d() const { return d_; }
  double r(int j) const { return r_[j]; }
  double psi(int j) const { return psi_[j]; }
  double nu() const { return nu_; }
  bool complete() const { return complete_; }  // nothing is missing
  const double* row(int i) const { return rows_.data() + static_cast<std::size_t>(i) * d_; }
  double log_alone(int i) const {
    return alone_.at(static_cast<std::size_t>(i),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }
  int statistic_size() const { return 3 * d_; }
  // Which entries of a statistic are exact whole numbers.
  bool is_count(int entry) const { return entry % 3 == 0; }
  // Of column j, log P(x) = size_term(j, n) - (nu+n)/2 log psi_n.
  double size_term(int j, double size) const {
    const double term = size_terms_.at(size, [this](double any) { return any_size(any); });
    return hyper_ ? term + prior_terms_[j] + r_term(r_[j], size) : term;
  }
  // size_term(j, size + 1) - size_term(j, size), which needs one logarithm less.
  double size_step(int j, double size) const {
    const auto term = [this](double any) { return any_size(any); };
    const double step = size_terms_.at(size + 1, term) - size_terms_.at(size, term);
    return hyper_ ? step + 0.5 * std::log((r_[j] + size) / (r_[j] + size + 1)) : step;
  }

  void observe(double* s, int i) const {
    const double* x = row(i);
    double n = 1, share = 1;  // of the column before, which mostly has as many entries
    for (int j = 0; j < d_; ++j, s += 3) {
      if (std::isnan(x[j])) continue;
      s[0] += 1;
      if (s[0] != n) share = 1 / (n = s[0]);
      const double difference = x[j] - s[1], step = difference * share;
      s[2] += difference * (difference - step);
      s[1] += step;
    }
  }

  void forget(double* s, int i) const {
    for (int j = 0; j < d_; ++j, s += 3) {
      const double x = row(i)[j];
      if (std::isnan(x)) continue;
      const double n = s[0] - 1;
      if (n <= 0) {
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

  // From now on rows may count as parts of one: a size of 1 may be that of several.
  void allow_parts() { has_parts_ = true; }

  void subtract(double* s, const double* t) const {
    for (int j = 0; j < d_; ++j, s += 3, t += 3) {
      if (t[0] == 0) continue;
      const double n = s[0] - t[0];
      if (n <= 0) {
        s[0] = s[1] = s[2] = 0;
        continue;
      }
      const double mean = s[1] + (s[1] - t[1]) * t[0] / n;
      const double difference = t[1] - mean;
      const double left = s[2] - t[2] - difference * difference * n * t[0] / s[0];
      s[2] = n == 1 && !has_parts_ ? 0.0 : std::max(left, 0.0);
      s[1] = mean;
      s[0] = n;
    }
  }

  // psi_n of column j; `s` is that column's part of a statistic.
  double posterior_scale(int j, const double* s) const {
    return psi_[j] + s[2] + r_[j] * s[0] / (r_[j] + s[0]) * s[1] * s[1];
  }

  double log_marginal(const double* s) const {
    if (has_one_size(s))
      return log_marginal_of_size(s[0], [&](int j) { return Moments{s[3 * j + 1], s[3 * j + 2]}; });
    double total = 0;
    for (int j = 0; j < d_; ++j, s += 3)
      total += size_term(j, s[0]) - 0.5 * (nu_ + s[0]) * std::log(posterior_scale(j, s));
    return total;
  }

  // log P of the rows of `s` and one more, or those of `t`; `spare` holds a statistic.
  double log_marginal_with(const double* s, int i, double* spare) const {
    if (!complete_ || !has_one_size(s)) {
      std::copy_n(s, statistic_size(), spare);
      observe(spare, i);
      return log_marginal(spare);
    }
    const double n = s[0] + 1, share = 1 / n, between = s[0] / n;
    const double* x = row(i);
    return log_marginal_of_size(n, [=](int j) {
      const double mean = s[3 * j + 1], difference = x[j] - mean;
      return Moments{mean + share * difference, s[3 * j + 2] + between * difference * difference};
    });
  }
  double log_marginal_with(const double* s, const double* t, double* spare) const {
    if (!(t[0] > 0) || !has_one_size(s) || !has_one_size(t)) {
      std::copy_n(s, statistic_size(), spare);
      merge(spare, t);
      return log_marginal(spare);
    }
    const double n = s[0] + t[0], share = t[0] / n, between = s[0] * share;
    return log_marginal_of_size(n, [=](int j) {
      const double mean = s[3 * j + 1], difference = t[3 * j + 1] - mean;
      return Moments{mean + share * difference,
                     s[3 * j + 2] + t[3 * j + 2] + between * difference * difference};
    });
  }

 private:
  struct Moments {
    double mean, scatter;
  };

  // Whether all columns have as many entries.
  bool has_one_size(const double* s) const {
    // Bits compare much faster than numbers that may be NaN.
    const auto first = std::bit_cast<std::uint64_t>(s[0]);
    std::uint64_t other = 0;
    for (int j = 1; j < d_; ++j) other |= std::bit_cast<std::uint64_t>(s[3 * j]) ^ first;
    return other == 0;
  }

  // log P of a cluster with as many entries in each column, given the columns' moments: one
  // logarithm for all of them.
  template <class Column>
  double log_marginal_of_size(double n, Column&& moments) const {
    const double *const psi = psi_.data(), *const r = r_.data();
    const double shrunk = r[0] * n / (r[0] + n);
    const bool one_r = has_one_r_;
    LogProduct scales;
    // A block of columns first, so that their arithmetic does not wait for that of the product.
    constexpr int block = 8;
    double some[block];
    for (int first = 0; first < d_; first += block) {
      const int count = std::min(block, d_ - first);
      for (int j = 0; j < count; ++j) {
        const int at = first + j;
        const auto [mean, scatter] = moments(at);
        const double weight = one_r ? shrunk : r[at] * n / (r[at] + n);
        some[j] = psi[at] + scatter + weight * mean * mean;
      }
      for (int j = count; j < block; ++j) some[j] = 1;
      scales.times(some[0], some[1], some[2], some[3]);
      if (count > 4) scales.times(some[4], some[5], some[6], some[7]);
    }
    const double terms = sums_of_terms_.at(n, [this](double any) { return sum_of_terms(any); });
    return terms - 0.5 * (nu_ + n) * scales.log();
  }

  // size_term of all columns for one size.
  double sum_of_terms(double n) const {
    return d_ * size_terms_.at(n, [this](double any) { return any_size(any); }) + base_term(n);
  }

  // What a learned base measure adds to the columns' terms for a size.
  double base_term(double n) const {
    if (!hyper_) return 0;
    if (has_one_r_) return prior_sum_ + d_ * r_term(r_[0], n);
    LogProduct rest;
    for (const double r : r_) rest.times(r / (r + n));
    return prior_sum_ + 0.5 * rest.log();
  }

  DiagonalGaussian(std::span<const double> rows, int n, int d, double nu)
      : rows_(rows), n_(n), d_(d), nu_(nu) {
    for (const double x : rows) complete_ = complete_ && !std::isnan(x);
  }

  // The part of a size's term that is the same in all columns.
  double any_size(double size) const {
    return -0.5 * size * std::log(std::numbers::pi) + (hyper_ ? 0.0 : r_term(r_[0], size)) +
           log_gamma(0.5 * (nu_ + size)) - log_gamma(0.5 * nu_);
  }
  static double r_term(double r, double size) { return 0.5 * std::log(r / (r + size)); }

  double compute_alone(int i) const {
    double total = 0;
    for (int j = 0; j < d_; ++j) {
      const double x = row(i)[j];
      if (std::isnan(x)) continue;
      const double squared = r_[j] / (r_[j] + 1) * x * x / psi_[j];
      total += size_term(j, 1) - 0.5 * (nu_ + 1) * (std::log(psi_[j]) + std::log1p(squared));
    }
    return total;
  }

  std::span<const double> rows_;
  int n_, d_;
  double nu_;
  bool complete_ = true, has_one_r_ = true;
  double prior_sum_ = 0;                       // of prior_terms_
  std::vector<double> r_, psi_, prior_terms_;  // of every column; nu/2 log psi where learned
  SizeTerms size_terms_, sums_of_terms_;       // of one column, and of all
  bool has_parts_ = false;
  LazyTable alone_;
  std::shared_ptr<const VarianceHyper> hyper_;  // null where the base measure is fixed
  std::vector<double> base_;
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
    step_sums_.resize(slots_);
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

  // log P(x_b) of the rows that were loaded.
  void score_alone(double* scores) {
    alone_.resize(4 * static_cast<std::size_t>(d_));
    double* zeros = alone_.data();
    double *fractions = zeros + d_, *halves = fractions + d_, *bases = halves + d_;
    double sum = 0;
    for (int j = 0; j < d_; ++j) {
      const double r = family_.r(j);
      fractions[j] = r / (r + 1) / family_.psi(j);
      halves[j] = 0.5 * (family_.nu() + 1);
      bases[j] = family_.size_step(j, 0) - 0.5 * std::log(family_.psi(j));
      sum += bases[j];
    }
    if (complete_)
      kernels_.diagonal_complete(d_, zeros, fractions, halves[0], sum, block_.values(), scores);
    else
      kernels_.diagonal(d_, zeros, fractions, halves, bases, block_.values(), block_.presence(),
                        scores);
  }

  // In each column psi_- = psi_n (1 - s), s = kappa/(kappa-1) (x - mean)^2 / psi_n.
  double score_without(int slot, int b) {
    return complete_ ? complete_without(slot, b) : incomplete_without(slot, b);
  }

 private:
  friend RefreshedClusters;

  // One size for all columns: one logarithm of the product of the ratios does for all of them.
  double complete_without(int slot, int b) {
    const double size = statistic(slot)[0];
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
    return step_sums_[slot] - 0.5 * log_scale_sums_[slot] +
           0.5 * (family_.nu() + size - 1) * (log_ratios + std::log(product));
  }

  double incomplete_without(int slot, int b) {
    double total = 0;
    for (int j = 0; j < d_; ++j) {
      if (!block_.present(j, b)) continue;
      const double size = statistic(slot)[3 * j];
      const double ratio = ratio_without(slot, j, b, size);
      if (!(ratio > 1e-6)) return score_without_slowly(slot, b);
      total += family_.size_step(j, size - 1) -
               0.5 * log_scales_[static_cast<std::size_t>(slot) * d_ + j] +
               0.5 * (family_.nu() + size - 1) * std::log(ratio);
    }
    return total;
  }

  // 1 - s of one column; near 0 it has cancelled.
  double ratio_without(int slot, int j, int b, double size) const {
    const std::size_t at = static_cast<std::size_t>(slot) * d_ + j;
    const double difference = block_.value(j, b) - means_[at];
    const double weight = (family_.r(j) + size) / (family_.r(j) + (size - 1));
    return 1 - weight * difference * difference / scales_[at];
  }

  void refresh(int slot) {
    const double* s = statistic(slot);
    base_sums_[slot] = log_scale_sums_[slot] = step_sums_[slot] = 0;
    for (int j = 0; j < d_; ++j, s += 3) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_ + j;
      const double size = s[0];
      const double kappa = family_.r(j) + s[0];
      // Statistics of other rows may lack entries where the rows that are scored have all.
      complete_ = complete_ && s[0] == statistic(slot)[0];
      scales_[at] = family_.posterior_scale(j, s);
      log_scales_[at] = std::log(scales_[at]);
      log_scale_sums_[slot] += log_scales_[at];
      means_[at] = s[1] * s[0] / kappa;
      fractions_[at] = kappa / (kappa + 1) / scales_[at];
      halves_[at] = 0.5 * (family_.nu() + s[0] + 1);
      bases_[at] = family_.size_step(j, size) - 0.5 * log_scales_[at];
      if (size >= 1 && family_.base_size() > 0) step_sums_[slot] += family_.size_step(j, size - 1);
      base_sums_[slot] += bases_[at];
    }
    const double size = statistic(slot)[0];
    // Of rows that weigh less than one there may be less: no whole row is taken out of these.
    if (size >= 1 && family_.base_size() == 0)
      step_sums_[slot] = d_ * family_.size_step(0, size - 1);
  }

  bool complete_;  // in every cluster all columns have one size, and no row lacks an entry
  std::vector<double> means_, fractions_, halves_, bases_, scales_, log_scales_;
  std::vector<double> base_sums_, log_scale_sums_, step_sums_, alone_;
};

static_assert(Family<DiagonalGaussian> &&
              ClusterScores<DiagonalGaussian::Clusters, DiagonalGaussian>);

}  // namespace mixwood
