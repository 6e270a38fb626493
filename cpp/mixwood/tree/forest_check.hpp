// Debug: every invariant of a forest, recomputed from scratch.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "mixwood/tree/forest.hpp"

namespace mixwood {

// Throws std::logic_error where sizes, statistics or potentials of a node are not what they should
// be.
class ForestCheck {
 public:
  explicit ForestCheck(double tolerance = 1e-6) : tolerance_(tolerance) {}

  void operator()(Forest& forest) const {
    const Arena& nodes = forest.nodes();
    int live = 0, leaves = 0;
    check_list(forest);
    for (const int root : forest.trees())
      for (const int node : nodes.bottom_up(root)) {
        ++live;
        leaves += nodes.is_leaf(node);
        check_links(forest, node);
        check_potentials(forest, node, check_sums(forest, node));
      }
    if (live != nodes.n_live()) throw std::logic_error("forest: nodes outside of all trees");
    if (leaves != forest.n_leaves()) throw std::logic_error("forest: the count of leaves is wrong");
    if (live > 2 * leaves) throw std::logic_error("forest: too many nodes");
  }

 private:
  static std::string name(int node) { return "forest: node " + std::to_string(node); }

  bool differs(double kept, double fresh) const {
    return !(std::abs(kept - fresh) <= tolerance_ * (1 + std::abs(fresh)));
  }

  static void check_list(const ForestTopology& forest) {
    for (std::size_t t = 0; t < forest.trees_.size(); ++t) {
      const int root = forest.trees_[t];
      if (forest.position_[root] != static_cast<int>(t) ||
          forest.nodes_.parent[root] != Arena::none)
        throw std::logic_error("forest: a tree is out of place or has a parent");
    }
  }

  static void check_links(const ForestTopology& forest, int node) {
    const Arena& nodes = forest.nodes();
    if (nodes.row[node] >= 0 && forest.leaf_of_row()[nodes.row[node]] != node)
      throw std::logic_error(name(node) + " is not the leaf of its row");
    if (nodes.is_leaf(node)) return;
    for (const int child : {nodes.left[node], nodes.right[node]})
      if (nodes.parent[child] != node) throw std::logic_error(name(node) + " has a stray child");
  }

  // What adds up over the leaves below; returns the log marginal.
  double check_sums(Forest& forest, int node) const {
    const Arena& nodes = forest.nodes();
    const ErasedFamily& family = forest.family();
    std::vector<double> statistic(family.statistic_size());
    double size = 0, apart = 0, below = 0;
    nodes.each_leaf(node, [&](int leaf) {
      size += nodes.size[leaf];
      apart += nodes.log_apart[leaf];
      below += forest.weight(leaf);
      if (nodes.row[leaf] >= 0)
        family.observe(statistic.data(), nodes.row[leaf]);
      else
        family.merge(statistic.data(), static_cast<const double*>(forest.stored_statistic(leaf)));
    });
    const double fresh = family.log_marginal(statistic.data());
    if (size != nodes.size[node] || differs(forest.weight(node), below))
      throw std::logic_error(name(node) + " has a wrong size");
    if (differs(nodes.log_apart[node], apart) ||
        (nodes.row[node] >= 0 && nodes.log_apart[node] != row_log_apart(family, nodes.row[node])))
      throw std::logic_error(name(node) + " has a wrong sum of log P(x)");
    if (differs(nodes.log_marginal[node], fresh))
      throw std::logic_error(name(node) + " has a wrong marginal");
    const double* stored = forest.stored_statistic(node);
    if (stored != nullptr && differs(family.log_marginal(stored), fresh))
      throw std::logic_error(name(node) + " has a wrong statistic");
    return fresh;
  }

  void check_potentials(const Forest& forest, int node, double log_marginal) const {
    const Arena& nodes = forest.nodes();
    const double one = forest.prior().log_kappa(nodes.size[node]) + log_marginal;
    const double tree =
        nodes.is_leaf(node)
            ? one
            : log_sum(one, nodes.log_tree[nodes.left[node]] + nodes.log_tree[nodes.right[node]]);
    if (differs(nodes.log_one[node], one) || differs(nodes.log_tree[node], tree))
      throw std::logic_error(name(node) + " has wrong potentials");
  }

  double tolerance_;
};

}  // namespace mixwood
