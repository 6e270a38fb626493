// Which nodes of a tree have their statistic stored: that of smaller ones is made from the rows
// when asked for.
#pragma once

#include <algorithm>
#include <cstddef>

namespace mixwood {

// From this many rows on trees are grown in buckets (buckets.hpp).
inline constexpr int fewest_in_buckets = 32768;

// For a balanced tree over all rows some 256 MB are stored; more where the statistic of 64 rows is
// still larger than those rows.
inline int smallest_stored(int statistic_size, int rows) {
  const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(statistic_size);
  int smallest = 2;
  while (bytes * static_cast<std::size_t>(rows) / (smallest / 2) > std::size_t{256} << 20 &&
         smallest < 64)
    smallest *= 2;
  return smallest;
}

// Statistics of whole numbers, of which a row changes few entries: those of nodes of less than half
// as many entries as there are in all are made as quickly as they are copied.
inline int smallest_worth_storing(int statistic_size, int row_entries) {
  return std::clamp(statistic_size / (2 * row_entries), 2, 64);
}

}  // namespace mixwood
