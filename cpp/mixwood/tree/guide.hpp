// A guide tree: one binary tree over all rows with, at every node, its block, log P(X_node), and
// log d at the reference values. It is built from the data, from reference values and from
// randomness of its own, and never sees a chain's state: no function here takes one. It is grown in
// guide_growth.cpp. Where rows have a latent part, reference values of that are used, and the
// blocks alone follow the state.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/archive.hpp"
#include "mixwood/family/erased.hpp"
#include "mixwood/prior/prior.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/tree/guide_blocks.hpp"
#include "mixwood/tree/shape.hpp"

namespace mixwood {

template <Family F>
struct GuideTree {
  TreeShape shape;
  NodeBlocks<F> blocks;
  std::vector<double> log_marginal;
  std::vector<double> log_dissimilarity;  // of an inner node's children; a leaf has none: -inf
  std::vector<double> log_detachment;     // detachment.hpp; follows from the rest, so is not saved

  GuideTree(const F& family, TreeShape the_shape)
      : shape(std::move(the_shape)), blocks(family, shape) {}
  GuideTree(const GuideTree&) = delete;
  GuideTree& operator=(const GuideTree&) = delete;
};

// The rows that stay together, and the rows that are on their own: what the leaves of every guide
// tree of a chain are.
using LeafSets = std::vector<std::vector<int>>;

// What a guide tree takes over from the forest that it was grown in.
struct GuideLayout {
  TreeShape shape;
  std::vector<double> log_marginal, log_dissimilarity;
};

template <Family F>
std::shared_ptr<GuideTree<F>> plant(const F& family, GuideLayout layout) {
  layout.shape.set_marks([&](int row) { return row_marks(family, row); });
  auto tree = std::make_shared<GuideTree<F>>(family, std::move(layout.shape));
  tree->log_marginal = std::move(layout.log_marginal);
  tree->log_dissimilarity = std::move(layout.log_dissimilarity);
  return tree;
}

// The least tree that there is, one leaf with all rows: for a chain that another tree will be
// loaded into.
template <Family F>
GuideLayout one_leaf(const F& family) {
  const auto n_rows = static_cast<std::size_t>(family.n_rows());
  TreeShape shape{.parent = {TreeShape::none},
                  .leaves = {1},
                  .first = {0},
                  .size = {n_points(family)},
                  .rows = std::vector<int>(n_rows),
                  .leaf_of_row = std::vector<int>(n_rows, 0),
                  .marks = {}};
  std::iota(shape.rows.begin(), shape.rows.end(), 0);
  return {std::move(shape), {0.0}, {-std::numeric_limits<double>::infinity()}};
}

// Saves a tree and returns it, or loads another one. The blocks are made from the shape, always in
// the same way.
template <class Archive, Family F>
std::shared_ptr<GuideTree<F>> archive_guide_tree(Archive& a, const F& family,
                                                 const std::shared_ptr<GuideTree<F>>& current) {
  if (!current) throw std::runtime_error("the chain has lost its guide tree");
  a.mark("guide tree");
  GuideLayout layout;
  auto& [shape, log_marginal, log_dissimilarity] = layout;
  if constexpr (!Archive::loading)
    layout = {current->shape, current->log_marginal, current->log_dissimilarity};
  shape.archive(a, family.n_rows());
  const auto nodes = static_cast<std::size_t>(shape.n_nodes());
  a.list(log_marginal, nodes);
  a.list(log_dissimilarity, nodes);
  if constexpr (!Archive::loading) return current;
  shape.set_sizes([&](int row) { return row_size(family, row); });
  for (std::size_t node = 0; node < nodes; ++node)
    a.require(std::isfinite(log_marginal[node]) && !std::isnan(log_dissimilarity[node]),
              "a node's marginal or dissimilarity is not a number");
  return plant(family, std::move(layout));
}

// A new tree over the leaf sets, or over all rows if there are none, put in in random order; many
// rows in buckets, on at most `threads` threads, however many of which the tree is the same.
GuideLayout grow_guide(const std::shared_ptr<const ErasedFamily>& family, const Prior& reference,
                       const LeafSets& sets, Stream& random, int threads);

// Sets of rows that stay together: a tree over all rows is grown and collapsed to at most
// `max_leaves` leaves. Nothing here is random, so that all chains have the same sets and hence the
// same target.
LeafSets collapsed_rows(const std::shared_ptr<const ErasedFamily>& family, const Prior& reference,
                        int max_leaves);

}  // namespace mixwood
