// The jumps of the random measure that no row is in, given u. With x = tau w they are a Poisson
// process of intensity rate x^(-1-sigma) e^-x: infinitely many, but finitely many above any level.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "mixwood/prior.hpp"
#include "mixwood/random/arrivals.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

class Jumps {
 public:
  explicit Jumps(const Prior& prior)
      : rate_(std::exp(prior.log_jump_rate())), sigma_(prior.values().sigma) {}

  // A level above which few jumps are expected for n rows. It must depend on nothing but n, u and
  // the parameters, and it must be there: without it, for sigma of 1/2 and above, the expected
  // number of jumps above the smallest of the slices is infinite.
  double floor(int n) const {
    const double few = 64 + 4 * std::min(rate_, static_cast<double>(n));
    if (rate_ > std::numbers::e * few) return std::log(rate_ / few);
    return std::max(below_one(few), 1e-300);
  }

  // All jumps above `least`, in x, appended to `jumps`.
  void draw_above(double least, Stream& random, std::vector<double>& jumps) const {
    if (least >= 1) return draw_tail(least, random, jumps);
    const double log_least = std::log(least);
    const double end =
        sigma_ > 0 ? rate_ * std::expm1(-sigma_ * log_least) / sigma_ : -rate_ * log_least;
    visit_arrivals(end, random, [&](double time) {
      const double x = below_one(time);
      if (random.uniform() < std::exp(-x)) jumps.push_back(x);
    });
    draw_tail(1, random, jumps);
  }

 private:
  // Where the intensity rate x^(-1-sigma) has this mass between there and 1: jumps come from 1
  // downwards, and those kept with probability e^-x are ours.
  double below_one(double mass) const {
    return sigma_ > 0 ? std::exp(-std::log1p(sigma_ * mass / rate_) / sigma_)
                      : std::exp(-mass / rate_);
  }

  // Above `from`, where x^(-1-sigma) <= from^(-1-sigma): the excess is an exponential, thinned.
  void draw_tail(double from, Stream& random, std::vector<double>& jumps) const {
    const double end = rate_ * std::exp(-from - (1 + sigma_) * std::log(from));
    visit_arrivals(end, random, [&](double time) {
      const double x = from + std::log(end / time);
      if (random.uniform() < std::exp((1 + sigma_) * std::log(from / x))) jumps.push_back(x);
    });
  }

  double rate_, sigma_;
};

}  // namespace mixwood
