// Dirichlet variables in logs: with small pseudo-counts most of them underflow otherwise.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "mixwood/random/stream.hpp"

namespace mixwood {

// Each entry holds its pseudo-count, and then the log of its probability.
inline void draw_log_dirichlet(std::span<double> entries, Stream& random) {
  for (double& entry : entries) entry = random.log_gamma_draw(entry);
  const double largest = *std::max_element(entries.begin(), entries.end());
  double sum = 0;
  for (const double entry : entries) sum += std::exp(entry - largest);
  const double log_sum = largest + std::log(sum);
  for (double& entry : entries) entry -= log_sum;
}

}  // namespace mixwood
