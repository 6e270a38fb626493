// Which counts a column has, and how often: what a size is learned from.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "mixwood/family/counted_columns.hpp"
#include "mixwood/numerics/kernels.hpp"
#include "mixwood/numerics/special.hpp"

namespace mixwood {

// log Gamma(x + size)/Gamma(size).
inline double log_rising(double x, double size) { return log_gamma(x + size) - log_gamma(size); }

// The present entries of a column that are not 0, each with its exposure, and what their rows weigh
// together.
class CountTally {
 public:
  CountTally(const CountRows& rows, int column, std::span<const double> weights) {
    std::map<std::pair<double, double>, double> times;
    for (int i = 0; i < rows.n; ++i)
      if (rows.row(i)[column] > 0)
        times[{rows.row(i)[column], rows.exposures.of(i)}] += weights.empty() ? 1.0 : weights[i];
    for (const auto& [entry, weight] : times) {
      counts_.push_back(entry.first);
      exposures_.push_back(entry.second);
      times_.push_back(weight);
    }
  }

  // The sum of log_rising(x, e size) over the rows.
  double log_rising(double size) const {
    const std::size_t m = times_.size();
    std::vector<double> values(2 * m);
    for (std::size_t k = 0; k < m; ++k) {
      values[m + k] = size * exposures_[k];
      values[k] = counts_[k] + values[m + k];
    }
    kernels().log_gammas(static_cast<int>(2 * m), values.data());
    double total = 0;
    for (std::size_t k = 0; k < m; ++k) total += times_[k] * (values[k] - values[m + k]);
    return total;
  }

 private:
  std::vector<double> counts_, exposures_, times_;
};

}  // namespace mixwood
