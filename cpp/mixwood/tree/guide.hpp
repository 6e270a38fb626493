// A guide tree: one binary tree over all rows with, at every node, its block, log P(X_node), and
// log d at the reference values. It is built from the data, from reference values and from
// randomness of its own, and never sees a chain's state: no function here takes one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mixwood/archive.hpp"
#include "mixwood/random/stream.hpp"
#include "mixwood/tree/collapse.hpp"
#include "mixwood/tree/guide_blocks.hpp"
#include "mixwood/tree/ibhc.hpp"
#include "mixwood/tree/shape.hpp"

namespace mixwood {

template <Family F>
struct GuideTree {
  TreeShape shape;
  NodeBlocks<F> blocks;
  std::vector<double> log_marginal;
  std::vector<double> log_dissimilarity;  // of an inner node's children; a leaf has none: -inf

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

// Lays out the tree below `root`; `rows_of(leaf)` gives a leaf's rows.
template <Family F, class RowsOf>
GuideLayout lay_out(const Forest<F>& forest, int root, RowsOf&& rows_of) {
  const Arena& nodes = forest.nodes();
  std::vector<int> leaves(nodes.n_slots(), 1);
  for (const int node : nodes.bottom_up(root))
    if (!nodes.is_leaf(node)) leaves[node] = leaves[nodes.left[node]] + leaves[nodes.right[node]];
  GuideLayout layout;
  TreeShape& shape = layout.shape;
  shape.leaf_of_row.resize(forest.family().n_rows());
  std::vector<std::pair<int, int>> stack{{root, TreeShape::none}};  // node, parent here
  while (!stack.empty()) {
    const auto [node, parent] = stack.back();
    stack.pop_back();
    const int here = shape.n_nodes();
    layout.log_marginal.push_back(nodes.log_marginal[node]);
    layout.log_dissimilarity.push_back(nodes.is_leaf(node)
                                           ? -std::numeric_limits<double>::infinity()
                                           : forest.log_dissimilarity(node));
    shape.parent.push_back(parent);
    shape.leaves.push_back(leaves[node]);
    shape.size.push_back(nodes.size[node]);
    shape.first.push_back(shape.n_rows());
    if (nodes.is_leaf(node)) {
      for (const int row : rows_of(node)) {
        shape.leaf_of_row[row] = here;
        shape.rows.push_back(row);
      }
    } else {
      stack.push_back({nodes.right[node], here});
      stack.push_back({nodes.left[node], here});
    }
  }
  return layout;
}

template <Family F>
std::shared_ptr<const GuideTree<F>> plant(const F& family, GuideLayout layout) {
  auto tree = std::make_shared<GuideTree<F>>(family, std::move(layout.shape));
  tree->log_marginal = std::move(layout.log_marginal);
  tree->log_dissimilarity = std::move(layout.log_dissimilarity);
  return tree;
}

// Saves a tree and returns it, or loads another one. The blocks are made from the shape, always in
// the same way.
template <class Archive, Family F>
std::shared_ptr<const GuideTree<F>> archive_guide_tree(
    Archive& a, const F& family, const std::shared_ptr<const GuideTree<F>>& current) {
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

// Grows guide trees over the rows of a family.
template <Family F>
class GuideTrees {
 public:
  explicit GuideTrees(std::shared_ptr<const F> family) : family_(std::move(family)) {}

  // A new tree over the leaf sets, or over all rows if there are none, put in in random order.
  std::shared_ptr<const GuideTree<F>> grow(const Prior& reference, const LeafSets& sets,
                                           Stream& random) const {
    return plant(*family_, grown(reference, sets, random));  // the forest is gone by then
  }

  // Sets of rows that stay together: a tree over all rows is grown and collapsed to so many leaves.
  // Nothing here is random, so that all chains have the same sets and hence the same target.
  LeafSets collapsed(const Prior& reference, int max_leaves) const {
    Forest<F> forest = empty_forest(reference);
    IncrementalClustering<F> growth(forest, DescentRule::balanced);
    Collapse<F> collapse(forest, growth);
    const int room = std::max(2 * max_leaves, smallest_round);
    for (const int row : scattered(family_->n_rows())) {
      growth.insert(forest.make_leaf(row));
      if (forest.n_leaves() > room) collapse(max_leaves);
    }
    collapse(max_leaves);
    std::vector<int> set_of_leaf(forest.nodes().n_slots(), -1);
    LeafSets sets;
    for (int row = 0; row < family_->n_rows(); ++row) {
      int& set = set_of_leaf[forest.leaf_of_row()[row]];
      if (set < 0) {
        set = static_cast<int>(sets.size());
        sets.emplace_back();
      }
      sets[set].push_back(row);
    }
    return sets;
  }

 private:
  GuideLayout grown(const Prior& reference, const LeafSets& sets, Stream& random) const {
    Forest<F> forest = empty_forest(reference);
    IncrementalClustering<F> growth(forest, DescentRule::balanced);
    const int items = sets.empty() ? family_->n_rows() : static_cast<int>(sets.size());
    std::vector<int> order(items);
    for (int item = 0; item < items; ++item) order[item] = item;
    random.shuffle_front(order, items);
    for (const int item : order) {
      const int leaf = sets.empty() ? forest.make_leaf(item) : forest.make_block(sets[item]);
      growth.insert(leaf);
    }
    forest.set_parameters(reference.values());
    // Trees join their nearest in random order: every guide tree sees other pairs of clusters.
    while (forest.trees().size() > 1) {
      const auto count = static_cast<std::int64_t>(forest.trees().size());
      growth.join_nearest(forest.trees()[random.below(count)],
                          std::numeric_limits<double>::infinity());
    }
    const int root = forest.trees()[0];
    if (sets.empty())
      return lay_out(forest, root,
                     [&](int leaf) { return std::span<const int>(&forest.nodes().row[leaf], 1); });
    std::vector<int> set_of_leaf(forest.nodes().n_slots());
    for (int item = 0; item < items; ++item)
      set_of_leaf[forest.leaf_of_row()[sets[item][0]]] = item;
    return lay_out(forest, root, [&](int leaf) { return std::span(sets[set_of_leaf[leaf]]); });
  }

  // Leaves beyond `max_leaves` that are waited for before they collapse: each time takes a pass
  // over all rows.
  static constexpr int smallest_round = 4000;

  // All rows, neighbours far apart: in steps of about n / golden ratio that meet every row.
  static std::vector<int> scattered(int n) {
    std::int64_t step = std::max<std::int64_t>(1, static_cast<std::int64_t>(0.6180339887 * n));
    while (std::gcd(step, static_cast<std::int64_t>(n)) != 1) ++step;
    std::vector<int> rows(n);
    for (std::int64_t k = 0; k < n; ++k) rows[k] = static_cast<int>(k * step % n);
    return rows;
  }

  Forest<F> empty_forest(const Prior& reference) const {
    PriorValues values = reference.values();
    values.log_u = growth_log_u;
    return Forest<F>(family_, reference.at(values));
  }

  std::shared_ptr<const F> family_;
};

}  // namespace mixwood
