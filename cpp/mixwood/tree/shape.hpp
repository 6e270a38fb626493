// The shape of one binary tree over all rows, in flat arrays that never change. Nodes are numbered
// depth first, a node before its left subtree before its right one, so that the rows below any
// node are neighbours in `rows`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "mixwood/archive.hpp"

namespace mixwood {

struct TreeShape {
  static constexpr int none = -1;

  std::vector<int> parent;
  std::vector<int> leaves;   // below, or 1 for a leaf
  std::vector<int> first;    // of the rows below, as a place in `rows`
  std::vector<double> size;  // of the rows below: more than 1 for a weighted leaf
  std::vector<int> rows;
  std::vector<int> leaf_of_row;
  std::vector<int> marks;  // of the rows below: see LeafSums; empty where no row has one

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

  // Whether it is a leaf of one row, which may stand for many.
  bool is_row(int node) const { return is_leaf(node) && rows_below(node).size() == 1; }

  // The rows, and of every node how many of them it has if it is a leaf, or 0: the rest follows.
  template <class Archive>
  void archive(Archive& a, int n) {
    std::vector<int> in_leaf;
    if constexpr (!Archive::loading)
      for (int node = 0; node < n_nodes(); ++node)
        in_leaf.push_back(is_leaf(node) ? static_cast<int>(rows_below(node).size()) : 0);
    archive_order(a, rows, n);
    a.list(in_leaf, 1, 2 * static_cast<std::size_t>(n) - 1);
    if constexpr (Archive::loading) make_from(a, in_leaf);
  }

  // Sizes and marks of all nodes, given those of the rows.
  template <class SizeOf>
  void set_sizes(SizeOf&& size_of) {
    add_up(size, size_of);
  }
  template <class MarksOf>
  void set_marks(MarksOf&& marks_of) {
    if (std::any_of(rows.begin(), rows.end(), [&](int row) { return marks_of(row) != 0; }))
      add_up(marks, marks_of);
  }
  int marks_of(int node) const { return marks.empty() ? 0 : marks[node]; }

 private:
  template <class T, class Of>
  void add_up(std::vector<T>& sums, Of&& of) const {
    sums.assign(parent.size(), 0);
    for (int node = n_nodes() - 1; node >= 0; --node) {
      if (is_leaf(node))
        for (const int row : rows_below(node)) sums[node] += of(row);
      else
        sums[node] = sums[left(node)] + sums[right(node)];
    }
  }

  // Depth first, a node that is not a leaf is followed by its two subtrees.
  void make_from(const Reader& a, const std::vector<int>& in_leaf) {
    const int nodes = static_cast<int>(in_leaf.size());
    parent.assign(nodes, none);
    first.assign(nodes, 0);
    leaf_of_row.assign(rows.size(), none);
    std::vector<int> waiting;  // inner nodes, once for each child that is still to come
    int taken = 0;
    for (int node = 0; node < nodes; ++node) {
      a.require(node == 0 || !waiting.empty(), "a tree has two roots");
      if (node > 0) {
        parent[node] = waiting.back();
        waiting.pop_back();
      }
      first[node] = taken;
      if (in_leaf[node] == 0) {
        waiting.insert(waiting.end(), 2, node);
        continue;
      }
      a.require(in_leaf[node] > 0 && in_leaf[node] <= n_rows() - taken, "a leaf has wrong rows");
      for (int k = 0; k < in_leaf[node]; ++k) leaf_of_row[rows[taken++]] = node;
    }
    a.require(waiting.empty() && taken == n_rows(), "a tree is not complete");
    leaves.assign(nodes, 1);
    for (int node = nodes - 1; node >= 0; --node)
      if (in_leaf[node] == 0) leaves[node] = leaves[left(node)] + leaves[right(node)];
    set_sizes([](int) { return 1; });
  }
};

}  // namespace mixwood
