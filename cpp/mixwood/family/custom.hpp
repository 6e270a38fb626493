// A user's own family: additive statistics of each row, made beforehand, and log P(X_c) as a
// compiled function of the number of rows and the sum of their statistics.
//
// Statistic: how many rows, then the user's entries.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "mixwood/family/clusters.hpp"
#include "mixwood/family/family.hpp"

namespace mixwood {

// The user's functions. Each writes its value and returns 0, or returns another number if it
// raised an exception. They run without the GIL, in several threads at once. Every array comes with
// its length.
struct CustomFunctions {
  using LogMarginal = std::int64_t (*)(double n, const double* statistic, std::int64_t size,
                                       const double* parameters, std::int64_t count, double* value);
  using LogPredictive = std::int64_t (*)(const double* x, std::int64_t width, double n,
                                         const double* statistic, std::int64_t size,
                                         const double* parameters, std::int64_t count,
                                         double* value);
  LogMarginal log_marginal;
  LogPredictive log_predictive;  // null: a ratio of marginals
};

class Custom {
 public:
  class Clusters;

  // `rows` (n x d) and `row_statistics` (n x size) are kept by the caller.
  Custom(std::span<const double> rows, int n, int d, std::span<const double> row_statistics,
         int size, std::span<const double> parameters, CustomFunctions functions, std::string name)
      : rows_(rows),
        row_statistics_(row_statistics),
        n_(n),
        d_(d),
        size_(size),
        parameters_(parameters.begin(), parameters.end()),
        functions_(functions),
        name_(std::move(name)),
        alone_(n) {
    std::vector<double> s(statistic_size());
    for (int i = 0; i < n; ++i) {
      std::fill(s.begin(), s.end(), 0.0);
      observe(s.data(), i);
      try {
        alone_[i] = log_marginal(s.data());
      } catch (const std::runtime_error& error) {
        throw std::invalid_argument("row " + std::to_string(i) + " alone: " + error.what());
      }
    }
  }

  int n_rows() const { return n_; }
  int d() const { return d_; }
  const double* row(int i) const { return rows_.data() + static_cast<std::size_t>(i) * d_; }
  double log_alone(int i) const { return alone_[i]; }
  int statistic_size() const { return 1 + size_; }
  // Which entries of a statistic are exact whole numbers.
  bool is_count(int entry) const { return entry == 0; }
  bool has_own_predictive() const { return functions_.log_predictive != nullptr; }

  void observe(double* s, int i) const {
    s[0] += 1;
    const double* t = row_statistic(i);
    for (int e = 0; e < size_; ++e) s[1 + e] += t[e];
  }
  void forget(double* s, int i) const {
    if (s[0] <= 1) return std::fill(s, s + statistic_size(), 0.0);  // exact, so rounding ends here
    s[0] -= 1;
    const double* t = row_statistic(i);
    for (int e = 0; e < size_; ++e) s[1 + e] -= t[e];
  }
  void merge(double* s, const double* t) const {
    for (int e = 0; e < statistic_size(); ++e) s[e] += t[e];
  }
  void subtract(double* s, const double* t) const {
    if (s[0] <= t[0]) return std::fill(s, s + statistic_size(), 0.0);
    for (int e = 0; e < statistic_size(); ++e) s[e] -= t[e];
  }

  double log_marginal(const double* s) const {
    if (s[0] == 0) return 0;
    double value = 0;
    const auto status =
        functions_.log_marginal(s[0], s + 1, size_, parameters_.data(), count(), &value);
    return checked(value, status, "log_marginal", s);
  }

  // log P(row | X_c) by the user's own function, where there is one.
  double own_predictive(const double* s, int i) const {
    double value = 0;
    const auto status = functions_.log_predictive(row(i), d_, s[0], s + 1, size_,
                                                  parameters_.data(), count(), &value);
    return checked(value, status, "log_predictive", s);
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(parameters_.size()); }
  const double* row_statistic(int i) const {
    return row_statistics_.data() + static_cast<std::size_t>(i) * size_;
  }

  double checked(double value, std::int64_t status, const char* function, const double* s) const {
    if (status == 0 && std::isfinite(value)) return value;
    std::string what = std::string(function) + " of the family '" + name_ + "' " +
                       (status != 0 ? "raised an exception"
                                    : "is " + std::to_string(value) + ", not a finite number,") +
                       " for n = " + std::to_string(static_cast<std::int64_t>(s[0])) +
                       " and the statistic [";
    constexpr int most = 6;
    for (int e = 0; e < std::min(size_, most); ++e)
      what += (e > 0 ? ", " : "") + std::to_string(s[1 + e]);
    throw std::runtime_error(what + (size_ > most ? ", ...]" : "]"));
  }

  std::span<const double> rows_, row_statistics_;
  int n_, d_, size_;
  std::vector<double> parameters_;
  CustomFunctions functions_;
  std::string name_;
  std::vector<double> alone_;
};

class Custom::Clusters : public RefreshedClusters<Custom, Custom::Clusters> {
 public:
  explicit Clusters(const Custom& family)
      : RefreshedClusters(family), changed_(family.statistic_size()) {}

  void grow(int slots) {
    if (grow_statistics(slots)) log_marginals_.resize(slots_);
  }

  double log_marginal(int slot) const { return log_marginals_[slot]; }

  void load(std::span<const int> rows) { rows_.assign(rows.begin(), rows.end()); }

  void score(std::span<const int> slots, double* scores) {
    for (const int slot : slots)
      for (std::size_t b = 0; b < rows_.size(); ++b)
        scores[static_cast<std::size_t>(slot) * block_rows + b] = score_one(slot, rows_[b]);
  }

  double score_without(int slot, int b) {
    copy(slot);
    family_.forget(changed_.data(), rows_[b]);
    return log_marginals_[slot] - family_.log_marginal(changed_.data());
  }

 private:
  friend RefreshedClusters;

  double score_one(int slot, int row) {
    if (statistic(slot)[0] == 0) return family_.log_alone(row);
    if (family_.has_own_predictive()) return family_.own_predictive(statistic(slot), row);
    copy(slot);
    family_.observe(changed_.data(), row);
    return family_.log_marginal(changed_.data()) - log_marginals_[slot];
  }

  void copy(int slot) { std::copy_n(statistic(slot), changed_.size(), changed_.begin()); }

  void refresh(int slot) { log_marginals_[slot] = family_.log_marginal(statistic(slot)); }

  std::vector<int> rows_;
  std::vector<double> log_marginals_, changed_;
};

static_assert(Family<Custom> && ClusterScores<Custom::Clusters, Custom>);

}  // namespace mixwood
