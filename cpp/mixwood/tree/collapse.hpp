// Fewer leaves: tight subtrees become weighted leaves, which keep only their statistics.
#pragma once

#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "mixwood/tree/forest.hpp"
#include "mixwood/tree/ibhc.hpp"

namespace mixwood {

// Collapses until at most `max_leaves` are left. In this order: pairs of leaves that are judged one
// cluster, the lightest first; the other pairs of leaves, those of smallest d first; and, when
// every tree is one leaf and there are still too many, the lightest trees with their nearest.
class Collapse {
 public:
  Collapse(Forest& forest, IncrementalClustering& growth) : forest_(forest), growth_(growth) {}

  void operator()(int max_leaves) {
    if (forest_.n_leaves() <= max_leaves) return;
    collapse_light_pairs(max_leaves);
    collapse_near_pairs(max_leaves);
    rename_rows();
    collapse_trees(max_leaves);
    rename_rows();
    forest_.refresh_all();
  }

 private:
  bool is_pair(int node) const {
    const Arena& nodes = forest_.nodes();
    return !nodes.is_leaf(node) && nodes.is_leaf(nodes.left[node]) &&
           nodes.is_leaf(nodes.right[node]);
  }

  // Those judged one cluster, so that leaves end up about as heavy as each other.
  void collapse_light_pairs(int max_leaves) {
    collapse_pairs(max_leaves, [&](int node) {
      return forest_.log_dissimilarity(node) > 0 ? never : forest_.nodes().size[node];
    });
  }

  void collapse_near_pairs(int max_leaves) {
    collapse_pairs(max_leaves, [&](int node) { return forest_.log_dissimilarity(node); });
  }

  // Pairs of leaves by rising `order(node)`; none that is to come `never`.
  template <class Order>
  void collapse_pairs(int max_leaves, Order&& order) {
    if (forest_.n_leaves() <= max_leaves) return;
    const Arena& nodes = forest_.nodes();
    using Pair = std::pair<double, int>;
    std::priority_queue<Pair, std::vector<Pair>, std::greater<>> next;
    auto add = [&](int node) {
      if (!is_pair(node)) return;
      const double at = order(node);
      if (at < never) next.emplace(at, node);
    };
    for (const int root : forest_.trees())
      for (const int node : nodes.bottom_up(root)) add(node);
    while (forest_.n_leaves() > max_leaves && !next.empty()) {
      const int node = next.top().second;
      next.pop();
      collapse(node);
      if (nodes.parent[node] != Arena::none) add(nodes.parent[node]);
    }
  }

  // All trees are single leaves here. They are joined first and collapsed then: a joint must not
  // take the number of a leaf whose rows are still to be renamed.
  void collapse_trees(int max_leaves) {
    const Arena& nodes = forest_.nodes();
    const auto most = static_cast<std::size_t>(max_leaves);
    if (forest_.trees().size() <= most) return;
    join_lightest(forest_, growth_, most);
    for (const int root : std::vector<int>(forest_.trees()))
      if (!nodes.is_leaf(root)) collapse(root);
  }

  void collapse(int node) {
    now_.resize(forest_.nodes().n_slots(), Arena::none);
    forest_.nodes().each_leaf(node, [&](int leaf) { now_[leaf] = node; });
    forest_.collapse(node);
  }

  // Tells the rows where their leaves went. A leaf may have been lost to one that was lost in turn:
  // follow to the end.
  void rename_rows() {
    now_.resize(forest_.nodes().n_slots(), Arena::none);
    for (int& leaf : now_)
      if (leaf != Arena::none)
        while (now_[leaf] != Arena::none) leaf = now_[leaf];
    forest_.rename_leaves(now_);
    now_.assign(now_.size(), Arena::none);
  }

  static constexpr double never = std::numeric_limits<double>::infinity();

  Forest& forest_;
  IncrementalClustering& growth_;
  std::vector<int> now_ =
      std::vector<int>(forest_.nodes().n_slots(), Arena::none);  // where a lost leaf's rows went
};

}  // namespace mixwood
