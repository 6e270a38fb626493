// Draws from a fixed law on 0..n-1, given by weights.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "mixwood/random/stream.hpp"

namespace mixwood {

class CumulativeLaw {
 public:
  void set(std::vector<double> weights) {
    sums_ = std::move(weights);
    double sum = 0;
    for (double& value : sums_) value = sum += value;
  }

  // The first whose sum exceeds uniform * total; the last, should rounding have taken that beyond.
  int draw(Stream& random) const {
    const double goal = random.uniform() * sums_.back();
    const auto found = std::upper_bound(sums_.begin(), sums_.end() - 1, goal);
    return static_cast<int>(found - sums_.begin());
  }

  bool empty() const { return sums_.empty() || !(sums_.back() > 0); }

 private:
  std::vector<double> sums_;
};

}  // namespace mixwood
