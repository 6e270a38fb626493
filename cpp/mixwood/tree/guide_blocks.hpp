// Which form the blocks of a guide tree have: statistics, or sparse counts for a family that has
// them. An erased family knows it only once it is made.
#pragma once

#include <span>
#include <utility>
#include <variant>

#include "mixwood/family/erased.hpp"
#include "mixwood/tree/node_blocks.hpp"
#include "mixwood/tree/shape.hpp"
#include "mixwood/tree/sparse_node_blocks.hpp"

namespace mixwood {

class ErasedNodeBlocks {
  using Dense = DenseNodeBlocks<ErasedFamily>;
  using Sparse = SparseNodeBlocks<ErasedFamily>;

 public:
  struct Scratch {
    Dense::Scratch dense;
    Sparse::Scratch sparse;
  };

  ErasedNodeBlocks(const ErasedFamily& family, const TreeShape& shape)
      : blocks_(family.is_sparse() ? Either(Sparse(family, shape)) : Either(Dense(family, shape))) {
  }

  // The block may live in `scratch`.
  ErasedFamily::Block of(int node, Scratch& scratch) const {
    if (const auto* dense = std::get_if<Dense>(&blocks_))
      return {.statistic = dense->of(node, scratch.dense), .counts = {}};
    return {.statistic = nullptr, .counts = std::get<Sparse>(blocks_).of(node, scratch.sparse)};
  }

  // Counts have no latent part.
  void follow(std::span<const int> rows) {
    if (auto* dense = std::get_if<Dense>(&blocks_)) dense->follow(rows);
  }

 private:
  using Either = std::variant<Dense, Sparse>;

  Either blocks_;
};

template <class F>
struct NodeBlocksFor {
  using type = DenseNodeBlocks<F>;
};
template <SparseFamily F>
struct NodeBlocksFor<F> {
  using type = SparseNodeBlocks<F>;
};
template <>
struct NodeBlocksFor<ErasedFamily> {
  using type = ErasedNodeBlocks;
};
template <Family F>
using NodeBlocks = typename NodeBlocksFor<F>::type;

}  // namespace mixwood
