// Rows of independent negative binomial counts, a Beta(a, b) prior on each column's probability p;
// NaN entries are skipped. With a row's exposure e, which is 1 unless it is given,
//
//   P(x | p) = Gamma(x + size e)/(Gamma(size e) x!) p^(size e) (1-p)^x
//
// and in each column, with present entries that sum to N and exposures that sum to E:
//
//   P(x) = B(a + size E, b + N)/B(a, b)      (the first factor of each row left out)
//   a = 1 + size shape/mean, b = shape: the expected mean of a cluster is `mean`
//
// Statistic: for each column E and N. A learned base measure is ln size of every column, then
// ln shape of every column, as far as they are learned. What is left out of a row depends on the
// size, and on no partition: see row_term and log_rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/family/clusters.hpp"
#include "mixwood/family/exposures.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/lazy_table.hpp"
#include "mixwood/numerics/special.hpp"
#include "mixwood/random/hyperprior.hpp"

namespace mixwood {

class NegativeBinomial {
 public:
  class Clusters;
  class Atoms;

  // What the prior of all columns is: one entry each.
  struct Prior {
    std::vector<double> sizes, shapes, means;
    Hyperprior size_law, shape_law;
  };

  NegativeBinomial(std::span<const double> rows, int n, int d, Prior prior,
                   std::optional<std::span<const double>> exposures)
      : rows_(rows),
        n_(n),
        d_(d),
        prior_(std::move(prior)),
        start_sizes_(prior_.sizes),
        exposures_(exposures) {
    if (learns_size()) tallies_ = std::make_shared<const std::vector<Tally>>(tallied());
    std::vector<double> start;
    for (const auto& [values, law] :
         {std::pair{&prior_.sizes, prior_.size_law}, std::pair{&prior_.shapes, prior_.shape_law}})
      if (law.is_random())
        for (const double value : *values) start.push_back(std::log(value));
    base_.resize(start.size());
    set_base(start.data());
  }

  // --- the base measure
  int base_size() const { return static_cast<int>(base_.size()); }
  void read_base(double* to) const { std::copy(base_.begin(), base_.end(), to); }
  void set_base(const double* base) {
    std::copy_n(base, base_.size(), base_.begin());
    for (std::size_t k = 0; k < base_.size(); ++k) {
      const double value = std::exp(base_[k]);
      if (!(value > 0) || !std::isfinite(value))
        throw std::invalid_argument("a base measure must have positive, finite sizes and shapes");
      (k < shapes_at() ? prior_.sizes : prior_.shapes)[k % d_] = value;
    }
    alone_.forget(static_cast<std::size_t>(n_));
  }
  double log_base() const {
    double total = 0;
    for (std::size_t k = 0; k < base_.size(); ++k)
      total += (k < shapes_at() ? prior_.size_law : prior_.shape_law).log_density(base_[k]);
    return total;
  }
  BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) {
    std::vector<std::vector<double>> columns(static_cast<std::size_t>(d_));  // E, N, E, N, ...
    for (int k = 0; k < clusters.count; ++k) {
      const double* s = clusters.read(k);
      for (int j = 0; j < d_; ++j, s += 2)
        if (s[0] > 0) columns[j].insert(columns[j].end(), s, s + 2);
    }
    std::vector<double> moved = base_;
    for (int j = 0; j < d_; ++j) {
      double size = prior_.sizes[j];
      if (learns_size()) {
        moved[j] = slice_coordinate(
            moved[j], 1.0, prior_.size_law,
            [&](double x) {
              return log_rising((*tallies_)[j], std::exp(x)) +
                     log_likelihood(j, columns[j], std::exp(x), prior_.shapes[j]);
            },
            random);
        size = std::exp(moved[j]);
      }
      if (prior_.shape_law.is_random())
        moved[shapes_at() + j] = slice_coordinate(
            moved[shapes_at() + j], 1.0, prior_.shape_law,
            [&](double x) { return log_likelihood(j, columns[j], size, std::exp(x)); }, random);
    }
    set_base(moved.data());
    return {};
  }

  // What is left out of the density of a row, log Gamma(x + size e)/Gamma(size e) over its columns,
  // less what that is at the sizes that the family began with.
  double row_term(int i) const {
    if (!learns_size()) return 0;
    const double e = exposures_.of(i);
    double total = 0;
    for (int j = 0; j < d_; ++j) {
      const double x = row(i)[j];
      if (x > 0) total += log_rising(x, e * prior_.sizes[j]) - log_rising(x, e * start_sizes_[j]);
    }
    return total;
  }
  // The sum over all rows.
  double log_rows() const {
    if (!learns_size()) return 0;
    double total = 0;
    for (int j = 0; j < d_; ++j)
      total +=
          log_rising((*tallies_)[j], prior_.sizes[j]) - log_rising((*tallies_)[j], start_sizes_[j]);
    return total;
  }

  int n_rows() const { return n_; }
  int d() const { return d_; }
  double size(int j) const { return prior_.sizes[j]; }
  double a(int j) const { return 1 + prior_.sizes[j] * prior_.shapes[j] / prior_.means[j]; }
  double b(int j) const { return prior_.shapes[j]; }
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
      if (s[0] > 0) total += log_posterior(j, s[0], s[1]) - log_posterior(j, 0, 0);
    return total;
  }

  // log B(a + size E, b + N).
  double log_posterior(int j, double exposure, double sum) const {
    return log_beta(a(j) + prior_.sizes[j] * exposure, b(j) + sum);
  }

 private:
  // The present entries of a column that are not 0, and how often each is there.
  struct Tally {
    std::vector<double> counts, exposures, times;
  };

  bool learns_size() const { return prior_.size_law.is_random(); }
  std::size_t shapes_at() const { return learns_size() ? static_cast<std::size_t>(d_) : 0; }

  static double log_beta(double a, double b) {
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  }
  static double log_rising(double x, double size) { return log_gamma(x + size) - log_gamma(size); }

  // The sum of the above over the rows of a column.
  static double log_rising(const Tally& tally, double size) {
    const std::size_t m = tally.times.size();
    std::vector<double> values(2 * m);
    for (std::size_t k = 0; k < m; ++k) {
      values[m + k] = size * tally.exposures[k];
      values[k] = tally.counts[k] + values[m + k];
    }
    kernels().log_gammas(static_cast<int>(2 * m), values.data());
    double total = 0;
    for (std::size_t k = 0; k < m; ++k) total += tally.times[k] * (values[k] - values[m + k]);
    return total;
  }

  std::vector<Tally> tallied() const {
    std::vector<Tally> result(static_cast<std::size_t>(d_));
    for (int j = 0; j < d_; ++j) {
      std::map<std::pair<double, double>, double> times;
      for (int i = 0; i < n_; ++i)
        if (row(i)[j] > 0) ++times[{row(i)[j], exposures_.of(i)}];
      for (const auto& [entry, count] : times) {
        result[j].counts.push_back(entry.first);
        result[j].exposures.push_back(entry.second);
        result[j].times.push_back(count);
      }
    }
    return result;
  }

  double compute_alone(int i) const {
    std::vector<double> s(static_cast<std::size_t>(statistic_size()), 0.0);
    observe(s.data(), i);
    return log_marginal(s.data());
  }

  // Of a column's clusters, each E and N, at another size and shape.
  double log_likelihood(int j, const std::vector<double>& clusters, double size,
                        double shape) const {
    const double a = 1 + size * shape / prior_.means[j];
    const double prior = log_beta(a, shape);
    double total = 0;
    for (std::size_t k = 0; k < clusters.size(); k += 2)
      total += log_beta(a + size * clusters[k], shape + clusters[k + 1]) - prior;
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
  Prior prior_;
  std::vector<double> start_sizes_;
  Exposures exposures_;
  std::shared_ptr<const std::vector<Tally>> tallies_;  // where sizes are learned
  std::vector<double> base_;
  LazyTable alone_;
};

class NegativeBinomial::Clusters
    : public RefreshedClusters<NegativeBinomial, NegativeBinomial::Clusters> {
 public:
  explicit Clusters(const NegativeBinomial& family)
      : RefreshedClusters(family), sizes_(static_cast<std::size_t>(d_)) {}

  void grow(int slots) {
    if (!grow_statistics(slots)) return;
    for (auto* values : {&a_, &b_, &constants_})
      values->resize(static_cast<std::size_t>(slots_) * d_);
  }

  double log_marginal(int slot) { return family_.log_marginal(statistic(slot)); }

  void load(std::span<const int> rows) {
    block_.load(family_, rows);
    exposures_.load(family_.exposures(), rows);
    for (int j = 0; j < d_; ++j) sizes_[j] = family_.size(j);
  }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_;
      double* to = scores + static_cast<std::size_t>(slot) * block_rows;
      if (family_.exposures().given())
        kernels_.negative_binomial_exposed(d_, &a_[at], &b_[at], &constants_[at], sizes_.data(),
                                           exposures_.data(), block_.values(), block_.presence(),
                                           to);
      else
        kernels_.negative_binomial(d_, &a_[at], &b_[at], &constants_[at], block_.values(),
                                   block_.presence(), to);
    }
  }

  double score_without(int slot, int b) {
    const double* s = statistic(slot);
    const double e = exposures_[b];
    double total = 0;
    for (int j = 0; j < d_; ++j, s += 2)
      if (block_.present(j, b))
        total += family_.log_posterior(j, s[0], s[1]) -
                 family_.log_posterior(j, s[0] - e, s[1] - block_.value(j, b));
    return total;
  }

 private:
  friend RefreshedClusters;

  // With a and b of the cluster, log P(x | X_c) in column j is
  //   log Gamma(a + size e) + log Gamma(b + x) - log Gamma(a + size e + b + x) + constant.
  // Where e is 1, the first is part of the constant, and a has the size in it.
  void refresh(int slot) {
    const double* s = statistic(slot);
    for (int j = 0; j < d_; ++j, s += 2) {
      const std::size_t at = static_cast<std::size_t>(slot) * d_ + j;
      a_[at] = family_.a(j) + family_.size(j) * s[0];
      b_[at] = family_.b(j) + s[1];
      constants_[at] = log_gamma(a_[at] + b_[at]) - log_gamma(a_[at]) - log_gamma(b_[at]);
      if (family_.exposures().given()) continue;
      a_[at] += family_.size(j);
      constants_[at] += log_gamma(a_[at]);
    }
  }

  ExposureBlock exposures_;
  std::vector<double> sizes_, a_, b_, constants_;
};

static_assert(Family<NegativeBinomial> &&
              ClusterScores<NegativeBinomial::Clusters, NegativeBinomial>);

}  // namespace mixwood
