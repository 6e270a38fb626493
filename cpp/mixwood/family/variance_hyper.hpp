// What the expected variances of clusters are drawn from, where one column (or one variance for all
// columns) stands for itself: in units in which all rows together have variance 1,
//
//   omega ~ Gamma(3/2, 3/(2 fraction)) on omega >= floor and psi = nu' omega >= tie_floor,
//   r = f omega/tau where it is tied, ln f normal.
//
// It is the Wishart law of gaussian.hpp in one dimension.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "mixwood/random/hyperprior.hpp"

namespace mixwood {

struct VarianceHyper {
  std::vector<double> floors, tie_floors;
  double fraction, tau;
  Hyperprior nu, r;

  // `log_free` is ln r, or ln f where r is tied.
  double r_of(double log_omega, double log_free) const {
    return r.is_tied() ? std::exp(log_free + log_omega) / tau : std::exp(log_free);
  }

  // Of ln omega, given ln nu'.
  double log_density(std::size_t j, double log_omega, double log_nu) const {
    const double omega = std::exp(log_omega);
    if (!(omega >= floors[j]) || !(std::exp(log_nu) * omega >= tie_floors[j]))
      return -std::numeric_limits<double>::infinity();
    return 1.5 * log_omega - 1.5 * omega / fraction;
  }
};

}  // namespace mixwood
