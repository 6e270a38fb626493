// Draws from a fixed law on 0..n-1, given by weights.
#pragma once

#include <algorithm>
#include <vector>

#include "mixwood/random/stream.hpp"

namespace mixwood {

class CumulativeLaw {
 public:
  void set(const std::vector<double>& weights) {
    sums_.resize(weights.size());
    double sum = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) sums_[k] = sum += weights[k];
  }

  double total() const { return sums_.empty() ? 0.0 : sums_.back(); }

  // The first whose sum exceeds `goal`, for a goal in [0, total); the last, should rounding have
  // taken it beyond.
  int at(double goal) const {
    const auto found = std::upper_bound(sums_.begin(), sums_.end() - 1, goal);
    return static_cast<int>(found - sums_.begin());
  }
  int draw(Stream& random) const { return at(random.uniform() * total()); }

  bool empty() const { return !(total() > 0); }

 private:
  std::vector<double> sums_;
};

}  // namespace mixwood
