// The jumps of the random measure that no row is in, given u. With x = tau w they are a Poisson
// process of intensity rate x^(-1-discount) e^-x: finitely many above any level, and infinitely
// many in all unless the discount is negative. Then they are Poisson(total) many, each a
// Gamma(gamma, 1), gamma = -discount.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "mixwood/numerics/special.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/random/arrivals.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

class Jumps {
 public:
  explicit Jumps(const Prior& prior)
      : rate_(std::exp(prior.log_jump_rate())),
        discount_(prior.kernel().discount),
        total_(is_finite() ? std::exp(prior.log_new()) / -discount_ : 0) {}

  // A level above which few jumps are expected for n rows. It must depend on nothing but n, u and
  // the parameters, and it must be there: without it, for a discount of 1/2 and above, the expected
  // number of jumps above the smallest of the slices is infinite.
  double floor(int n) const {
    if (is_finite()) return finite_floor(64 + 4 * std::min(total_, static_cast<double>(n)));
    const double few = 64 + 4 * std::min(rate_, static_cast<double>(n));
    if (rate_ > std::numbers::e * few) return std::log(rate_ / few);
    return std::max(below_one(few), 1e-300);
  }

  // All jumps above `least`, in x, appended to `jumps`.
  void draw_above(double least, Stream& random, std::vector<double>& jumps) const {
    if (is_finite()) return draw_finite(least, random, jumps);
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
  bool is_finite() const { return discount_ < 0; }

  // 0 if there are few anyway. Else where Chernoff's bound of how many are above x, above gamma,
  // total e^(gamma-x) (x/gamma)^gamma, is down to a few: by bisection.
  double finite_floor(double few) const {
    if (!(total_ > few)) return 0;
    const double gamma = -discount_;
    const double excess = std::log(total_ / few);
    auto is_above = [&](double x) { return x - gamma - gamma * std::log(x / gamma) > excess; };
    double low = gamma;
    double high = 2 * gamma + 4 * excess;
    for (int step = 0; step < 50; ++step) {
      const double middle = 0.5 * (low + high);
      (is_above(middle) ? high : low) = middle;
    }
    return high;
  }

  // All of them, those below `least` forgotten; or, where fewer have to be drawn, exponentials from
  // `least` on that are as steep as the log intensity is there, thinned.
  void draw_finite(double least, Stream& random, std::vector<double>& jumps) const {
    const double gamma = -discount_;
    const double rise = std::max(gamma - 1, 0.0) / least;
    const double there = (gamma - 1) * std::log(least) - least - log_gamma(gamma);
    const double end = total_ * std::exp(there) / (1 - rise);
    if (least <= gamma || !(end < total_)) {
      visit_arrivals(total_, random, [&](double) {
        const double x = std::exp(random.log_gamma_draw(gamma));
        if (x > least) jumps.push_back(x);
      });
      return;
    }
    visit_arrivals(end, random, [&](double time) {
      const double x = least + std::log(end / time) / (1 - rise);
      const double log_share = (gamma - 1) * std::log(x / least) - rise * (x - least);
      if (random.uniform() < std::exp(log_share)) jumps.push_back(x);
    });
  }

  // Where the intensity rate x^(-1-discount) has this mass between there and 1: jumps come from 1
  // downwards, and those kept with probability e^-x are ours.
  double below_one(double mass) const {
    if (discount_ == 0) return std::exp(-mass / rate_);
    return std::exp(-std::log1p(discount_ * mass / rate_) / discount_);
  }

  // Above `from`, where x^(-1-discount) <= from^(-1-discount): the excess is an exponential,
  // thinned.
  void draw_tail(double from, Stream& random, std::vector<double>& jumps) const {
    const double end = rate_ * std::exp(-from - (1 + discount_) * std::log(from));
    visit_arrivals(end, random, [&](double time) {
      const double x = from + std::log(end / time);
      if (random.uniform() < std::exp((1 + discount_) * std::log(from / x))) jumps.push_back(x);
    });
  }

  double rate_, discount_, total_;
};

}  // namespace mixwood
