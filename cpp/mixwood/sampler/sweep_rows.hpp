// Which rows a Gibbs sweep visits: all of them in order, or `subset` of them drawn uniformly.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "mixwood/archive.hpp"
#include "mixwood/random/stream.hpp"

namespace mixwood {

class SweepRows {
 public:
  // A subset of 0 means all rows.
  SweepRows(std::size_t n_rows, int subset) : subset_(subset), order_(n_rows) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  int count() const { return subset_ == 0 ? static_cast<int>(order_.size()) : subset_; }

  std::span<const int> draw(Stream& random) {
    if (subset_ == 0) return order_;
    random.shuffle_front(order_, subset_);
    return std::span<const int>(order_).first(subset_);
  }

  // The order is shuffled a little with every draw of a subset.
  template <class Archive>
  void archive(Archive& a) {
    archive_order(a, order_, static_cast<int>(order_.size()));
  }

 private:
  int subset_;
  std::vector<int> order_;
};

}  // namespace mixwood
