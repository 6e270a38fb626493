// A user's own family: additive statistics of each row, made beforehand, and log P(X_c) as a
// compiled function of the number of rows and the sum of their statistics.
//
// Statistic: how many rows, then the user's entries. A learned base measure is the coordinates of
// those parameters that have a hyperprior.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mixwood/family/clusters.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/numerics/lazy_table.hpp"
#include "mixwood/random/hyperprior.hpp"
#include "mixwood/random/stream.hpp"

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
  using LogDensity = std::int64_t (*)(const double* x, std::int64_t width, const double* drawn,
                                      std::int64_t size, const double* parameters,
                                      std::int64_t count, double* value);
  // Draws the parameters of a cluster of n rows, which may be 0; throws where it cannot.
  using Draw =
      std::function<std::vector<double>(double n, std::span<const double> statistic,
                                        std::span<const double> parameters, Stream& random)>;
  LogMarginal log_marginal;
  LogPredictive log_predictive;  // null: a ratio of marginals
  // Both or none: clusters by their parameters, and the log density of a row given these, which
  // leaves out what log_marginal does.
  Draw draw;
  LogDensity log_density;
};

class Custom {
 public:
  class Clusters;
  class Atoms;

  // `rows` (n x d) and `row_statistics` (n x size) are kept by the caller.
  Custom(std::span<const double> rows, int n, int d, std::span<const double> row_statistics,
         int size, std::span<const double> parameters, std::vector<Hyperprior> hypers,
         CustomFunctions functions, std::string name)
      : rows_(rows),
        row_statistics_(row_statistics),
        n_(n),
        d_(d),
        size_(size),
        parameters_(parameters.begin(), parameters.end()),
        hypers_(std::move(hypers)),
        functions_(functions),
        name_(std::move(name)) {
    for (std::size_t p = 0; p < hypers_.size(); ++p)
      if (hypers_[p].is_random()) {
        const double x = parameters_[p];
        random_.push_back(p);
        base_.push_back(hypers_[p].kind == Hyperprior::Kind::beta ? std::log(x / (1 - x))
                                                                  : std::log(x));
      }
    alone_.fill(static_cast<std::size_t>(n),
                [this](std::size_t i) { return compute_alone(static_cast<int>(i)); });
  }

  // --- the base measure
  int base_size() const { return static_cast<int>(base_.size()); }
  void read_base(double* to) const { std::copy(base_.begin(), base_.end(), to); }
  void set_base(const double* base) {
    for (std::size_t k = 0; k < base_.size(); ++k) {
      const double value = hypers_[random_[k]].value(base[k]);
      if (!std::isfinite(base[k]) || !std::isfinite(value))
        throw std::invalid_argument("a base measure must be finite");
      base_[k] = base[k];
      parameters_[random_[k]] = value;
    }
    if (!base_.empty()) alone_.forget(static_cast<std::size_t>(n_));
  }
  double log_base() const {
    double total = 0;
    for (std::size_t k = 0; k < base_.size(); ++k)
      total += hypers_[random_[k]].log_density(base_[k]);
    return total;
  }
  BaseMoves update_base(const ClusterStatistics& clusters, Stream& random) {
    const auto size = static_cast<std::size_t>(statistic_size());
    std::vector<double> statistics(size * static_cast<std::size_t>(clusters.count));
    for (int k = 0; k < clusters.count; ++k)
      std::copy_n(clusters.read(k), size, statistics.data() + size * k);
    std::vector<double> base = base_;
    for (std::size_t k = 0; k < base.size(); ++k) {
      base[k] = slice_coordinate(
          base[k], 1.0, hypers_[random_[k]],
          [&](double x) {
            parameters_[random_[k]] = hypers_[random_[k]].value(x);
            double total = 0;
            for (std::size_t at = 0; at < statistics.size(); at += size)
              total += log_marginal_or_never(statistics.data() + at);
            return total;
          },
          random);
      parameters_[random_[k]] = hypers_[random_[k]].value(base[k]);
    }
    set_base(base.data());
    return {};
  }

  int n_rows() const { return n_; }
  int d() const { return d_; }
  const double* row(int i) const { return rows_.data() + static_cast<std::size_t>(i) * d_; }
  double log_alone(int i) const {
    return alone_.at(static_cast<std::size_t>(i),
                     [this](std::size_t any) { return compute_alone(static_cast<int>(any)); });
  }
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

  // The same, for parameters that need not make sense: minus infinity where it is not finite.
  double log_marginal_or_never(const double* s) const {
    if (s[0] == 0) return 0;
    double value = 0;
    const auto status =
        functions_.log_marginal(s[0], s + 1, size_, parameters_.data(), count(), &value);
    if (status != 0) checked(value, status, "log_marginal", s);
    return std::isfinite(value) ? value : -std::numeric_limits<double>::infinity();
  }

  // log P(row | X_c) by the user's own function, where there is one.
  double own_predictive(const double* s, int i) const {
    double value = 0;
    const auto status = functions_.log_predictive(row(i), d_, s[0], s + 1, size_,
                                                  parameters_.data(), count(), &value);
    return checked(value, status, "log_predictive", s);
  }

  bool has_atoms() const { return functions_.log_density != nullptr && functions_.draw; }

  // The parameters of a cluster, by the user's function.
  std::vector<double> draw_atom(const double* s, Stream& random) const {
    const auto size = static_cast<std::size_t>(size_);
    return functions_.draw(s[0], {s + 1, size}, parameters_, random);
  }

  // log f(row | drawn); minus infinity where such a cluster cannot have the row.
  double log_density(int i, std::span<const double> drawn) const {
    double value = 0;
    const auto status =
        functions_.log_density(row(i), d_, drawn.data(), static_cast<std::int64_t>(drawn.size()),
                               parameters_.data(), count(), &value);
    if (status == 0 && value < std::numeric_limits<double>::infinity()) return value;
    throw std::runtime_error(
        "log_density of the family '" + name_ + "' " +
        (status != 0 ? "raised an exception" : "is " + std::to_string(value) + ", not a number,") +
        " for the row " + listed(row(i), d_) + " and the parameters " +
        listed(drawn.data(), static_cast<int>(drawn.size())));
  }

 private:
  static std::string listed(const double* values, int size) {
    constexpr int most = 6;
    std::string text = "[";
    for (int e = 0; e < std::min(size, most); ++e)
      text += (e > 0 ? ", " : "") + std::to_string(values[e]);
    return text + (size > most ? ", ...]" : "]");
  }

  double compute_alone(int i) const {
    std::vector<double> s(static_cast<std::size_t>(statistic_size()), 0.0);
    observe(s.data(), i);
    try {
      return log_marginal(s.data());
    } catch (const std::runtime_error& error) {
      throw std::invalid_argument("row " + std::to_string(i) + " alone: " + error.what());
    }
  }

  std::int64_t count() const { return static_cast<std::int64_t>(parameters_.size()); }
  const double* row_statistic(int i) const {
    return row_statistics_.data() + static_cast<std::size_t>(i) * size_;
  }

  double checked(double value, std::int64_t status, const char* function, const double* s) const {
    if (status == 0 && std::isfinite(value)) return value;
    throw std::runtime_error(std::string(function) + " of the family '" + name_ + "' " +
                             (status != 0
                                  ? "raised an exception"
                                  : "is " + std::to_string(value) + ", not a finite number,") +
                             " for n = " + std::to_string(static_cast<std::int64_t>(s[0])) +
                             " and the statistic " + listed(s + 1, size_));
  }

  std::span<const double> rows_, row_statistics_;
  int n_, d_, size_;
  std::vector<double> parameters_;
  std::vector<Hyperprior> hypers_;   // of the parameters
  std::vector<std::size_t> random_;  // which of them are learned
  std::vector<double> base_;
  CustomFunctions functions_;
  std::string name_;
  LazyTable alone_;
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
