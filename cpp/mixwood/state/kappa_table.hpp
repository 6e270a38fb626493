// log kappa(k, u) looked up: trees and moves of blocks ask for it many times between two changes of
// the prior's values.
#pragma once

#include <cmath>
#include <vector>

#include "mixwood/prior.hpp"

namespace mixwood {

class KappaTable {
 public:
  // Sizes from `largest` on are computed each time.
  explicit KappaTable(int largest) : largest_(largest) {}

  double operator()(const Prior& prior, int size) {
    if (!same(prior.values())) {
      values_ = prior.values();
      known_.clear();
    }
    if (size >= largest_) return prior.log_kappa(size);
    if (known_.empty()) known_.push_back(0);  // nobody asks for kappa(0)
    while (static_cast<int>(known_.size()) <= size) known_.push_back(next(prior));
    return known_[size];
  }

 private:
  // kappa(k+1) = kappa(k) (k - sigma) / tau; now and then afresh, so that rounding does not pile
  // up.
  double next(const Prior& prior) const {
    const int size = static_cast<int>(known_.size());
    if (size % 64 == 1) return prior.log_kappa(size);
    return known_.back() + prior.log_join(size - 1) - prior.log_tau();
  }

  bool same(const PriorValues& values) const {
    return values.log_u == values_.log_u && values.log_alpha == values_.log_alpha &&
           values.sigma == values_.sigma;
  }

  int largest_;
  PriorValues values_{.log_u = std::nan(""), .log_alpha = 0, .sigma = 0, .theta = 0};
  std::vector<double> known_;
};

}  // namespace mixwood
