// Fewer leaves: small, tight subtrees become weighted leaves, which keep only their statistics.
#pragma once

#include <vector>

#include "mixwood/tree/forest.hpp"

namespace mixwood {

// Collapses pairs of leaves that are judged one cluster, the lightest first, until at most
// `max_leaves` are left or no such pair is. Limits on weight double, so leaves end up about as
// heavy as each other.
template <Family F>
void collapse_to(Forest<F>& forest, int max_leaves) {
  const Arena& nodes = forest.nodes();
  std::vector<int> now(nodes.n_slots(), Arena::none);  // where the rows of a lost leaf went
  auto is_pair = [&](int node) {
    return !nodes.is_leaf(node) && nodes.is_leaf(nodes.left[node]) &&
           nodes.is_leaf(nodes.right[node]) && forest.log_dissimilarity(node) <= 0;
  };
  for (std::int64_t heaviest = 2; forest.n_leaves() > max_leaves; heaviest *= 2) {
    bool heavier_left = false;
    for (const int root : std::vector<int>(forest.trees()))
      for (const int node : nodes.bottom_up(root)) {
        if (forest.n_leaves() <= max_leaves) break;
        if (!is_pair(node)) continue;
        if (nodes.size[node] > heaviest) {
          heavier_left = true;
          continue;
        }
        now[nodes.left[node]] = now[nodes.right[node]] = node;
        forest.collapse(node);
      }
    if (!heavier_left) break;
  }
  // A leaf may have been lost to one that was lost in turn: follow to the end.
  for (int leaf = 0; leaf < static_cast<int>(now.size()); ++leaf)
    if (now[leaf] != Arena::none)
      while (now[now[leaf]] != Arena::none) now[leaf] = now[now[leaf]];
  forest.rename_leaves(now);
  forest.refresh_all();
}

}  // namespace mixwood
