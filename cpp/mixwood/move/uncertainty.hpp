// How likely a visit changes the cluster of a row or block: what a chain learns in warm-up.
#pragma once

#include <vector>

namespace mixwood {

// 1 minus the share of one weight: the probability that anything else is picked.
inline double chance_of_others(const std::vector<double>& weights, int one) {
  double total = 0;
  for (const double weight : weights) total += weight;
  return 1 - weights[one] / total;
}

// A running mean over about the last 8 values; below 0 before the first.
inline void add_to_mean(float& mean, double value) {
  const auto latest = static_cast<float>(value);
  mean = mean < 0 ? latest : mean + (latest - mean) / 8;
}

}  // namespace mixwood
