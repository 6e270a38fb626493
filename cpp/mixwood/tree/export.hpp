// A forest as one binary tree in flat arrays, for those who read it: leaves first, children before
// their parents.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mixwood/tree/bhc.hpp"
#include "mixwood/tree/forest.hpp"

namespace mixwood {

struct FlatTree {
  std::vector<std::int32_t> left, right;
  std::vector<std::int64_t> size, row;
  std::vector<double> log_marginal, log_one, log_tree;
};

// Which leaf each row is in, and which tree each leaf.
struct FlatLeaves {
  std::vector<std::int32_t> tree;
  std::vector<std::int64_t> leaf_of_row;
};

// What weighted leaves are made of, leaf by leaf.
struct FlatSums {
  std::vector<std::int64_t> size;
  std::vector<double> log_apart, weight, statistics;
};

// The forest with its trees joined to one root for as long as this lives. Up to `greedy_trees`
// trees are joined by smallest d, which takes that number squared; more are first paired as they
// come.
class JoinedForest {
 public:
  explicit JoinedForest(Forest& forest) : forest_(forest) {
    std::vector<int> roots = forest.trees();
    while (roots.size() > greedy_trees) roots = paired(roots);
    if (!roots.empty()) root_ = GreedyClustering(forest)(roots, false)[0];
  }
  JoinedForest(const JoinedForest&) = delete;
  JoinedForest& operator=(const JoinedForest&) = delete;

  // Takes the joints away again, from the root down to the forest's own trees.
  ~JoinedForest() {
    std::vector<int> joints;
    std::vector<int> stack;
    const Arena& nodes = forest_.nodes();
    std::vector<char> is_tree(nodes.n_slots(), 0);
    for (const int root : forest_.trees()) is_tree[root] = 1;
    if (root_ != Arena::none) stack.push_back(root_);
    while (!stack.empty()) {
      const int node = stack.back();
      stack.pop_back();
      if (is_tree[node]) continue;
      joints.push_back(node);
      stack.push_back(nodes.left[node]);
      stack.push_back(nodes.right[node]);
    }
    for (const int node : joints) forest_.dissolve(node);
  }

  int root() const { return root_; }

 private:
  static constexpr std::size_t greedy_trees = 2000;

  std::vector<int> paired(const std::vector<int>& roots) {
    std::vector<int> result;
    for (std::size_t k = 0; k + 1 < roots.size(); k += 2)
      result.push_back(forest_.join(roots[k], roots[k + 1],
                                    forest_.log_marginal_of_union(roots[k], roots[k + 1])));
    if (roots.size() % 2 == 1) result.push_back(roots.back());
    return result;
  }

  Forest& forest_;
  int root_ = Arena::none;
};

// Calls visit(leaf, number of its tree) for every leaf, in the order in which they are numbered.
template <class Visit>
void each_leaf_of(const Forest& forest, Visit&& visit) {
  std::int32_t tree = 0;
  for (const int root : forest.trees()) {
    forest.nodes().each_leaf(root, [&](int leaf) { visit(leaf, tree); });
    ++tree;
  }
}

// The sums of the leaves `first` to `last - 1`.
inline FlatSums leaf_sums(Forest& forest, int first, int last) {
  FlatSums sums;
  int number = 0;
  const int width = forest.family().statistic_size();
  each_leaf_of(forest, [&](int leaf, std::int32_t) {
    if (number >= first && number < last) {
      sums.size.push_back(std::llround(forest.nodes().size[leaf]));
      sums.log_apart.push_back(forest.nodes().log_apart[leaf]);
      sums.weight.push_back(forest.weight(leaf));
      const double* s = forest.statistic(leaf);
      sums.statistics.insert(sums.statistics.end(), s, s + width);
    }
    ++number;
  });
  return sums;
}

inline FlatLeaves flat_leaves(const Forest& forest) {
  FlatLeaves flat;
  std::vector<std::int32_t> number(forest.nodes().n_slots(), Arena::none);
  each_leaf_of(forest, [&](int leaf, std::int32_t tree) {
    number[leaf] = static_cast<std::int32_t>(flat.tree.size());
    flat.tree.push_back(tree);
  });
  for (const int leaf : forest.leaf_of_row())
    flat.leaf_of_row.push_back(leaf == Arena::none ? -1 : number[leaf]);
  return flat;
}

// Of each row the number of its tree, in the order in which the rows come to the trees; -1 where it
// is not in the forest. Little more than these numbers is taken: a forest that is asked is at its
// largest.
inline std::vector<std::int32_t> row_labels(const Forest& forest) {
  const Arena& nodes = forest.nodes();
  const std::vector<int>& leaf_of_row = forest.leaf_of_row();
  std::vector<std::int32_t> labels(leaf_of_row.size(), -1);
  std::unordered_map<int, std::int32_t> tree_of_block;  // of leaves of several rows
  each_leaf_of(forest, [&](int leaf, std::int32_t tree) {
    if (nodes.row[leaf] >= 0)
      labels[nodes.row[leaf]] = tree;
    else
      tree_of_block[leaf] = tree;
  });
  std::vector<std::int32_t> number(forest.trees().size(), -1);
  std::int32_t next = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (leaf_of_row[row] == Arena::none) continue;
    if (labels[row] < 0) labels[row] = tree_of_block.at(leaf_of_row[row]);
    std::int32_t& label = number[labels[row]];
    if (label < 0) label = next++;
    labels[row] = label;
  }
  return labels;
}

inline FlatTree flatten(Forest& forest) {
  const JoinedForest joined(forest);
  const Arena& nodes = forest.nodes();
  FlatTree flat;
  if (joined.root() == Arena::none) return flat;
  std::vector<std::int32_t> number(nodes.n_slots(), Arena::none);
  auto append = [&](int node) {
    number[node] = static_cast<std::int32_t>(flat.size.size());
    const bool leaf = nodes.is_leaf(node);
    flat.left.push_back(leaf ? Arena::none : number[nodes.left[node]]);
    flat.right.push_back(leaf ? Arena::none : number[nodes.right[node]]);
    flat.size.push_back(std::llround(nodes.size[node]));
    flat.row.push_back(nodes.row[node] >= 0 ? nodes.row[node] : -1);
    flat.log_marginal.push_back(nodes.log_marginal[node]);
    flat.log_one.push_back(nodes.log_one[node]);
    flat.log_tree.push_back(nodes.log_tree[node]);
  };
  each_leaf_of(forest, [&](int leaf, std::int32_t) { append(leaf); });
  for (const int node : nodes.bottom_up(joined.root()))
    if (!nodes.is_leaf(node)) append(node);
  return flat;
}

}  // namespace mixwood
