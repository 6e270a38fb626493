// log kappa(k, u) looked up: trees and moves of blocks ask for it many times between two changes of
// the prior's values.
#pragma once

#include <cmath>
#include <vector>

#include "mixwood/prior/prior.hpp"

namespace mixwood {

class KappaTable {
 public:
  // Sizes from `largest` on, and those that are not whole, are computed each time.
  explicit KappaTable(int largest) : largest_(largest) {}

  double operator()(const Prior& prior, double size) {
    if (!same(prior)) {
      log_tau_ = prior.log_tau();
      kernel_ = prior.kernel();
      known_.clear();
    }
    if (!(size < largest_)) return prior.log_kappa(size);
    const int whole = static_cast<int>(size);
    if (whole != size) return prior.log_kappa(size);
    if (known_.empty()) known_.push_back(0);  // nobody asks for kappa(0)
    while (static_cast<int>(known_.size()) <= whole) known_.push_back(next(prior));
    return known_[whole];
  }

 private:
  // kappa(k+1) = kappa(k) (k - discount) / tau; now and then afresh, so that rounding does not pile
  // up.
  double next(const Prior& prior) const {
    const int size = static_cast<int>(known_.size());
    if (size % 64 == 1) return prior.log_kappa(size);
    return known_.back() + prior.log_join(size - 1) - prior.log_tau();
  }

  bool same(const Prior& prior) const {
    return prior.log_tau() == log_tau_ && prior.kernel().log_new == kernel_.log_new &&
           prior.kernel().discount == kernel_.discount;
  }

  int largest_;
  double log_tau_ = std::nan("");
  Kernel kernel_{};
  std::vector<double> known_;
};

}  // namespace mixwood
