// A base measure that is learned: a flat vector of numbers that a family reads, takes over, and
// moves given the statistics of a chain's clusters. A family whose base measure is fixed has none.
#pragma once

#include <cstdint>
#include <functional>

namespace mixwood {

// The statistics of the clusters, in list order; what `read` returns is good until the next call.
struct ClusterStatistics {
  int count;
  std::function<const double*(int)> read;
};

// What an update of the base measure did.
struct BaseMoves {
  std::int64_t proposed = 0;
  std::int64_t accepted = 0;

  BaseMoves& operator+=(const BaseMoves& other) {
    proposed += other.proposed;
    accepted += other.accepted;
    return *this;
  }
};

}  // namespace mixwood
