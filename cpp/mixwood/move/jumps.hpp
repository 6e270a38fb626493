// The jumps of the random measure that no row is in, given u. With x = tau w they are a Poisson
// process of intensity rate x^(-1-discount) e^-x: finitely many above any level, and infinitely
// many in all unless the discount is negative.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "mixwood/prior/prior.hpp"
#include "mixwood/random/arrivals.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

class Jumps {
 public:
  explicit Jumps(const Prior& prior)
      : rate_(std::exp(prior.log_jump_rate())), discount_(prior.kernel().discount) {}

  // A level above which few jumps are expected for n rows. It must depend on nothing but n, u and
  // the parameters, and it must be there: without it, for a discount of 1/2 and above, the expected
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
    const double end = discount_ != 0 ? rate_ * std::expm1(-discount_ * log_least) / discount_
                                      : -rate_ * log_least;
    visit_arrivals(end, random, [&](double time) {
      const double x = below_one(time);
      if (random.uniform() < std::exp(-x)) jumps.push_back(x);
    });
    draw_tail(1, random, jumps);
  }

 private:
  // Where the intensity rate x^(-1-discount) has this mass between there and 1: jumps come from 1
  // downwards, and those kept with probability e^-x are ours.
  double below_one(double mass) const {
    if (discount_ == 0) return std::exp(-mass / rate_);
    const double share = discount_ * mass / rate_;  // at or below -1: there is less mass than that
    return share > -1 ? std::exp(-std::log1p(share) / discount_) : 0.0;
  }

  // Above `from`, where x^(-1-discount) <= from^(-1-discount), the discount being at least -1: the
  // excess is an exponential, thinned.
  void draw_tail(double from, Stream& random, std::vector<double>& jumps) const {
    const double end = rate_ * std::exp(-from - (1 + discount_) * std::log(from));
    visit_arrivals(end, random, [&](double time) {
      const double x = from + std::log(end / time);
      if (random.uniform() < std::exp((1 + discount_) * std::log(from / x))) jumps.push_back(x);
    });
  }

  double rate_, discount_;
};

}  // namespace mixwood
