// Rows of independent Poisson counts, a Gamma(shape, rate) prior on each column's mean; NaN
// entries are skipped. In each column, with n present entries that sum to N:
//
//   P(x) = rate^shape/Gamma(shape) Gamma(shape + N)/(rate + n)^(shape + N)    (1/x! left out)
//
// Statistic: for each column n and N.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "mixwood/family/clusters.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

class Poisson {
 public:
  class Clusters;
  class Atoms;

  Poisson(std::span<const double> rows, int n, int d, double shape, std::span<const double> rates)
      : rows_(rows), n_(n), d_(d), shape_(shape), rates_(rates.begin(), rates.end()), alone_(n) {
    std::vector<double> s(statistic_size());
    for (int i = 0; i < n; ++i) {
      std::fill(s.begin(), s.end(), 0.0);
      observe(s.data(), i);
      alone_[i] = log_marginal(s.data());
    }
  }

  int n_rows() const { return n_; }
  int d() const { return d_; }
  double shape() const { return shape_; }
  double rate(int j) const { return rates_[j]; }
  const double* row(int i) const { return rows_.data() + static_cast<std::size_t>(i) * d_; }
  double log_alone(int i) const { return alone_[i]; }
  int statistic_size() const { return 2 * d_; }
  // All entries of a statistic are exact whole numbers.
  bool is_count(int) const { return true; }

  void observe(double* s, int i) const { add(s, i, 1); }
  void forget(double* s, int i) const { add(s, i, -1); }
  void merge(double* s, const double* t) const {
    for (int e = 0; e < statistic_size(); ++e) s[e] += t[e];
  }
  void subtract(double* s, const double* t) const {
    for (int e = 0; e < statistic_size(); ++e) s[e] -= t[e];
  }

  double log_marginal(const double* s) const {
    double total = 0;
    for (int j = 0; j < d_; ++j, s += 2)
      if (s[0] > 0)
        total += shape_ * std::log(rates_[j]) - log_gamma(shape_) + log_posterior(j, s[0], s[1]);
    return total;
  }

  // log Gamma(shape + N) - (shape + N) log(rate + n).
  double log_posterior(int j, double n, double sum) const {
    return log_gamma(shape_ + sum) - (shape_ + sum) * std::log(rates_[j] + n);
  }

 private:
  void add(double* s, int i, double sign) const {
    for (int j = 0; j < d_; ++j, s += 2) {
      const double x = row(i)[j];
      if (std::isnan(x)) continue;
      s[0] += sign;
      s[1] += sign * x;
    }
  }

  std::span<const double> rows_;
  int n_, d_;
  double shape_;
  std::vector<double> rates_, alone_;
};

class Poisson::Clusters : public RefreshedClusters<Poisson, Poisson::Clusters> {
 public:
  explicit Clusters(const Poisson& family) : RefreshedClusters(family) {}

  void grow(int slots) {
    if (!grow_statistics(slots)) return;
    for (auto* values : {&shapes_, &constants_, &slopes_, &log_posteriors_})
      values->resize(static_cast<std::size_t>(slots_) * d_);
  }

  double log_marginal(int slot) { return family_.log_marginal(statistic(slot)); }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_;
      kernels_.poisson(d_, &shapes_[at], &constants_[at], &slopes_[at], block_.values(),
                       block_.presence(), scores + static_cast<std::size_t>(slot) * block_rows);
    }
  }

  double score_without(int slot, int b) {
    const double* s = statistic(slot);
    double total = 0;
    for (int j = 0; j < d_; ++j, s += 2) {
      if (!block_.present(j, b)) continue;
      total += log_posteriors_[static_cast<std::size_t>(slot) * d_ + j] -
               family_.log_posterior(j, s[0] - 1, s[1] - block_.value(j, b));
    }
    return total;
  }

 private:
  friend RefreshedClusters;

  // log P(x | X_c) in column j is log Gamma(a + x) + constant + slope x.
  void refresh(int slot) {
    const double* s = statistic(slot);
    for (int j = 0; j < d_; ++j, s += 2) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_ + j;
      const double a = family_.shape() + s[1];
      const double b = family_.rate(j) + s[0];
      const double log_gamma_a = log_gamma(a);
      shapes_[at] = a;
      constants_[at] = -a * std::log1p(1 / b) - log_gamma_a;
      slopes_[at] = -std::log(b + 1);
      log_posteriors_[at] = log_gamma_a - a * std::log(b);
    }
  }

  std::vector<double> shapes_, constants_, slopes_, log_posteriors_;
};

static_assert(Family<Poisson> && ClusterScores<Poisson::Clusters, Poisson>);

}  // namespace mixwood
