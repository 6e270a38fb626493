// Precisions of Gaussians: Gamma variables and Wishart matrices.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mixwood/random/stream.hpp"

namespace mixwood {

// log of a Gamma(shape, rate) precision. With a tiny shape it can be where its deviation would
// overflow; it stops far beyond where any row could tell the difference.
inline double draw_log_precision(double shape, double rate, Stream& random) {
  constexpr double smallest = -600;
  return std::max(random.log_gamma_draw(shape), smallest) - std::log(rate);
}

// A lower triangular T, d x d column by column, with T'T ~ Wishart(I, nu), nu > d - 1 (Bartlett's
// decomposition, the columns in reverse). Above the diagonal nothing is written.
inline void draw_wishart_root(int d, double nu, double* root, Stream& random) {
  for (int j = 0; j < d; ++j) {
    const double log_gamma = draw_log_precision(0.5 * (nu - (d - 1 - j)), 1.0, random);
    root[j * d + j] = std::exp(0.5 * (std::numbers::ln2 + log_gamma));
    for (int i = j + 1; i < d; ++i) root[j * d + i] = random.normal();
  }
}

}  // namespace mixwood
