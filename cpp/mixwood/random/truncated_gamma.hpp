// Gamma variables above a bound.
#pragma once

#include <cmath>

#include "mixwood/random/stream.hpp"

namespace mixwood {

// Gamma(shape, rate) on [low, infinity), shape >= 1: by rejection from the whole law where the
// bound is below the mode, else from an exponential that touches the density at the bound.
inline double draw_truncated_gamma(double shape, double rate, double low, Stream& random) {
  if (low <= (shape - 1) / rate) {
    for (;;) {
      const double x = std::exp(random.log_gamma_draw(shape)) / rate;
      if (x >= low) return x;
    }
  }
  const double steepness = rate - (shape - 1) / low;
  for (;;) {
    const double x = low + random.exponential() / steepness;
    const double excess = (shape - 1) * (std::log(x / low) - (x - low) / low);
    if (std::log(random.positive_uniform()) <= excess) return x;
  }
}

}  // namespace mixwood
