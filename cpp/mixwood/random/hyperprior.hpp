// The hyperprior of one parameter, of a base measure or of a prior on partitions. A positive
// parameter is seen on its logarithm, one between 0 and 1 (Beta) on its logit: that is the
// coordinate on which it is sampled.
#pragma once

#include <cmath>
#include <limits>

#include "mixwood/numerics/special.hpp"
#include "mixwood/random/slice_sampling.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

struct Hyperprior {
  // `tied`: the parameter follows from another one, times a factor whose law this is: 1, or log
  // normal where `b` is not 0.
  enum class Kind { fixed, tied, log_normal, gamma, beta };

  Kind kind = Kind::fixed;
  double a = 0, b = 0;  // median and sd of the log; shape and rate; the two of Beta
  double log_low = -std::numeric_limits<double>::infinity();
  double log_high = std::numeric_limits<double>::infinity();

  bool is_tied() const { return kind == Kind::tied; }
  bool is_random() const { return kind != Kind::fixed && !(is_tied() && b == 0); }

  double value(double x) const { return kind == Kind::beta ? 1 / (1 + std::exp(-x)) : std::exp(x); }

  // Of the coordinate, without the constant; 0 for what is not random.
  double log_density(double x) const {
    if (!is_random()) return 0;
    if (kind == Kind::beta) return -a * softplus(-x) - b * softplus(x);
    if (!(x >= log_low && x <= log_high)) return -std::numeric_limits<double>::infinity();
    if (kind == Kind::gamma) return a * x - b * std::exp(x);
    const double z = (x - std::log(a)) / b;
    return -0.5 * z * z;
  }
};

// One slice step on a coordinate whose log likelihood is given.
template <class LogLikelihood>
double slice_coordinate(double x, double width, const Hyperprior& hyper, LogLikelihood&& f,
                        Stream& random) {
  return slice_on_line(
      x, width, 1.0,
      [&](double y) {
        const double prior = hyper.log_density(y);
        return std::isfinite(prior) ? prior + f(y) : prior;
      },
      random);
}

}  // namespace mixwood
