// The shape of one binary tree over all rows, in flat arrays that never change. Nodes are numbered
// depth first, a node before its left subtree before its right one, so that the rows below any
// node are neighbours in `rows`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mixwood {

struct TreeShape {
  static constexpr int none = -1;

  std::vector<int> parent;
  std::vector<int> leaves;  // below, or 1 for a leaf
  std::vector<int> first;   // of the rows below, as a place in `rows`
  std::vector<int> size;    // of the rows below: more than 1 for a weighted leaf
  std::vector<int> rows;
  std::vector<int> leaf_of_row;

  int n_nodes() const { return static_cast<int>(parent.size()); }
  int n_rows() const { return static_cast<int>(rows.size()); }
  bool is_leaf(int node) const { return leaves[node] == 1; }
  int left(int node) const { return node + 1; }
  int right(int node) const { return node + 2 * leaves[node + 1]; }
  int sibling(int node) const {
    const int above = parent[node];
    return left(above) == node ? right(above) : left(above);
  }
  // One beyond the last node below.
  int end(int node) const { return node + 2 * leaves[node] - 1; }
  std::span<const int> rows_below(int node) const {
    const int last = end(node) < n_nodes() ? first[end(node)] : n_rows();
    return std::span<const int>(rows).subspan(first[node], last - first[node]);
  }
};

}  // namespace mixwood
