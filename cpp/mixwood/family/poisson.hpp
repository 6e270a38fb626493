// Rows of independent Poisson counts, a Gamma(shape, rate) prior on each column's mean; NaN
// entries are skipped. In each column, with n present entries that sum to N:
//
//   P(x) = rate^shape/Gamma(shape) Gamma(shape + N)/(rate + n)^(shape + N)    (1/x! left out)
//
// Where rows have exposures e, x has e times the mean, n is the sum of e, and e^x is left out, too.
// Statistic: for each column n and N. A learned base measure is ln shape of every column; the rates
// may be tied to the shapes, so that the prior's means stay.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "mixwood/family/clusters.hpp"
#include "mixwood/family/exposures.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/lazy_table.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/random/hyperprior.hpp"

namespace mixwood {

class Poisson {
 public:
  class Clusters;
  class Atoms;

  // `tied`: with a hyperprior, whether the rates keep their ratio to the shapes.
  Poisson(std::span<const double> rows, int n, int d, std::span<const double> shapes,
          std::span<const double> rates, bool tied = false, Hyperprior hyper = {},
          std::optional<std::span<const double>> exposures = {})
      : rows_(rows),
        n_(n),
        d_(d),
        shapes_(shapes.begin(), shapes.end()),
        rates_(rates.begin(), rates.end()),
        tied_(tied),
        hyper_(hyper),
        exposures_(exposures) {
    if (hyper.is_random()) {
      base_.resize(static_cast<std::size_t>(d));
      std::vector<double> start(base_.size());
      for (int j = 0; j < d; ++j) {
        start[j] = std::log(shapes_[j]);
        means_.push_back(shapes_[j] / rates_[j]);
      }
      set_base(start.data());
      return;
    }
    alone_.fill(static_cast<std::size_t>(n),
                [this](std::size_t i) { return compute_alone(static_cast<int>(i)); });
  }

  // --- the base measure
  int base_size() const { return static_cast<int>(base_.size()); }
  void read_base(double* to) const { std::copy(base_.begin(), base_.end(), to); }
  void set_base(const double* base) {
    for (int j = 0; j < d_; ++j) {
      const double shape = std::exp(base[j]);
      if (!(shape > 0) || !std::isfinite(shape))
        throw std::invalid_argument("a base measure must have a positive, finite shape");
      base_[j] = base[j];
      shapes_[j] = shape;
      if (tied_) rates_[j] = shape / means_[j];
    }
    alone_.forget(static_cast<std::size_t>(n_));
  }
  double log_base() const {
    double total = 0;
    for (const double log_shape : base_) total += hyper_.log_density(log_shape);
    return total;
  }
  BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) {
    std::vector<std::vector<double>> columns(static_cast<std::size_t>(d_));  // n, N, n, N, ...
    for (int k = 0; k < clusters.count; ++k) {
      const double* s = clusters.read(k);
      for (int j = 0; j < d_; ++j, s += 2)
        if (s[0] > 0) columns[j].insert(columns[j].end(), s, s + 2);
    }
    std::vector<double> moved(base_.size());
    for (int j = 0; j < d_; ++j)
      moved[j] = slice_coordinate(
          base_[j], 1.0, hyper_, [&](double x) { return log_likelihood(j, columns[j], x); },
          random);
    set_base(moved.data());
    return {};
  }

  int n_rows() const { return n_; }
  int d() const { return d_; }
  double shape(int j) const { return shapes_[j]; }
  double rate(int j) const { return rates_[j]; }
  const Exposures& exposures() const { return exposures_; }
  const double* row(int i) const { return rows_.data() + static_cast<std::size_t>(i) * d_; }
  double log_alone(int i) const {
    return alone_.at(static_cast<std::size_t>(i),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }
  int statistic_size() const { return 2 * d_; }
  // Which entries of a statistic are exact whole numbers.
  bool is_count(int entry) const { return !exposures_.given() || entry % 2 == 1; }

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
        total +=
            shapes_[j] * std::log(rates_[j]) - log_gamma(shapes_[j]) + log_posterior(j, s[0], s[1]);
    return total;
  }

  // log Gamma(shape + N) - (shape + N) log(rate + n).
  double log_posterior(int j, double n, double sum) const {
    return log_gamma(shapes_[j] + sum) - (shapes_[j] + sum) * std::log(rates_[j] + n);
  }

 private:
  double compute_alone(int i) const {
    std::vector<double> s(static_cast<std::size_t>(statistic_size()), 0.0);
    observe(s.data(), i);
    return log_marginal(s.data());
  }

  // Of a column's clusters, each n and N, at another shape.
  double log_likelihood(int j, const std::vector<double>& clusters, double log_shape) const {
    const double shape = std::exp(log_shape);
    const double rate = tied_ ? shape / means_[j] : rates_[j];
    const double prior = shape * std::log(rate) - log_gamma(shape);
    double total = 0;
    for (std::size_t k = 0; k < clusters.size(); k += 2)
      total += prior + log_gamma(shape + clusters[k + 1]) -
               (shape + clusters[k + 1]) * std::log(rate + clusters[k]);
    return total;
  }

  void add(double* s, int i, double sign) const {
    const double e = sign * exposures_.of(i);
    for (int j = 0; j < d_; ++j, s += 2) {
      const double x = row(i)[j];
      if (std::isnan(x)) continue;
      s[0] += e;
      s[1] += sign * x;
    }
  }

  std::span<const double> rows_;
  int n_, d_;
  std::vector<double> shapes_, rates_, means_;
  bool tied_;
  Hyperprior hyper_;
  Exposures exposures_;
  std::vector<double> base_;
  LazyTable alone_;
};

class Poisson::Clusters : public RefreshedClusters<Poisson, Poisson::Clusters> {
 public:
  explicit Clusters(const Poisson& family) : RefreshedClusters(family) {}

  void grow(int slots) {
    if (!grow_statistics(slots)) return;
    for (auto* values : {&shapes_, &rates_, &constants_, &slopes_, &log_posteriors_})
      values->resize(static_cast<std::size_t>(slots_) * d_);
  }

  double log_marginal(int slot) { return family_.log_marginal(statistic(slot)); }

  void load(std::span<const int> rows) {
    block_.load(family_, rows);
    exposures_.load(family_.exposures(), rows);
  }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_;
      double* to = scores + static_cast<std::size_t>(slot) * block_rows;
      if (family_.exposures().given())
        kernels_.poisson_exposed(d_, &shapes_[at], &rates_[at], &constants_[at], exposures_.data(),
                                 block_.values(), block_.presence(), to);
      else
        kernels_.poisson(d_, &shapes_[at], &constants_[at], &slopes_[at], block_.values(),
                         block_.presence(), to);
    }
  }

  double score_without(int slot, int b) {
    const double* s = statistic(slot);
    double total = 0;
    for (int j = 0; j < d_; ++j, s += 2) {
      if (!block_.present(j, b)) continue;
      total += log_posteriors_[static_cast<std::size_t>(slot) * d_ + j] -
               family_.log_posterior(j, s[0] - exposures_[b], s[1] - block_.value(j, b));
    }
    return total;
  }

 private:
  friend RefreshedClusters;

  // log P(x | X_c) in column j is log Gamma(a + x) + constant + slope x; where rows have exposures,
  // log Gamma(a + x) + constant - (a + x) log(b + e).
  void refresh(int slot) {
    const double* s = statistic(slot);
    for (int j = 0; j < d_; ++j, s += 2) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_ + j;
      const double a = family_.shape(j) + s[1];
      const double b = family_.rate(j) + s[0];
      const double log_gamma_a = log_gamma(a);
      shapes_[at] = a;
      rates_[at] = b;
      constants_[at] = family_.exposures().given() ? a * std::log(b) - log_gamma_a
                                                   : -a * std::log1p(1 / b) - log_gamma_a;
      slopes_[at] = -std::log(b + 1);
      log_posteriors_[at] = log_gamma_a - a * std::log(b);
    }
  }

  ExposureBlock exposures_;
  std::vector<double> shapes_, rates_, constants_, slopes_, log_posteriors_;
};

static_assert(Family<Poisson> && ClusterScores<Poisson::Clusters, Poisson>);

}  // namespace mixwood
