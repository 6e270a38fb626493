// SeqInsert of the paper: where an item goes in a tree. Of d(l, r), d(l, item) and d(r, item) the
// smallest decides between the top, the left and the right child, and so on down. No tree is cut.
// And the way back for a leaf, which leaves its sibling in the place of the two.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "mixwood/tree/forest.hpp"

namespace mixwood {

class SeqInsert {
 public:
  using Step = Forest::Step;

  // Beside which node the item goes, with the log marginal of the two, and the way there.
  struct Place {
    int node;
    double log_marginal;
    std::vector<Step>& path;
  };

  // `log_marginal` is that of all of the tree and the item.
  Place find(Forest& forest, int root, int item, double log_marginal) {
    path_.clear();
    Place place{root, log_marginal, path_};
    while (step_down(forest, place, item)) {
    }
    return place;
  }

  // Puts the item into a tree of the forest.
  void operator()(Forest& forest, int root, int item) {
    const Place place = find(forest, root, item, forest.log_marginal_of_union(root, item));
    forest.hang_beside(place.node, item, place.log_marginal, place.path);
  }

  // Takes a leaf out of a tree that has others; the nodes that were above both are made again.
  void take_out(Forest& forest, int leaf) {
    const Arena& nodes = forest.nodes();
    int root = nodes.parent[leaf];
    int rest = nodes.sibling(leaf);
    above_.assign(1, root);
    beside_.clear();
    for (; nodes.parent[root] != Arena::none; root = nodes.parent[root]) {
      beside_.push_back({nodes.sibling(root), nodes.left[nodes.parent[root]] == root});
      above_.push_back(nodes.parent[root]);
    }
    for (const int node : above_) forest.dissolve(node);
    for (const auto& [other, is_right] : beside_) {
      const double log_marginal = forest.log_marginal_of_union(rest, other);
      rest = is_right ? forest.join(rest, other, log_marginal)
                      : forest.join(other, rest, log_marginal);
    }
    forest.replace_tree(root, rest);
  }

 private:
  // Dissimilarities nearer than this are equal: the last bit must not decide where an item goes.
  static constexpr double tie = 1e-9;

  bool step_down(Forest& forest, Place& place, int item) {
    const Arena& nodes = forest.nodes();
    if (nodes.is_leaf(place.node)) return false;
    const int left = nodes.left[place.node], right = nodes.right[place.node];
    const double with_left = forest.log_marginal_of_union(left, item);
    const double with_right = forest.log_marginal_of_union(right, item);
    const double top = forest.log_dissimilarity(place.node);
    const double to_left = forest.log_dissimilarity(left, item, with_left);
    const double to_right = forest.log_dissimilarity(right, item, with_right);
    const double smallest = std::min({top, to_left, to_right});
    const double limit = smallest + tie * (1 + std::abs(smallest));
    if (top <= limit) return false;
    place.path.push_back({place.node, place.log_marginal});
    const bool go_left = to_left <= limit;
    place.node = go_left ? left : right;
    place.log_marginal = go_left ? with_left : with_right;
    return true;
  }

  struct Beside {
    int node;
    bool is_right;
  };
  std::vector<Step> path_;
  std::vector<int> above_;
  std::vector<Beside> beside_;
};

}  // namespace mixwood
