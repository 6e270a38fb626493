// The blocks of a tree's nodes for sparse counts: the words that occur below a node, and how often.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "mixwood/family/count_block.hpp"
#include "mixwood/family/family.hpp"
#include "mixwood/tree/shape.hpp"

namespace mixwood {

template <SparseFamily F>
class SparseNodeBlocks {
 public:
  struct Scratch {
    std::vector<std::int32_t> words, counts;
    std::vector<std::int32_t> dense;  // all zeros between uses
  };

  SparseNodeBlocks(const F& family, const TreeShape& shape)
      : family_(family), shape_(shape), start_(shape.n_nodes(), -1), length_(shape.n_nodes(), 0) {
    // At most some 512 MB in all: a row's words are stored once per level.
    double entries = 0;
    for (int row = 0; row < family.n_rows(); ++row)
      entries += static_cast<double>(family.block_of_row(row).words.size());
    const double levels = std::log2(shape.n_rows() + 1.0) + 4;
    while (entries * (levels - std::log2(smallest_)) > 64e6 && smallest_ < 1024) smallest_ *= 2;
    Scratch scratch;
    for (int node = shape.n_nodes() - 1; node >= 0; --node) {
      if (shape.size[node] < smallest_) continue;
      gather(node, scratch);
      start_[node] = static_cast<std::int64_t>(words_.size());
      length_[node] = static_cast<std::int32_t>(scratch.words.size());
      words_.insert(words_.end(), scratch.words.begin(), scratch.words.end());
      counts_.insert(counts_.end(), scratch.counts.begin(), scratch.counts.end());
    }
  }

  // The block may live in `scratch`.
  CountBlock of(int node, Scratch& scratch) const {
    if (shape_.is_row(node)) return family_.block_of_row(shape_.rows[shape_.first[node]]);
    if (start_[node] < 0) gather(node, scratch);
    if (start_[node] < 0) return count_block(scratch.words, scratch.counts);
    const auto start = static_cast<std::size_t>(start_[node]);
    const auto length = static_cast<std::size_t>(length_[node]);
    return count_block(std::span(words_).subspan(start, length),
                       std::span(counts_).subspan(start, length));
  }

 private:
  void gather(int node, Scratch& scratch) const {
    scratch.dense.resize(family_.statistic_size(), 0);
    scratch.words.clear();
    auto add = [&](const CountBlock& block) {
      for (std::size_t t = 0; t < block.words.size(); ++t) {
        std::int32_t& count = scratch.dense[block.words[t]];
        if (count == 0) scratch.words.push_back(block.words[t]);
        count += block.counts[t];
      }
    };
    const bool from_children =
        !shape_.is_leaf(node) && is_at_hand(shape_.left(node)) && is_at_hand(shape_.right(node));
    if (from_children) {
      add(of(shape_.left(node), scratch));  // stored or a row: does not use the scratch
      add(of(shape_.right(node), scratch));
    } else {
      for (const int row : shape_.rows_below(node)) add(family_.block_of_row(row));
    }
    scratch.counts.clear();
    for (const std::int32_t word : scratch.words) {
      scratch.counts.push_back(scratch.dense[word]);
      scratch.dense[word] = 0;
    }
  }

  bool is_at_hand(int node) const { return shape_.is_row(node) || start_[node] >= 0; }

  const F& family_;
  const TreeShape& shape_;
  int smallest_ = 2;
  std::vector<std::int64_t> start_;
  std::vector<std::int32_t> length_;
  std::vector<std::int32_t> words_, counts_;
};

}  // namespace mixwood
