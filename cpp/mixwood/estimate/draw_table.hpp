// The drawn partitions, item by item: what a search reads when it visits an item.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mixwood/interrupt.hpp"

namespace mixwood {

class DrawTable {
 public:
  // `labels` are draws x n, each label from 0 to n-1; the weights sum to 1.
  DrawTable(std::span<const std::int32_t> labels, std::span<const double> weights, int n)
      : n_(n), weights_(weights.begin(), weights.end()), clusters_(labels.size()) {
    const std::size_t items = static_cast<std::size_t>(n);
    const std::size_t draws = weights_.size();
    std::uint32_t first = 0;
    for (std::size_t d = 0; d < draws; ++d) {
      Interrupt::of_thread().tick(0);
      const auto row = labels.subspan(d * items, items);
      const std::size_t k = static_cast<std::size_t>(std::ranges::max(row)) + 1;
      sizes_.resize(first + k);
      for (std::size_t i = 0; i < items; ++i) {
        const std::uint32_t cluster = first + static_cast<std::uint32_t>(row[i]);
        clusters_[i * draws + d] = cluster;
        ++sizes_[cluster];
      }
      first += static_cast<std::uint32_t>(k);
    }
  }

  int n_items() const { return n_; }
  std::span<const double> weights() const { return weights_; }
  // The clusters of all draws are numbered through; these are the sizes.
  std::span<const std::int32_t> sizes() const { return sizes_; }
  // In which cluster of each draw an item is.
  std::span<const std::uint32_t> clusters_of(int item) const {
    const std::size_t draws = weights_.size();
    return std::span(clusters_).subspan(static_cast<std::size_t>(item) * draws, draws);
  }

 private:
  int n_;
  std::vector<double> weights_;
  std::vector<std::uint32_t> clusters_;
  std::vector<std::int32_t> sizes_;
};

}  // namespace mixwood
