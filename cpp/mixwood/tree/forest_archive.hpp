// A forest as bytes, and back: its trees in the order of their list, each from the bottom up, with
// what the nodes have gathered since they were made. Nodes may get other numbers, which nothing
// looks at; potentials are made again from the prior's values.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mixwood/archive.hpp"
#include "mixwood/tree/forest.hpp"

namespace mixwood {

// Every leaf must be one row.
inline void save_forest(Writer& a, Forest& forest) {
  const Arena& nodes = forest.nodes();
  a.mark("forest");
  a.value(static_cast<std::int64_t>(forest.trees().size()));
  for (const int root : forest.trees()) {
    std::vector<int> order;  // depth first, so that backwards children come first
    std::vector<int> stack{root};
    while (!stack.empty()) {
      const int node = stack.back();
      stack.pop_back();
      order.push_back(node);
      if (nodes.is_leaf(node)) continue;
      stack.push_back(nodes.right[node]);
      stack.push_back(nodes.left[node]);
    }
    a.value(static_cast<std::int64_t>(order.size()));
    for (std::size_t k = order.size(); k-- > 0;) {
      a.value(nodes.row[order[k]]);
      if (nodes.is_leaf(order[k])) continue;
      a.value(nodes.log_marginal[order[k]]);
      if (double* s = forest.stored_statistic(order[k])) archive_statistic(a, forest.family(), s);
    }
  }
}

inline Forest load_forest(Reader& a, std::shared_ptr<const ErasedFamily> family,
                          const Prior& prior) {
  const int n = family->n_rows();
  Forest forest(std::move(family), prior);
  a.mark("forest");
  std::int64_t trees = 0;
  a.value(trees);
  a.require(trees >= 1 && trees <= n, "it has a wrong number of trees");
  for (std::int64_t t = 0; t < trees; ++t) {
    std::int64_t count = 0;
    a.value(count);
    a.require(count >= 1 && count < 2 * static_cast<std::int64_t>(n), "a tree has a wrong size");
    std::vector<int> roots;  // the last one is the left child of what comes next
    for (std::int64_t k = 0; k < count; ++k) {
      int row = 0;
      a.value(row);
      if (row != Arena::inner) {
        a.require(row >= 0 && row < n && forest.leaf_of_row()[row] == Arena::none,
                  "a leaf has a wrong row");
        roots.push_back(forest.make_leaf(row));
        continue;
      }
      a.require(roots.size() >= 2, "a node has no children");
      double log_marginal = 0;
      archive_finite(a, log_marginal);
      const int left = roots.back();
      roots.pop_back();
      roots.back() = forest.join(left, roots.back(), log_marginal);
      if (double* s = forest.stored_statistic(roots.back()))
        archive_statistic(a, forest.family(), s);
    }
    a.require(roots.size() == 1, "a tree has several roots");
    forest.add_tree(roots[0]);
  }
  a.require(forest.n_leaves() == n, "rows are missing from the trees");
  return forest;
}

}  // namespace mixwood
