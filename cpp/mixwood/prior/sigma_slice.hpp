// How a random sigma in (0, 1) is drawn given the partition: by a slice, for the priors that have
// one.
#pragma once

#include <algorithm>
#include <cmath>

#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/law.hpp"
#include "mixwood/random/slice_sampling.hpp"

namespace mixwood {

// `with_rest` gets the log of p(sigma) prod_c Gamma(|c|-sigma)/Gamma(1-sigma), and sigma, and adds
// what else the prior's density has. As a mass, sigma stops before floating point ends.
template <class WithRest>
double slice_sigma(const BetaHyper& hyper, double sigma, const ClusterSizes& clusters,
                   WithRest&& with_rest, Stream& random) {
  constexpr double smallest_sigma = 1e-100;
  auto log_density = [&](double at) {
    double total = (hyper.a - 1) * std::log(at) + (hyper.b - 1) * std::log1p(-at) -
                   clusters.n_clusters() * log_gamma(1 - at);
    for (const double size : clusters.sizes) total += log_gamma(size - at);
    return with_rest(total, at);
  };
  return std::max(slice_on_unit(sigma, log_density, random), smallest_sigma);
}

}  // namespace mixwood
