// The statistics of a tree's nodes. Those of large nodes are stored; those of small ones are made
// from their rows when asked for. Which form of blocks a family's trees have is said in
// guide_blocks.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
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
    // Of many rows, pairs and threes would be most of what is stored.
    const bool is_large = shape.n_rows() >= fewest_in_buckets && shape.n_nodes() > shape.n_rows();
    const int smallest =
        std::max(is_large ? 4 : 2, smallest_stored(family.statistic_size(), shape.n_rows()));
    const auto stored = std::count_if(shape.size.begin(), shape.size.end(),
                                      [&](double size) { return !(size < smallest); });
    statistics_.reserve(static_cast<std::size_t>(stored) * width);
    Scratch scratch;
    for (int node = shape.n_nodes() - 1; node >= 0; --node) {
      if (shape.size[node] < smallest) continue;
      place_[node] = static_cast<int>(statistics_.size() / width);
      statistics_.resize(statistics_.size() + width);
      gather(node, scratch);
    }
  }

  // The latent parts of these rows have changed: whatever is above them follows, made afresh from
  // below.
  void follow(std::span<const int> rows) {
    changed_.clear();
    marked_.resize(place_.size(), 0);
    for (const int row : rows)
      for (int node = shape_.leaf_of_row[row]; node != TreeShape::none && !marked_[node];
           node = shape_.parent[node]) {
        marked_[node] = 1;
        changed_.push_back(node);
      }
    std::sort(changed_.begin(), changed_.end(), std::greater<>());  // children first
    Scratch scratch;
    for (const int node : changed_) {
      marked_[node] = 0;
      if (place_[node] >= 0) gather(node, scratch);
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
  // Makes a stored statistic from those of the children, or from the rows of a leaf.
  void gather(int node, Scratch& scratch) {
    const std::size_t width = family_.statistic_size();
    double* s = statistics_.data() + place_[node] * width;
    std::fill_n(s, width, 0.0);
    if (shape_.is_leaf(node)) {
      for (const int row : shape_.rows_below(node)) family_.observe(s, row);
    } else {
      family_.merge(s, of(shape_.left(node), scratch));
      family_.merge(s, of(shape_.right(node), scratch));
    }
  }

  const F& family_;
  const TreeShape& shape_;
  std::vector<int> place_;
  std::vector<double> statistics_;
  std::vector<int> changed_;
  std::vector<char> marked_;  // all zeros between uses
};

}  // namespace mixwood
