// The concentration of a symmetric Dirichlet prior on L categories, given the counts of many
// clusters: beta enters through
//
//   sum_k [log G(L beta) - log G(L beta + N_k)] + sum_n H[n] (log G(beta + n) - log G(beta)),
//
// G the Gamma function, N_k the total of cluster k, and H[n] how many counts are n > 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "mixwood/numerics/special.hpp"
#include "mixwood/random/hyperprior.hpp"

namespace mixwood {

class Concentration {
 public:
  explicit Concentration(int categories) : categories_(categories) {}

  // The counts of one cluster; a cluster without any says nothing.
  void add(const double* counts, int size) {
    double total = 0;
    for (int l = 0; l < size; ++l) {
      if (counts[l] == 0) continue;
      total += counts[l];
      const auto n = static_cast<std::size_t>(counts[l]);
      if (n >= most_common || static_cast<double>(n) != counts[l]) {
        large_.push_back(counts[l]);
        continue;
      }
      if (n >= histogram_.size()) histogram_.resize(n + 1);
      ++histogram_[n];
    }
    if (total > 0) totals_.push_back(total);
  }

  double log_likelihood(double log_beta) const {
    const double beta = std::exp(log_beta);
    const double mass = categories_ * beta;
    const double of_mass = log_gamma(mass), of_beta = log_gamma(beta);
    double sum = 0;
    for (const double total : totals_) sum += of_mass - log_gamma(mass + total);
    for (std::size_t n = 1; n < histogram_.size(); ++n)
      if (histogram_[n] > 0)
        sum += histogram_[n] * (log_gamma(beta + static_cast<double>(n)) - of_beta);
    for (const double count : large_) sum += log_gamma(beta + count) - of_beta;
    return sum;
  }

  // One slice step on ln beta.
  double move(double log_beta, const Hyperprior& hyper, Stream& random) const {
    return slice_coordinate(
        log_beta, 1.0, hyper, [this](double x) { return log_likelihood(x); }, random);
  }

 private:
  static constexpr std::size_t most_common = 4096;

  int categories_;
  std::vector<double> totals_, histogram_, large_;
};

}  // namespace mixwood
