// The statistics of a tree's nodes. Those of large nodes are stored; those of small ones are made
// from their rows when asked for. Which form of blocks a family's trees have is said in
// guide_blocks.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "mixwood/family/family.hpp"
#include "mixwood/tree/shape.hpp"
#include "mixwood/tree/stored.hpp"

namespace mixwood {

template <Family F>
class DenseNodeBlocks {
 public:
  using Scratch = std::vector<double>;

  DenseNodeBlocks(const F& family, const TreeShape& shape)
      : family_(family), shape_(shape), place_(shape.n_nodes(), -1) {
    const std::size_t width = family.statistic_size();
    const int smallest = smallest_stored(family.statistic_size(), shape.n_rows());
    Scratch scratch;
    for (int node = shape.n_nodes() - 1; node >= 0; --node) {
      if (shape.size[node] < smallest) continue;
      place_[node] = static_cast<int>(statistics_.size() / width);
      statistics_.resize(statistics_.size() + width);
      double* s = statistics_.data() + statistics_.size() - width;
      if (shape.is_leaf(node)) {
        for (const int row : shape.rows_below(node)) family.observe(s, row);
      } else {
        family.merge(s, of(shape.left(node), scratch));
        family.merge(s, of(shape.right(node), scratch));
      }
    }
  }

  // The block may live in `scratch`.
  const double* of(int node, Scratch& scratch) const {
    const std::size_t width = family_.statistic_size();
    if (place_[node] >= 0) return statistics_.data() + place_[node] * width;
    scratch.assign(width, 0.0);
    for (const int row : shape_.rows_below(node)) family_.observe(scratch.data(), row);
    return scratch.data();
  }

 private:
  const F& family_;
  const TreeShape& shape_;
  std::vector<int> place_;
  std::vector<double> statistics_;
};

}  // namespace mixwood
