// Rows of counts together, as the few words that occur in them among many.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace mixwood {

struct CountBlock {
  std::span<const std::int32_t> words, counts;
  double total;
};

inline CountBlock count_block(std::span<const std::int32_t> words,
                              std::span<const std::int32_t> counts) {
  return {words, counts, std::accumulate(counts.begin(), counts.end(), 0.0)};
}

// The same with words and counts of its own, gathered from a statistic.
struct GatheredCounts {
  std::vector<std::int32_t> words, counts;
  double total = 0;
  operator CountBlock() const { return {words, counts, total}; }
};

}  // namespace mixwood
